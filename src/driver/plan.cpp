#include "driver/plan.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>

#include "driver/compile.h"
#include "driver/memory_plan.h"
#include "loop/verify.h"
#include "lower/lower.h"
#include "partition/groups.h"
#include "partition/kernel_of.h"
#include "partition/storage.h"
#include "support/check.h"
#include "tune/algorithms.h"
#include "tune/choose.h"

namespace hone {
namespace {

constexpr int64_t kAlignment = 64;

// What a step passes to its kernel, before everything has a place.
struct Argument {
  int tensor = -1;    // root tensor of the program
  int constant = -1;  // or an entry of the constants
};

struct Draft {
  PlanStep step;
  std::vector<Argument> arguments;
};

// Which tensor stands for which while a scan is unrolled.
using Renaming = std::map<int, int>;

double flops_of(const Scalar& scalar) {
  double flops = 0;
  visit(scalar, [&](const ScalarNode& node) {
    if (node.kind == ScalarNode::Kind::kApply) flops += info_of(node.fn).flops;
  });
  return flops;
}

double flops_of(const Op& op) {
  double points = 1;
  double results = 1;
  for (size_t i = 0; i < op.extents.size(); ++i) {
    points *= static_cast<double>(op.extents[i]);
    if (i < op.outputs) results *= static_cast<double>(op.extents[i]);
  }
  double total = op.reduces() ? points * (1 + flops_of(op.body)) : 0;
  for (const Op::Write& write : op.writes) total += results * flops_of(write.value);
  return total;
}

class Planner {
 public:
  Planner(TensorProgram program, std::shared_ptr<const Graph> graph, const CompileOptions& options)
      : program_(std::move(program)), options_(options), plan_(std::make_shared<Plan>()) {
    plan_->graph = std::move(graph);
  }

  Result<std::shared_ptr<Plan>> run() {
    separate_outputs();
    choose_algorithms(program_, options_.cpu, {options_.threads, options_.winograd});
    storage_ = choose_storage(program_);
    if (Result<void> added = add_ops(program_.ops, {}, {}); !added)
      return std::unexpected(std::move(added.error()));
    place_everything();
    return plan_;
  }

 private:
  ProgramTensor& tensor(int id) { return program_.tensors[static_cast<size_t>(id)]; }

  // Every output has a buffer of its own.
  void separate_outputs() {
    std::set<int> seen;
    for (int& output : program_.outputs) {
      if (tensor(output).kind == ProgramTensor::Kind::kResult && seen.insert(output).second)
        continue;
      ProgramTensor copy = tensor(output);
      copy.kind = ProgramTensor::Kind::kResult;
      copy.constant = {};
      copy.is_output = true;
      Op op;
      op.label = "copy to output";
      op.extents = copy.dims;
      op.outputs = op.extents.size();
      std::vector<Index> at;
      for (size_t i = 0; i < op.outputs; ++i) at.emplace_back(AxisId{static_cast<int>(i)});
      op.writes.push_back(
          {static_cast<int>(program_.tensors.size()), at, Scalar::read(copy.type, output, at)});
      output = static_cast<int>(program_.tensors.size());
      program_.tensors.push_back(std::move(copy));
      program_.ops.push_back(std::move(op));
    }
  }

  Result<void> add_ops(const std::vector<Op>& ops, const std::vector<int64_t>& steps,
                       const Renaming& renaming) {
    for (const Group& group : group_ops(program_, storage_, ops)) {
      const Op& first = ops[group.ops[0]];
      Result<void> added = first.scan                    ? add_scan(*first.scan, steps, renaming)
                           : first.host_graph != nullptr ? add_host(first, renaming)
                                                         : add_kernel(ops, group, steps, renaming);
      if (!added) return added;
    }
    return {};
  }

  // A tensor like another one, with a buffer of its own.
  int twin(int id) {
    const auto index = static_cast<size_t>(id);
    ProgramTensor copy = tensor(id);
    copy.is_output = false;
    program_.tensors.push_back(std::move(copy));
    View view = storage_.views[index];
    view.root = static_cast<int>(storage_.views.size());
    storage_.views.push_back(std::move(view));
    storage_.elements.push_back(storage_.elements[static_cast<size_t>(storage_.view(id).root)]);
    return static_cast<int>(storage_.views.size()) - 1;
  }

