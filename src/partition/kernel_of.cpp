#include "partition/kernel_of.h"

#include <algorithm>
#include <map>

#include "expr/index_facts.h"
#include "support/check.h"

namespace hone {
namespace {

bool depends_on_data(const Index& index) {
  return std::ranges::any_of(index.terms(), [](const IndexTerm& term) {
    return term.atom->kind == IndexAtom::Kind::kValue || depends_on_data(term.atom->left) ||
           depends_on_data(term.atom->right);
  });
}

class Flattening {
 public:
  Flattening(const TensorProgram& program, const Storage& storage, size_t shared,
             const std::vector<int>& local, bool passes_through_memory)
      : program_(program),
        storage_(storage),
        shared_(shared),
        passes_through_memory_(passes_through_memory) {
    for (const int tensor : local) locals_[tensor] = -1;
  }

  void add(const Op& op) {
    op_ = &op;
    done_.clear();
    facts_.emplace(std::vector<Dim>(op.extents.begin(), op.extents.end()),
                   std::vector<Dim>(op.steps.begin(), op.steps.end()));
    Nest nest;
    nest.extents = op.extents;
    nest.outputs = op.outputs;
    nest.steps = op.steps;
    nest.combiner = op.combiner;
    nest.serial = op.serial;
    if (op.body.valid()) nest.body = flat(op.body);
    for (const Op::Write& write : op.writes) {
      Nest::Store store;
      std::vector<Index> at;
      for (const Index& index : write.at) at.push_back(flat(index));
      store.value = flat(write.value);
      if (write.condition.valid()) store.condition = flat(write.condition);
      if (write.inner.valid()) store.inner = flat(write.inner);
      const auto [tensor, index] = place(write.tensor, at, KernelTensor::Role::kOut);
      store.tensor = tensor;
      store.at = index;
      nest.stores.push_back(std::move(store));
    }
    result_.kernel.nests.push_back(simplify(nest));
  }

  PlacedKernel finish() {
    result_.kernel.shared = shared_;
    return std::move(result_);
  }

 private:
  struct Placed {
    int tensor;
    Index at;
  };

  int number(int root, KernelTensor::Role role, ElementType type, int64_t elements,
             const std::string& name) {
    for (size_t i = 0; i < result_.roots.size(); ++i) {
      KernelTensor& tensor = result_.kernel.tensors[i];
      if (result_.roots[i] != root || root < 0) continue;
      // What several ops of the kernel pass to each other through memory is one buffer, or loads
      // could move before stores.
      if (tensor.role == role) return static_cast<int>(i);
      if (!passes_through_memory_) continue;
      if (role == KernelTensor::Role::kOut) tensor.role = role;
      if (tensor.role == KernelTensor::Role::kOut) return static_cast<int>(i);
    }
    result_.roots.push_back(root);
    result_.kernel.tensors.push_back({role, type, elements, name});
    return static_cast<int>(result_.roots.size()) - 1;
  }

  Placed place(int tensor, const std::vector<Index>& at, KernelTensor::Role role) {
    const ProgramTensor& info = program_.tensors[static_cast<size_t>(tensor)];
    if (const auto local = locals_.find(tensor); local != locals_.end()) {
      // Row-major without the shared axes.
      int64_t stride = 1;
      Index index;
      for (size_t i = at.size(); i-- > shared_;) {
        index = index + at[i] * Dim(stride);
        stride *= info.dims[i];
      }
      if (local->second < 0) {
        local->second = number(-1, KernelTensor::Role::kLocal, info.type,
                               std::max<int64_t>(stride, 1), info.name);
      }
      return {local->second, index};
    }
    const View& view = storage_.view(tensor);
    Index index = view.offset;
    for (size_t i = 0; i < at.size(); ++i) index = index + at[i] * Dim(view.strides[i]);
    const ProgramTensor& root = program_.tensors[static_cast<size_t>(view.root)];
    if (root.kind == ProgramTensor::Kind::kConstant) role = KernelTensor::Role::kConstant;
    return {number(view.root, role, info.type, storage_.elements[static_cast<size_t>(view.root)],
                   root.name),
            index};
  }

  // Condition that an index lies inside the tensor; invalid where it always does, or where what
  // lies around the tensor has the value that is asked for.
  Scalar guard(const ScalarNode& node, const std::vector<Index>& at) {
    const ProgramTensor& info = program_.tensors[static_cast<size_t>(node.tensor)];
    const bool local = locals_.contains(node.tensor);
    const View* view = local ? nullptr : &storage_.view(node.tensor);
    const bool filled = view != nullptr && view->around &&
                        node.outside->kind == ScalarNode::Kind::kLiteral &&
                        node.outside->literal == *view->around;
    Scalar inside;
    const auto require = [&](const Scalar& condition) {
      inside = inside.valid() ? logical_and(inside, condition) : condition;
    };
    for (size_t i = 0; i < at.size(); ++i) {
      const int64_t before = filled ? view->before[i] : 0;
      const int64_t after = filled ? view->after[i] : 0;
      if (facts_->within(at[i], -before, info.dims[i] + after - 1)) continue;
      if (!facts_->within(at[i], 0, INT64_MAX / 4)) require(less_equal(Index(0), at[i]));
      if (!facts_->within(at[i], INT64_MIN / 4, info.dims[i] - 1))
        require(less(at[i], Index(info.dims[i])));
    }
    return inside;
  }

