// The table of operators. An operator is one OperatorDef; a family file adds some of them:
//
//   void register_softmax(OperatorTable& table) {
//     table.add({.name = "Softmax", .doc = "...", .inputs = "x", .attributes = "axis: int = -1",
//                .define = [](OpContext& c) -> TensorExpr { ... }, .example = "x: f32[2, 3]"});
//   }
//
// Every file in ops/families/ with such a function is found by the build; nothing else is edited.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "ops/context.h"

namespace hone {

// A reference kernel for what has no expression form.
using ReferenceKernel =
    std::function<std::vector<Buffer>(const OpContext&, std::span<const Buffer>)>;

struct OperatorDef {
  std::string name{};
  std::string domain{};  // "" is ai.onnx
  int since = 1;         // first opset with it
  std::string doc{};     // one line
  std::string inputs{};  // "x, w, bias?" ; "xs..." for any number
  std::string outputs = "y";
  std::string attributes{};  // "axis: int = -1, keepdims: int = 1"
  // The meaning: an expression over the present operands. May throw a Failure.
  std::function<TensorExpr(OpContext&)> define{};
  // Instead of `define`, where no expression form exists: why, how to run it, and its types. A
  // kernel beside `define` serves operands that the latter finds kUnsupported (strings).
  std::string opaque_reason{};
  ReferenceKernel kernel{};  // null: not run by the reference engine
  // Types of the outputs, -1 for extents that only a run knows. Beside a definition it serves where
  // that needs values of a run. Null: nothing is known.
  std::function<std::vector<TensorType>(OpContext&)> infer{};
  bool deterministic =
      true;  // false: never folded, never merged (RandomNormal, Dropout in training)
  // A use of it in the text form, for documentation and tests: "Softmax(x: f32[2, 3]) {axis = 1}".
  std::string example{};

  [[nodiscard]] std::string full_name() const {
    return domain.empty() ? name : domain + "::" + name;
  }
};

class OperatorTable {
 public:
  // Every family of ops/families/.
  static OperatorTable standard();

  void add(OperatorDef def);  // InternalError on a duplicate
  [[nodiscard]] const OperatorDef* find(const std::string& domain, const std::string& name) const;
  [[nodiscard]] std::vector<const OperatorDef*> all() const;  // by full name

 private:
  std::map<std::string, OperatorDef> defs_;
};

// The meaning of one node. Errors: kInvalid (the node is wrong), kUnsupported (no meaning), or
// kUnknown (needs a shape or value that only a run knows).
[[nodiscard]] Result<TensorExpr> instantiate(const OperatorDef& def, OpContext& context);

}  // namespace hone
