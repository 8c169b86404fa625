// What an operator definition sees of a node: operand types, attributes, opset, and the contents
// of those operands that are known before a run (shapes, axes, pads).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "expr/builder.h"
#include "ops/attribute.h"

namespace hone {

// Contents of an operand, as far as known: a constant, or small integers as symbolic dimensions.
struct KnownValue {
  Buffer constant;                       // empty handle: not known as a constant
  std::optional<std::vector<Dim>> dims;  // elements of an integer tensor of rank 0 or 1
};

struct OperandInfo {
  bool present = false;  // optional inputs may be absent
  TensorType type;
  KnownValue known;
};

class OpContext {
 public:
  OpContext(std::string_view op, int opset, std::vector<OperandInfo> operands,
            const Attributes& attributes, size_t output_count)
      : op_(op),
        opset_(opset),
        operands_(std::move(operands)),
        attributes_(attributes),
        output_count_(output_count) {}

  [[nodiscard]] std::string_view op() const { return op_; }
  [[nodiscard]] int opset() const { return opset_; }
  [[nodiscard]] size_t input_count() const { return operands_.size(); }
  [[nodiscard]] size_t output_count() const { return output_count_; }
  [[nodiscard]] bool has(size_t i) const { return i < operands_.size() && operands_[i].present; }

  // These throw a Failure where the operand is absent, or its rank or contents are unknown.
  [[nodiscard]] ElementType type(size_t i) const;
  [[nodiscard]] const Shape& shape(size_t i) const;
  [[nodiscard]] int rank(size_t i) const { return static_cast<int>(shape(i).size()); }
  [[nodiscard]] Dim dim(size_t i, int axis) const { return shape(i).at(static_cast<size_t>(axis)); }
  [[nodiscard]] std::vector<Dim> dims_value(size_t i) const;      // symbolic integers
  [[nodiscard]] std::vector<int64_t> ints_value(size_t i) const;  // plain integers
  [[nodiscard]] const Buffer& constant(size_t i) const;
  [[nodiscard]] bool is_known(size_t i) const;  // dims_value would succeed
  [[nodiscard]] const OperandInfo& operand_info(size_t i) const { return operands_.at(i); }

  // Attributes, with the default for an absent one. The wrong kind throws a Failure.
  [[nodiscard]] bool has_attribute(const std::string& name) const;
  [[nodiscard]] int64_t int_attribute(const std::string& name, int64_t otherwise) const;
  [[nodiscard]] float float_attribute(const std::string& name, float otherwise) const;
  [[nodiscard]] Literal literal_attribute(const std::string& name, float otherwise) const;
  [[nodiscard]] std::string string_attribute(const std::string& name, std::string otherwise) const;
  [[nodiscard]] std::vector<int64_t> ints_attribute(const std::string& name,
                                                    std::vector<int64_t> otherwise) const;
  [[nodiscard]] std::vector<float> floats_attribute(const std::string& name,
                                                    std::vector<float> otherwise) const;
  // Integers that may be symbols in a proof: use this wherever a definition allows it.
  [[nodiscard]] std::vector<Dim> dims_attribute(const std::string& name,
                                                std::vector<Dim> otherwise) const;
  [[nodiscard]] const Buffer* tensor_attribute(const std::string& name) const;
  [[nodiscard]] const Attributes& attributes() const { return attributes_; }

  // Element type that an attribute such as Cast's `to` names by ONNX's number.
  [[nodiscard]] ElementType type_attribute(const std::string& name, ElementType otherwise) const;

  // An axis attribute, possibly negative, within [0, rank); `rank` itself allowed if `inclusive`.
  [[nodiscard]] int axis(int64_t value, int rank, bool inclusive = false) const;
  // Distinct normalised axes, sorted.
  [[nodiscard]] std::vector<int> axes(const std::vector<int64_t>& values, int rank) const;

  // Starts an expression that has every present operand, named x0, x1, ... or as given. An absent
  // operand gives an invalid Operand but keeps its number: operand ids count the present ones.
  std::vector<Operand> declare(Builder& builder, const std::vector<std::string>& names = {}) const;

 private:
  std::string_view op_;
  int opset_;
  std::vector<OperandInfo> operands_;
  const Attributes& attributes_;
  size_t output_count_;
};

// NumPy broadcasting of shapes, symbolic ones included.
[[nodiscard]] Shape broadcast(const std::vector<const Shape*>& shapes);
// Where an operand of `shape` is read for an output position: right-aligned axes; an extent of 1
// reads 0, an extent that may be 1 reads min(i, extent - 1).
[[nodiscard]] std::vector<Index> broadcast_indices(const Shape& shape, const Axes& axes,
                                                   const Shape& output);

}  // namespace hone
