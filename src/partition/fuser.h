// Inside of fusion: joins ops of one list, that of a program or of a scan.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "partition/program.h"

namespace hone {

class Fuser {
 public:
  Fuser(TensorProgram& program, std::vector<Op>& ops, std::set<int> pinned)
      : program_(program), ops_(ops), pinned_(std::move(pinned)) {}
  void run();

 private:
  static AxisId axis_id(size_t axis) { return AxisId{static_cast<int>(axis)}; }
  static int64_t points_of(const Op& op);
  static int size_of_scalar(const Scalar& scalar);
  static bool is_identity(const std::vector<Index>& at, size_t outputs);
  // result[i..] = value, and nothing else.
  static bool is_map(const Op& op);
  static bool is_view(const Op& op);

  ProgramTensor& tensor(int id) { return program_.tensors[static_cast<size_t>(id)]; }
  bool is_constant(int id) { return tensor(id).kind == ProgramTensor::Kind::kConstant; }
  bool is_pinned(int id) { return tensor(id).is_output || pinned_.contains(id); }

  // --- fuse.cpp

  // Ops that read a tensor, by place in the list; one entry an op.
  std::vector<std::vector<size_t>> readers();
  void remove_dead();

  // --- fuse_constants.cpp

  void fold_constants();
  bool fold(const Op& op);
  // Parts of a value that depend only on constants, computed now: over the axes they mention.
  void extract_constants(Op& op);
  Scalar extracted(const Op& op, const Scalar& scalar, int64_t points);
  Scalar precomputed(const Op& op, const Scalar& scalar, const std::vector<int>& axes);

  // --- fuse_maps.cpp

  bool inline_maps();
  bool may_inline(const Op& map, const Op& user, size_t users);
  static int64_t outputs_of(const Op& op);
  static bool read_in_body(const Op& op, int id);
  static bool is_contraction(const Op& op);
  void inline_into(const Op& map, Op& user);
  static void join_labels(const Op& from, Op& to);

  // --- fuse_epilogues.cpp

  bool fuse_epilogues();
  bool may_extend(const Op& reduction, const Op& map,
                  const std::vector<std::vector<size_t>>& users);
  // For each axis of the map, what it is in the reduction; none where they do not correspond.
  std::optional<std::vector<Index>> axes_between(const Op& reduction, const Op& map);
  void extend(size_t r, size_t e);
  static void join_labels_after(const Op& from, Op& to);

  // --- fuse_shared.cpp

  void share_expensive();
  bool share(size_t r, size_t m);
  static std::shared_ptr<const ScalarNode> find_node(const Scalar& in, const ScalarNode* wanted);
  // Axes of the reduction in terms of the map's: outputs by the map's read of the result, the
  // reduction axis is the map's remaining one.
  std::optional<std::vector<Index>> axes_in_map(const Op& reduction, const Op& map);
  void insert_shared(size_t r, size_t m, const Scalar& in_body, const Scalar& in_map,
                     const std::vector<Index>& axes);

  TensorProgram& program_;
  std::vector<Op>& ops_;
  std::set<int> pinned_;
};

}  // namespace hone
