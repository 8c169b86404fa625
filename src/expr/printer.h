// Inside of to_text. Only for src/expr/text_print*.cpp.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "expr/tensor_expr.h"

namespace hone {

// What ids are called at one place of an expression.
struct PrintNames {
  std::vector<std::string> tensors, tables;
  std::vector<std::string> axes;   // AxisId 0, 1, ...
  std::vector<std::string> steps;  // of the scans around, outermost first

  [[nodiscard]] std::string axis(AxisId id) const;
  [[nodiscard]] std::string tensor(int id) const;
  [[nodiscard]] std::string table(TableId id) const;
};

[[nodiscard]] std::string print_index(const Index& index, const PrintNames& names);
// `expected`: the type that a number takes at this place without saying so.
[[nodiscard]] std::string print_scalar(const Scalar& scalar, const PrintNames& names,
                                       std::optional<ElementType> expected);

// Gives names that differ from each other and from those already taken.
class UniqueNames {
 public:
  explicit UniqueNames(std::set<std::string> taken = {}) : taken_(std::move(taken)) {}
  std::string add(const std::string& wish, const char* otherwise);

 private:
  std::set<std::string> taken_;
};

}  // namespace hone
