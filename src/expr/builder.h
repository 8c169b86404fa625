// Builds tensor expressions so that a definition reads as the formula it stands for:
//
//   Builder b;
//   Operand x = b.operand("x", f32, {N, K}), w = b.operand("w", f32, {K, M});
//   AxisId n = b.axis("n", N), m = b.axis("m", M), k = b.axis("k", K);
//   Operand y = b.reduce("y", {n, m}, Combiner::kSum, {k}, x(n, k) * w(k, m));
//   TensorExpr e = b.finish({y});
//
// Axes belong to the builder and may serve several stages; each stage renumbers its own.
// Misuse by an operator definition throws a Failure (types) or an InternalError (form).
#pragma once

#include <string>
#include <vector>

#include "expr/tensor_expr.h"

namespace hone {

class Builder;

using Axes = std::vector<AxisId>;

// A tensor that can be read: an operand or the result of a stage.
class Operand {
 public:
  Operand() = default;
  [[nodiscard]] bool valid() const { return builder_ != nullptr; }
  [[nodiscard]] int id() const { return id_; }
  [[nodiscard]] ElementType type() const;
  [[nodiscard]] const Shape& shape() const;
  [[nodiscard]] int rank() const { return static_cast<int>(shape().size()); }
  [[nodiscard]] const Dim& dim(int axis) const;

  [[nodiscard]] Scalar at(std::vector<Index> indices) const;
  [[nodiscard]] Scalar at(const Axes& axes) const;
  [[nodiscard]] Scalar at_or(std::vector<Index> indices, Literal outside) const;
  template <typename... I>
  Scalar operator()(I... indices) const {
    return at(std::vector<Index>{Index(indices)...});
  }

 private:
  friend class Builder;
  Operand(Builder* builder, int id) : builder_(builder), id_(id) {}
  Builder* builder_ = nullptr;
  int id_ = -1;
};

class Builder {
 public:
  // All operands come before the first stage.
  Operand operand(std::string name, ElementType type, Shape shape);
  AxisId axis(std::string name, Dim extent);
  Axes axes(const std::string& prefix, const Shape& extents);  // prefix0, prefix1, ...
  TableId index_table(std::string name, std::vector<int64_t> entries);
  TableId literal_table(std::string name, std::vector<Literal> entries);
  [[nodiscard]] const Dim& extent(AxisId axis) const;

  // result[axes] = body, of the body's type
  Operand map(std::string name, const Axes& axes, const Scalar& body);
  Operand reduce(std::string name, const Axes& axes, Combiner combiner, const Axes& over,
                 const Scalar& body);
  Operand scatter(std::string name, const Axes& axes, const Scalar& base, Combiner combiner,
                  const Axes& over, std::vector<Index> target, const Scalar& update);

  // A scan: begin, make stages that read states and the step axis, then end.
  AxisId begin_scan(std::string name, Dim extent);
  Operand carry(std::string name, const Operand& init);  // gives the state inside the scan
  void set_next(const Operand& state, const Operand& next);
  Operand collect(std::string name, const Operand& source);     // readable after end_scan
  Operand final_value(std::string name, const Operand& state);  // readable after end_scan
  void end_scan();

  void require_equal(const Dim& a, const Dim& b, std::string what);  // Failure if constants differ

  // Verifies the form; the builder is used up.
  TensorExpr finish(const std::vector<Operand>& outputs);

 private:
  friend class Operand;
  struct OpenScan {
    AxisId step;
    Stage stage;
  };
  Operand define(std::string name, ElementType type, Shape shape);
  Stage& add_stage(const Axes& axes, const Axes& reduce);
  Scalar localise(const Scalar& scalar, const Axes& axes, const Axes& reduce);
  Index localise(const Index& index, const Axes& axes, const Axes& reduce);
  Substitution local_names(const Axes& axes, const Axes& reduce);
  std::vector<Axis> declare(const Axes& axes);

  TensorExpr expr_;
  std::vector<Axis> axes_;  // AxisId value - kBuilderAxisBase
  std::vector<OpenScan> open_scans_;
};

}  // namespace hone