  Result<void> add_scan(const Op::Scan& scan, const std::vector<int64_t>& outer_steps,
                        const Renaming& outer) {
    const auto renamed = [&](int id) {
      const auto at = outer.find(id);
      return at == outer.end() ? id : at->second;
    };
    std::vector<std::pair<int, int>> versions;
    for (const Op::Scan::Carried& carried : scan.carried)
      versions.emplace_back(carried.next, twin(carried.next));
    for (int64_t s = 0; s < scan.extent; ++s) {
      Renaming renaming = outer;
      for (size_t i = 0; i < scan.carried.size(); ++i) {
        const Op::Scan::Carried& carried = scan.carried[i];
        const auto version = [&](int64_t step) {
          return step % 2 == 0 ? versions[i].first : versions[i].second;
        };
        renaming[carried.state] = s == 0 ? renamed(carried.init) : version(s - 1);
        renaming[carried.next] = version(s);
      }
      std::vector<int64_t> steps = {s};
      steps.insert(steps.end(), outer_steps.begin(), outer_steps.end());
      if (Result<void> added = add_ops(scan.ops, steps, renaming); !added) return added;
    }
    for (size_t i = 0; i < scan.carried.size(); ++i) {
      const Op::Scan::Carried& carried = scan.carried[i];
      const int last = scan.extent == 0             ? renamed(carried.init)
                       : (scan.extent - 1) % 2 == 0 ? versions[i].first
                                                    : versions[i].second;
      if (Result<void> added = add_copy(last, renamed(carried.final)); !added) return added;
    }
    return {};
  }

  Result<void> add_copy(int from, int to) {
    Op op;
    op.label = "final state";
    op.extents = tensor(to).dims;
    op.outputs = op.extents.size();
    std::vector<Index> at;
    for (size_t i = 0; i < op.outputs; ++i) at.emplace_back(AxisId{static_cast<int>(i)});
    op.writes.push_back({to, at, Scalar::read(tensor(from).type, from, at)});
    std::vector<Op> ops;
    ops.push_back(std::move(op));
    return add_ops(ops, {}, {});
  }

  Result<void> add_host(const Op& op, const Renaming& renaming) {
    Draft draft;
    draft.step.label = op.label;
    draft.step.host = op.host;
    draft.step.host_graph = op.host_graph;
    plan_->host_notes.push_back(op.label + ": " + op.why_host);
    const auto add = [&](int id, std::vector<TensorType>& types) {
      if (id < 0) {
        types.emplace_back();
        return;
      }
      const auto at = renaming.find(id);
      const int actual = at == renaming.end() ? id : at->second;
      types.push_back({tensor(actual).type, to_shape(tensor(actual).dims)});
      draft.arguments.push_back(argument(actual));
    };
    for (const int id : op.host_inputs) add(id, draft.step.host_inputs);
    for (const int id : op.host_outputs) add(id, draft.step.host_outputs);
    drafts_.push_back(std::move(draft));
    return {};
  }

  Argument argument(int root) {
    if (tensor(root).kind != ProgramTensor::Kind::kConstant) return {root, -1};
    return {-1, constant("tensor " + std::to_string(root), tensor(root).constant.aligned())};
  }

  int constant(const std::string& key, const Buffer& data) {
    const auto [at, added] =
        constant_numbers_.try_emplace(key, static_cast<int>(constants_.size()));
    if (added) constants_.push_back(data);
    return at->second;
  }

  // A kernel that is shared by all steps with the same code.
  struct Built {
    int number;
    std::vector<int> arguments;
    std::vector<PackedConstant> packed;
    int64_t tasks;
  };

