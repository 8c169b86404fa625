// Whether the parts of an expression fit together.
#pragma once

#include <string>

#include "loop/ir.h"

namespace hone::loop {

// Whether the node has as many operands as its kind takes; all else may rely on that.
[[nodiscard]] bool has_operands(const ExprNode& node);
// What is wrong with a node, whose operands are all right; nothing otherwise. Scopes are not looked
// at, but ids must be in range.
[[nodiscard]] std::string type_problem(const ExprNode& node, const Function& function);
// The same for a load or store.
[[nodiscard]] std::string access_problem(const BufferDecl& buffer, Type value, const Expr& index,
                                         const Expr& mask);

}  // namespace hone::loop
