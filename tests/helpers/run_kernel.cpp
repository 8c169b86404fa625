#include <gtest/gtest.h>

#include "helpers/nests.h"
#include "loop/interpret.h"
#include "loop/text.h"
#include "loop/verify.h"

namespace hone::testing {
namespace {

// What no kernel writes by chance.
constexpr float kUntouched = 12345;

std::vector<float> operand(int tensor, int64_t elements) {
  std::mt19937_64 random(static_cast<uint64_t>(tensor) + 1);
  std::vector<float> values(static_cast<size_t>(elements));
  for (float& value : values) value = static_cast<float>(random() % 7) - 3;
  return values;
}

std::vector<float> packed(const std::vector<float>& values, const PackedConstant& how) {
  std::vector<int64_t> order;
  order.resize(static_cast<size_t>(how.elements));
  how.order(0, order);
  EXPECT_EQ(static_cast<int64_t>(order.size()), how.elements);
  std::vector<float> result;
  for (const int64_t place : order)
    result.push_back(place < 0 ? 0 : values.at(static_cast<size_t>(place)));
  return result;
}

struct Arguments {
  std::vector<std::vector<float>> floats;
  std::vector<std::vector<int64_t>> integers;
  std::vector<void*> pointers;
  std::vector<size_t> outputs;  // of floats

  Arguments(const Kernel& kernel, const Lowered& lowered) {
    floats.reserve(lowered.arguments.size());
    integers.reserve(lowered.arguments.size());
    for (const int number : lowered.arguments) {
      if (number < 0) {
        integers.push_back(kernel.tables[static_cast<size_t>(-1 - number)].indices);
        pointers.push_back(integers.back().data());
      } else {
        add(kernel.tensors[static_cast<size_t>(number)], number, lowered);
      }
    }
  }

 private:
  void add(const KernelTensor& tensor, int number, const Lowered& lowered) {
    floats.push_back(operand(number, tensor.elements));
    for (const PackedConstant& how : lowered.packed)
      if (how.tensor == number) floats.back() = packed(floats.back(), how);
    if (tensor.role == KernelTensor::Role::kOut) {
      floats.back().assign(floats.back().size(), kUntouched);
      outputs.push_back(floats.size() - 1);
    }
    pointers.push_back(floats.back().data());
  }
};

}  // namespace

std::vector<float> run_kernel(const Kernel& kernel, const Schedule& schedule) {
  const Lowered lowered = lower(kernel, schedule, "kernel");
  const auto describe = [&] {
    return to_text(kernel) + to_text(schedule) + loop::to_text(lowered.function);
  };
  if (const Errors errors = loop::verify(lowered.function); !errors.empty()) {
    ADD_FAILURE() << errors[0].to_string() << "\n" << describe();
    return {};
  }
  Arguments arguments(kernel, lowered);
  for (int64_t task = loop::task_count(lowered.function)->integer; task-- > 0;) {
    const auto done = loop::interpret(lowered.function, arguments.pointers, {}, task, task + 1);
    if (done) continue;
    ADD_FAILURE() << done.error().to_string() << "\n" << describe();
    return {};
  }
  std::vector<float> results;
  for (const size_t output : arguments.outputs)
    results.insert(results.end(), arguments.floats[output].begin(), arguments.floats[output].end());
  return results;
}

}  // namespace hone::testing