  Scalar flat_read(const ScalarNode& node) {
    if (node.tensor == kAccumulator) return Scalar::read(node.type, kAccumulator, {});
    const ProgramTensor& info = program_.tensors[static_cast<size_t>(node.tensor)];
    std::vector<Index> at;
    for (const Index& index : node.indices) at.push_back(flat(index));
    const Scalar inside = node.outside ? guard(node, at) : Scalar();
    if (!node.outside) {
      // Indices that come from data may be wrong: they never lead out of the tensor.
      for (size_t i = 0; i < at.size(); ++i)
        if (depends_on_data(at[i]))
          at[i] = min(max(at[i], Index(0)), Index(std::max<int64_t>(info.dims[i] - 1, 0)));
    }
    const Placed placed = place(node.tensor, at, KernelTensor::Role::kIn);
    const Scalar read = Scalar::read(node.type, placed.tensor, {placed.at});
    return inside.valid() ? select(inside, read, flat(Scalar(node.outside))) : read;
  }

  Index flat(const Index& index) {
    Index result = index.offset();
    for (const IndexTerm& term : index.terms()) {
      const IndexAtom& atom = *term.atom;
      Index part;
      switch (atom.kind) {
        case IndexAtom::Kind::kAxis:
          part = atom.axis;
          break;
        case IndexAtom::Kind::kFloorDiv:
          part = floor_div(flat(atom.left), atom.divisor);
          break;
        case IndexAtom::Kind::kMod:
          part = mod(flat(atom.left), atom.divisor);
          break;
        case IndexAtom::Kind::kMin:
          part = min(flat(atom.left), flat(atom.right));
          break;
        case IndexAtom::Kind::kMax:
          part = max(flat(atom.left), flat(atom.right));
          break;
        case IndexAtom::Kind::kTable:
          part = Index::table(table(atom.table), flat(atom.left));
          break;
        case IndexAtom::Kind::kValue:
          part = Index::value(flat(Scalar(atom.read)));
          break;
      }
      result = result + part * term.coefficient;
    }
    return result;
  }

  TableId table(TableId id) {
    const auto [at, added] =
        tables_.try_emplace(id.value, static_cast<int>(result_.kernel.tables.size()));
    if (added) result_.kernel.tables.push_back(program_.tables[static_cast<size_t>(id.value)]);
    return TableId{at->second};
  }

  Scalar flat(const Scalar& scalar) {
    if (const auto known = done_.find(&*scalar); known != done_.end()) return known->second;
    Scalar result = rebuild(*scalar, scalar);
    done_.emplace(&*scalar, result);
    return result;
  }

  Scalar rebuild(const ScalarNode& node, const Scalar& scalar) {
    switch (node.kind) {
      case ScalarNode::Kind::kIndex:
        return Scalar::index(flat(node.index));
      case ScalarNode::Kind::kTable:
        return Scalar::table(node.type, table(node.table), flat(node.index));
      case ScalarNode::Kind::kRead:
        return flat_read(node);
      case ScalarNode::Kind::kApply:
        break;
      default:
        return scalar;
    }
    std::vector<Scalar> args;
    for (const Scalar& arg : node.args) args.push_back(flat(arg));
    if (node.fn == Fn::kCast || node.fn == Fn::kCastWrap)
      return Scalar::cast(node.type, args[0], node.fn == Fn::kCast);
    return Scalar::apply(node.fn, std::move(args));
  }

  const TensorProgram& program_;
  const Storage& storage_;
  size_t shared_;
  bool passes_through_memory_;
  const Op* op_ = nullptr;
  std::optional<IndexFacts> facts_;
  std::map<int, int> locals_, tables_;
  std::map<const ScalarNode*, Scalar> done_;
  PlacedKernel result_;
};

}  // namespace

PlacedKernel kernel_of(const TensorProgram& program, const Storage& storage,
                       const std::vector<const Op*>& ops, size_t shared,
                       const std::vector<int>& local) {
  const bool several = ops.size() > 1 || ops[0]->serial;
  Flattening flattening(program, storage, shared, local, several);
  for (const Op* op : ops) flattening.add(*op);
  return flattening.finish();
}

}  // namespace hone