  const Built& build(Kernel& kernel) {
    const Schedule schedule = choose(kernel, options_.cpu, {options_.threads});
    const std::string key = to_text(kernel) + to_text(schedule);
    if (const auto known = built_.find(key); known != built_.end()) return known->second;
    const auto number = static_cast<int>(plan_->kernels.size());
    Lowered lowered = lower(kernel, schedule, "kernel_" + std::to_string(number));
    if (const Errors problems = loop::verify(lowered.function); !problems.empty())
      throw Failure{{ErrorKind::kUnsupported, "kernel " + std::to_string(number),
                     "is not correct: " + problems[0].to_string(),
                     "this is an error of hone: please report it"}};
    Built built;
    built.number = number;
    built.arguments = std::move(lowered.arguments);
    built.packed = std::move(lowered.packed);
    const loop::Expr tasks = task_count(lowered.function);
    HONE_CHECK(tasks.is_integer(), "shapes are known");
    built.tasks = tasks->integer;
    plan_->scratch_bytes = std::max(plan_->scratch_bytes, scratch_bytes(lowered.function));
    if (options_.dump) {
      options_.dump("kernels", "# kernel_" + std::to_string(number) + "\n" + key);
    }
    plan_->kernels.push_back(std::move(lowered.function));
    plan_->schedules.push_back(to_text(schedule));
    return built_.emplace(key, std::move(built)).first->second;
  }

  Result<void> add_kernel(const std::vector<Op>& ops, const Group& group,
                          const std::vector<int64_t>& steps, const Renaming& renaming) {
    std::vector<const Op*> members;
    for (const size_t i : group.ops) members.push_back(&ops[i]);
    PlacedKernel placed = kernel_of(program_, storage_, members, group.shared, group.local);
    const Built& built = build(placed.kernel);
    Draft draft;
    draft.step.kernel = built.number;
    draft.step.tasks = built.tasks;
    draft.step.extents = steps;
    for (const Op* op : members) {
      if (draft.step.label.find(op->label) == std::string::npos)
        draft.step.label += (draft.step.label.empty() ? "" : " + ") + op->label;
      draft.step.flops += flops_of(*op);
    }
    for (const int number : built.arguments) {
      draft.arguments.push_back(argument_of(number, placed, built, renaming));
      if (number >= 0) {
        const KernelTensor& info = placed.kernel.tensors[static_cast<size_t>(number)];
        draft.step.bytes +=
            static_cast<double>(info.elements) * static_cast<double>(size_of(info.type));
      }
    }
    if (built.tasks > 0) drafts_.push_back(std::move(draft));
    return {};
  }

  Argument argument_of(int number, const PlacedKernel& placed, const Built& built,
                       const Renaming& renaming) {
    if (number < 0) return table_argument(placed.kernel.tables[static_cast<size_t>(-1 - number)]);
    int root = placed.roots[static_cast<size_t>(number)];
    if (const auto at = renaming.find(root); at != renaming.end())
      root = storage_.view(at->second).root;
    const auto packed = std::ranges::find(built.packed, number, &PackedConstant::tensor);
    if (packed == built.packed.end()) return argument(root);
    const std::string key = "tensor " + std::to_string(root) + " for kernel " +
                            std::to_string(built.number) + " argument " + std::to_string(number);
    if (const auto known = constant_numbers_.find(key); known != constant_numbers_.end())
      return {-1, known->second};
    return {-1, constant(key, pack(*packed, tensor(root).constant.aligned()))};
  }

  static Buffer pack(const PackedConstant& packed, const Buffer& source) {
    std::vector<int64_t> order;
    packed.order(order);
    Buffer result = Buffer::allocate(source.type(), {packed.elements});
    const size_t size = size_of(source.type());
    std::byte* to = result.mutable_data();
    const std::byte* from = source.data();
    if (size == 4) {
      for (size_t i = 0; i < order.size(); ++i)
        if (order[i] >= 0) std::memcpy(to + i * 4, from + order[i] * 4, 4);
      return result;
    }
    for (size_t i = 0; i < order.size(); ++i)
      if (order[i] >= 0)
        std::memcpy(to + i * size, from + static_cast<size_t>(order[i]) * size, size);
    return result;
  }

