// The reference evaluator: runs a tensor expression on buffers. It lowers each stage once to
// strided loops over typed vector instructions; nothing walks a tree per element.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "expr/tensor_expr.h"
#include "tensor/buffer.h"

namespace hone {

// What "number" means. Integers and bool are themselves in every domain.
enum class Domain : uint8_t {
  kNative,  // every type as it is; f16, bf16 and 8-bit floats compute in float, round when stored
  kDouble,  // every floating type is double: the float64 reference
  kField,   // every floating type is F_p, p = 2^61 - 1; non-linear functions are seeded random
};

// How a tensor of `type` is stored in a domain, and a buffer brought there (f32 data to f64, or
// to the field's exact image of each value).
[[nodiscard]] ElementType storage_type(ElementType type, Domain domain);
[[nodiscard]] Buffer to_domain(const Buffer& buffer, Domain domain);

struct EvaluateOptions {
  Domain domain = Domain::kNative;
  uint64_t seed = 0;                          // of the field's random functions
  std::map<std::string, Literal> parameters;  // values of kParameter scalars
};

// A part of an output: begin <= index < end on each axis.
struct Box {
  std::vector<int64_t> begin, end;
};

// An expression lowered for one set of operand shapes; immutable, may run concurrently.
class Program {
 public:
  // Symbols are bound from the operands' shapes (and must all be bound by them or `symbols`).
  static Result<Program> lower(const TensorExpr& expr,
                               const std::vector<std::vector<int64_t>>& operand_dims,
                               const EvaluateOptions& options = {},
                               const std::map<std::string, int64_t>& symbols = {});
  // Operands in the domain's storage types. Data-dependent reads outside their tensor are errors.
  [[nodiscard]] Result<std::vector<Buffer>> run(std::span<const Buffer> operands) const;
  // Readable listing of loops and instructions.
  [[nodiscard]] std::string to_string() const;

  struct Impl;

 private:
  std::shared_ptr<const Impl> impl_;
};

// Lower and run.
[[nodiscard]] Result<std::vector<Buffer>> evaluate(const TensorExpr& expr,
                                                   std::span<const Buffer> operands,
                                                   const EvaluateOptions& options = {});
// Only a box of one output, computing only what that box needs of earlier stages where the
// accesses show it (whole stages otherwise). The result has the box's extents.
[[nodiscard]] Result<Buffer> evaluate_box(const TensorExpr& expr, std::span<const Buffer> operands,
                                          size_t output, const Box& box,
                                          const EvaluateOptions& options = {});

// Small integer tensors whose elements are symbolic dimensions (shape arithmetic): evaluates an
// integer expression of few elements over Dim. Nothing where it cannot.
[[nodiscard]] std::optional<std::vector<Dim>> evaluate_dims(
    const TensorExpr& expr, size_t output,
    const std::vector<std::optional<std::vector<Dim>>>& operands);

}  // namespace hone
