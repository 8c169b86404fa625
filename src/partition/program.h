// A graph as one list of stages over tensors of known shape: what fusion works on.
//
// The meanings of all nodes are put one after the other, so that the borders of operators are gone;
// what remains is who reads what, and where.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "expr/tensor_expr.h"
#include "graph/graph.h"
#include "support/error.h"
#include "tensor/buffer.h"

namespace hone {

struct ProgramTensor {
  enum class Kind : uint8_t { kInput, kConstant, kResult } kind = Kind::kResult;
  std::string name;
  ElementType type = ElementType::kF32;
  std::vector<int64_t> dims;
  Buffer constant;         // kConstant
  int input = -1;          // kInput: which
  bool is_output = false;  // of the graph
  [[nodiscard]] int64_t count() const;
};

// result[at] = value, for all points of the output axes. With a combiner, `value` may read the
// combination of `body` over the reduction axes as tensor kAccumulator of lower/nest.h.
struct Op {
  std::vector<int64_t> extents;  // output axes, then reduction axes
  size_t outputs = 0;
  std::vector<int64_t> steps;  // of scans around it
  Combiner combiner = Combiner::kNone;
  Scalar body;
  struct Write {
    int tensor;
    std::vector<Index> at;
    Scalar value;
    Scalar condition{};  // valid: only where it holds
    Scalar inner{};      // valid: computed in any case, and read by `value` as kAccumulator
  };
  std::vector<Write> writes;
  bool serial = false;
  int group = -1;           // ops with the same number run as one kernel,
  size_t group_shared = 0;  // which iterates over this many first axes
  std::string label;        // of the nodes it comes from

  // Of a scan: ops of one step; carried states; how often.
  struct Scan {
    int64_t extent = 0;
    std::vector<Op> ops;
    struct Carried {
      int state, init, next, final;
    };
    std::vector<Carried> carried;
  };
  std::shared_ptr<Scan> scan;
  // Of a node that the host runs: values by tensor id (-1: absent).
  NodeId host;
  const Graph* host_graph = nullptr;
  std::vector<int> host_inputs, host_outputs;
  std::string why_host;

  [[nodiscard]] bool reduces() const { return combiner != Combiner::kNone; }
  [[nodiscard]] bool is_plain() const { return !scan && host_graph == nullptr; }
};

struct TensorProgram {
  std::vector<ProgramTensor> tensors;
  std::vector<Table> tables;
  std::vector<Op> ops;
  std::vector<int> inputs, outputs;
};

// All shapes must be known; the graph must be inferred, and outlive host operators.
[[nodiscard]] Result<TensorProgram> program_of(const Graph& graph);

// Tensors that an op reads (with repetition removed) and writes.
[[nodiscard]] std::vector<int> read_by(const Op& op);
[[nodiscard]] std::vector<int> written_by(const Op& op);
// Calls f on every node of the scalar, also inside indices; shared ones once.
void visit(const Scalar& scalar, const std::function<void(const ScalarNode&)>& f);
void visit_reads(const Op& op, const std::function<void(const ScalarNode&)>& f);
// The op with every scalar replaced.
void map_scalars(Op& op, const std::function<Scalar(const Scalar&)>& f);
// Simplifies indices and guards.
void simplify(Op& op, const TensorProgram& program);
// Runs an op whose operands are all constant.
[[nodiscard]] Result<Buffer> evaluate(const TensorProgram& program, const Op& op);

[[nodiscard]] std::string to_text(const TensorProgram& program);

}  // namespace hone
