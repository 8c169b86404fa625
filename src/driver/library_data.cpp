#include "driver/library_data.h"

#include <cstddef>
#include <cstring>

#include "ops/onnx_types.h"
#include "support/hash.h"

namespace hone {
namespace {

using Place = ElfObject::Place;

template <typename T>
Place add_one(ElfObject& object, const T& item) {
  return object.add_array(std::span<const T>(&item, 1));
}

class Tables {
 public:
  Tables(const Plan& plan, ElfObject& object, const std::string& prefix)
      : plan_(plan), object_(object), prefix_(prefix) {}

  void add_program(Place weights) {
    hone_program program{};
    program.step_count = static_cast<int64_t>(plan_.steps.size());
    program.kernel_count = static_cast<int64_t>(plan_.kernels.size());
    program.input_count = static_cast<int64_t>(plan_.inputs.size());
    program.output_count = static_cast<int64_t>(plan_.outputs.size());
    program.constant_bytes = static_cast<int64_t>(plan_.constants.byte_size());
    program.arena_bytes = plan_.arena_bytes;
    program.scratch_bytes = plan_.scratch_bytes;
    const Place steps = add_steps();
    const Place names = add_kernel_names();
    const Place inputs = add_infos(plan_.inputs);
    const Place outputs = add_infos(plan_.outputs);
    const Place place = add_one(object_, program);
    object_.point(place, offsetof(hone_program, steps), steps);
    object_.point(place, offsetof(hone_program, kernel_names), names);
    object_.point(place, offsetof(hone_program, inputs), inputs);
    object_.point(place, offsetof(hone_program, outputs), outputs);
    object_.point(place, offsetof(hone_program, constants), weights);
    object_.define(prefix_ + "_program", place, sizeof program);
  }

 private:
  [[nodiscard]] std::string symbol_of(int kernel) const {
    return prefix_ + "_" + plan_.kernels[static_cast<size_t>(kernel)].name;
  }

  Place add_steps() {
    std::vector<hone_step> steps(plan_.steps.size());
    std::vector<Place> places, extents, labels;
    for (size_t i = 0; i < steps.size(); ++i) {
      const PlanStep& from = plan_.steps[i];
      hone_step& to = steps[i];
      to.place_count = static_cast<int32_t>(from.places.size());
      to.kernel_index = from.kernel;
      to.tasks = from.tasks;
      to.flops = from.flops;
      to.bytes = from.bytes;
      std::vector<hone_place> list;
      for (const PlanPlace& place : from.places)
        list.push_back({place.kind, place.index, place.offset});
      places.push_back(object_.add_array(std::span<const hone_place>(list)));
      extents.push_back(object_.add_array(std::span(from.extents)));
      labels.push_back(object_.add_text(from.label));
    }
    const Place table = object_.add_array(std::span<const hone_step>(steps));
    for (size_t i = 0; i < steps.size(); ++i) {
      const uint64_t at = i * sizeof(hone_step);
      object_.point_to_symbol(table, at + offsetof(hone_step, kernel),
                              symbol_of(plan_.steps[i].kernel));
      object_.point(table, at + offsetof(hone_step, places), places[i]);
      object_.point(table, at + offsetof(hone_step, extents), extents[i]);
      object_.point(table, at + offsetof(hone_step, label), labels[i]);
    }
    return table;
  }

  Place add_kernel_names() {
    std::vector<Place> names;
    for (const loop::Function& kernel : plan_.kernels)
      names.push_back(object_.add_text(kernel.name));
    const Place table =
        object_.add_array(std::span<const int64_t>(std::vector<int64_t>(names.size())));
    for (size_t i = 0; i < names.size(); ++i) object_.point(table, i * 8, names[i]);
    return table;
  }

  Place add_infos(const std::vector<PlanValue>& values) {
    std::vector<hone_tensor_info> infos;
    std::vector<Place> names, dims;
    for (const PlanValue& value : values) {
      infos.push_back(info_of(value));
      names.push_back(object_.add_text(value.name));
      const std::vector<int64_t> extents = *to_ints(*value.type.shape);
      dims.push_back(object_.add_array(std::span<const int64_t>(extents)));
    }
    const Place table = object_.add_array(std::span<const hone_tensor_info>(infos));
    for (size_t i = 0; i < infos.size(); ++i) {
      const uint64_t at = i * sizeof(hone_tensor_info);
      object_.point(table, at + offsetof(hone_tensor_info, name), names[i]);
      object_.point(table, at + offsetof(hone_tensor_info, dims), dims[i]);
    }
    return table;
  }

  const Plan& plan_;
  ElfObject& object_;
  const std::string& prefix_;
};

}  // namespace

hone_tensor_info info_of(const PlanValue& value) {
  hone_tensor_info info{};
  const std::vector<int64_t> dims = *to_ints(*value.type.shape);
  info.element_type = static_cast<int32_t>(onnx_number(value.type.element));
  info.rank = static_cast<int32_t>(dims.size());
  info.bytes = checked_count(dims) * static_cast<int64_t>(size_of(value.type.element));
  return info;
}

hone_weights weights_header(const Plan& plan) {
  hone_weights header{};
  std::strncpy(header.magic, "hone weights 1", sizeof header.magic - 1);
  header.bytes = static_cast<int64_t>(plan.constants.byte_size());
  const uint64_t once = hash_bytes(plan.constants.bytes());
  uint64_t seed = 0;
  for (uint64_t& word : header.digest) word = combine_hash(once, seed++);
  return header;
}

ElfObject library_data(const Plan& plan, ElfObject::Machine machine, const std::string& prefix,
                       bool with_weights) {
  ElfObject object(machine);
  const hone_weights header = weights_header(plan);
  object.define(prefix + "_weights", add_one(object, header), sizeof header);
  Place weights;
  if (with_weights) weights = object.set_weights(plan.constants.bytes());
  Tables(plan, object, prefix).add_program(weights);
  return object;
}

}  // namespace hone