  Argument table_argument(const Table& table) {
    std::string key = "table";
    for (const int64_t entry : table.indices) key += " " + std::to_string(entry);
    for (const Literal& entry : table.literals) key += " " + entry.to_string();
    if (!table.indices.empty()) return {-1, constant(key, Buffer::of_ints(table.indices))};
    std::vector<double> values;
    for (const Literal& entry : table.literals) values.push_back(entry.to_double());
    return {-1, constant(key, Buffer::of<double>(ElementType::kF64,
                                                 {static_cast<int64_t>(values.size())}, values))};
  }

  // --- memory

  int64_t bytes_of(int root) {
    return storage_.elements[static_cast<size_t>(root)] *
           static_cast<int64_t>(size_of(tensor(root).type));
  }

  void place_everything() {
    // Constants one after the other.
    std::vector<int64_t> offsets;
    int64_t constant_bytes = 0;
    for (const Buffer& data : constants_) {
      offsets.push_back(constant_bytes);
      constant_bytes +=
          (static_cast<int64_t>(data.byte_size()) + kAlignment - 1) / kAlignment * kAlignment;
    }
    plan_->constants = Buffer::allocate(ElementType::kU8, {std::max<int64_t>(constant_bytes, 64)});
    for (size_t i = 0; i < constants_.size(); ++i) {
      if (constants_[i].byte_size() > 0)
        std::memcpy(plan_->constants.mutable_data() + offsets[i], constants_[i].data(),
                    constants_[i].byte_size());
      constants_[i] = {};
    }
    std::map<int, size_t> alive;
    std::vector<Lifetime> lifetimes;
    for (size_t s = 0; s < drafts_.size(); ++s)
      for (const Argument& a : drafts_[s].arguments) {
        if (a.tensor < 0 || fixed_place(a.tensor)) continue;
        const auto [at, added] = alive.try_emplace(a.tensor, lifetimes.size());
        if (added) lifetimes.push_back({bytes_of(a.tensor), static_cast<int>(s), 0, 0});
        lifetimes[at->second].last = static_cast<int>(s);
      }
    plan_->arena_bytes = place_buffers(lifetimes);
    for (Draft& draft : drafts_) {
      for (const Argument& a : draft.arguments) {
        if (a.constant >= 0) {
          draft.step.places.push_back(
              {HONE_IN_CONSTANTS, 0, offsets[static_cast<size_t>(a.constant)]});
        } else if (const auto place = fixed_place(a.tensor)) {
          draft.step.places.push_back(*place);
        } else {
          draft.step.places.push_back({HONE_IN_ARENA, 0, lifetimes[alive.at(a.tensor)].offset});
        }
      }
      plan_->steps.push_back(std::move(draft.step));
    }
    for (const int id : program_.inputs)
      plan_->inputs.push_back({tensor(id).name, {tensor(id).type, to_shape(tensor(id).dims)}});
    for (size_t i = 0; i < program_.outputs.size(); ++i) {
      const int id = program_.outputs[i];
      plan_->outputs.push_back({output_name(i), {tensor(id).type, to_shape(tensor(id).dims)}});
    }
  }

  std::string output_name(size_t i) const {
    return plan_->graph->value(plan_->graph->outputs()[i]).name;
  }

  std::optional<PlanPlace> fixed_place(int root) {
    if (tensor(root).kind == ProgramTensor::Kind::kInput)
      return PlanPlace{HONE_IN_INPUT, tensor(root).input, 0};
    const auto at = std::ranges::find(program_.outputs, root);
    if (at == program_.outputs.end()) return std::nullopt;
    return PlanPlace{HONE_IN_OUTPUT, static_cast<int32_t>(at - program_.outputs.begin()), 0};
  }

  TensorProgram program_;
  const CompileOptions& options_;
  std::shared_ptr<Plan> plan_;
  Storage storage_;
  std::vector<Draft> drafts_;
  std::vector<Buffer> constants_;
  std::map<std::string, int> constant_numbers_;
  std::map<std::string, Built> built_;
};

}  // namespace

Result<std::shared_ptr<Plan>> make_plan(TensorProgram program, std::shared_ptr<const Graph> graph,
                                        const CompileOptions& options) {
  return Planner(std::move(program), std::move(graph), options).run();
}

}  // namespace hone
