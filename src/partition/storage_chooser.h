// Inside of the choice of storage: views, what lies around tensors, copies that need not run.
#pragma once

#include <optional>
#include <set>
#include <vector>

#include "expr/index_facts.h"
#include "partition/storage.h"

namespace hone {

class StorageChooser {
 public:
  explicit StorageChooser(TensorProgram& program) : program_(program) {}
  Storage run();

 private:
  struct Halo {
    std::vector<int64_t> before, after;
    std::optional<Literal> around;
  };

  // Flat place of an access as offset and a stride per axis of the op; none if it is not that.
  struct Linear {
    int64_t offset = 0;
    std::vector<int64_t> strides;
  };

  static AxisId axis_id(size_t axis) { return AxisId{static_cast<int>(axis)}; }
  ProgramTensor& tensor(int id) { return program_.tensors[static_cast<size_t>(id)]; }
  View& view(int id) { return storage_.views[static_cast<size_t>(id)]; }

  // --- storage.cpp

  void split_ops();
  static bool is_copy(const Op& op);
  // Tensors that others than kernels see, or that change their buffer: dense and row-major.
  void find_fixed();
  void fix_scan(const Op::Scan& scan);
  // Tensors of which contractions read several rows at once.
  void find_factors();
  // Rows at a multiple of a page from each other would fall on the same few lines of a cache.
  bool collides(size_t id, int64_t row_elements);
  void add_view(size_t id, int innermost);
  // Drops copies that need not run, and fills what lies around tensors before they are written.
  void finish_ops();

  // --- storage_halos.cpp

  static bool literal_guard(const ScalarNode& node);
  // Inputs come without anything around them: where that is needed, a copy has it.
  void copy_padded_inputs();
  static void redirect(Op& op, int from, int to);
  void find_halos();
  void want_halo(const ScalarNode& node, const IndexFacts& facts);
  void add_fills(int id, std::vector<Op>& ops);

  // --- storage_views.cpp

  bool is_own(int id);
  bool produced_by_copy(int id);
  std::optional<Linear> linear(const Op& op, const View& of, const std::vector<Index>& at);
  // How the dimensions of a tensor, each one axis of the op over its whole extent, lie in memory.
  std::optional<View> as_view(const Op& op, int id, const std::vector<Index>& at,
                              const Linear& place, int root);
  // The source of a copy is computed where it is copied to.
  void write_in_place(size_t i);
  std::optional<View> forward(const Op& op);
  int writers(int id);
  // The result of a copy is read where its source lies.
  void read_in_place(size_t i);

  TensorProgram& program_;
  Storage storage_;
  std::set<int> fixed_, factors_;
  std::vector<Halo> halos_;
  std::vector<bool> removed_;
};

}  // namespace hone
