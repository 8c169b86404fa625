// Every scalar function on every type, as machine code, against the evaluator's kernels.
#include <functional>

#include <gtest/gtest.h>

#include "expr/vm/kernels.h"
#include "helpers/kernels.h"
#include "helpers/map_kernels.h"
#include "machine/element_support.h"
#include "tensor/buffer.h"

namespace hone::testing {
namespace {

using enum ElementType;
using loop::Expr;
using loop::Function;

constexpr int64_t kCount = kMapElements;
constexpr ElementType kComputeTypes[] = {kF32, kF64, kI8,  kI16, kI32, kI64,
                                         kU8,  kU16, kU32, kU64, kBool};

bool is_transcendental(Fn fn) {
  return (fn >= Fn::kExp && fn <= Fn::kAtanh && fn != Fn::kSqrt) || fn == Fn::kPow;
}

Buffer run_map(const JitModule& module, const std::string& name, ElementType result,
               const std::vector<Buffer>& inputs) {
  Buffer out = Buffer::allocate(result, {kCount});
  std::vector<void*> pointers;
  for (const Buffer& input : inputs) pointers.push_back(const_cast<std::byte*>(input.data()));
  pointers.push_back(out.mutable_data());
  module.find(name)(pointers.data(), nullptr, 0, 1, nullptr);
  return out;
}

Buffer evaluate(Fn fn, ElementType result, const std::vector<Buffer>& inputs) {
  Buffer out = Buffer::allocate(result, {kCount});
  vm::KernelArgs args{out.mutable_data(), {}, kCount, 0, 0};
  for (size_t i = 0; i < inputs.size(); ++i) args.in[i] = inputs[i].data();
  vm::find_kernel(fn, inputs.back().type()).arrays(args);
  return out;
}

class CodegenFunctions : public ::testing::TestWithParam<ElementType> {};

TEST_P(CodegenFunctions, AgreeWithTheEvaluator) {
  const ElementType type = GetParam();
  std::vector<Function> kernels;
  std::vector<std::function<void(const JitModule&)>> checks;
  for (int k = 0; k < kFnCount; ++k) {
    const auto fn = static_cast<Fn>(k);
    if (fn == Fn::kCast || fn == Fn::kCastWrap) continue;
    if (is_float(type) && is_transcendental(fn)) continue;
    if (vm::find_kernel(fn, type).arrays == nullptr) continue;
    const FnInfo& info = info_of(fn);
    std::vector<ElementType> types(static_cast<size_t>(info.arity), type);
    if (fn == Fn::kSelect) types[0] = kBool;
    std::vector<Buffer> inputs;
    for (size_t i = 0; i < types.size(); ++i)
      inputs.push_back(inputs_of(types[i], 77 * uint64_t(k) + i));
    const ElementType result = info.boolean_result ? kBool : type;
    for (const int lanes : {1, 4, 8}) {
      const std::string name = "k" + std::to_string(k) + "_" + std::to_string(lanes);
      kernels.push_back(map_kernel(name, result, lanes, types, [&](std::vector<Expr> args) {
        return Expr::apply(fn, std::move(args));
      }));
      checks.push_back([=](const JitModule& module) {
        expect_same(run_map(module, name, result, inputs), evaluate(fn, result, inputs), inputs,
                    std::string(info.name) + " with lanes " + std::to_string(lanes));
      });
    }
  }
  const auto module = JitModule::compile(kernels, host_cpu());
  ASSERT_TRUE(module) << module.error().to_string();
  for (const auto& check : checks) check(**module);
}

INSTANTIATE_TEST_SUITE_P(All, CodegenFunctions, ::testing::ValuesIn(kComputeTypes),
                         [](const auto& tested) { return std::string(name_of(tested.param)); });

// What the evaluator makes of a cast: in compute types, then rounded, then stored.
Buffer evaluate_cast(const Buffer& input, ElementType to, bool wrap) {
  const ElementType from = vm::compute_type(input.type(), vm::Numbers::kNative);
  const ElementType compute = vm::compute_type(to, vm::Numbers::kNative);
  const auto apply = [](vm::Kernel kernel, const Buffer& in, ElementType type, int tag) {
    Buffer out = Buffer::allocate(type, {kCount});
    kernel({out.mutable_data(), {in.data()}, kCount, 0, tag});
    return out;
  };
  Buffer value = convert(input, from);
  if (from != compute) value = apply(vm::find_cast(from, compute), value, compute, 0);
  if (const vm::Kernel narrow = vm::find_narrowing(to))
    value = apply(narrow, value, compute, static_cast<int>(to) | (wrap ? vm::kWrap : 0));
  return convert(value, to, false);
}

class CodegenCasts : public ::testing::TestWithParam<ElementType> {};

TEST_P(CodegenCasts, AgreeWithTheEvaluator) {
  const ElementType from = GetParam();
  const Buffer input = inputs_of(from, 5);
  std::vector<Function> kernels;
  std::vector<std::function<void(const JitModule&)>> checks;
  for (int t = 0; t < kElementTypeCount; ++t) {
    const auto to = static_cast<ElementType>(t);
    if (!can_emit(to) || to == from) continue;
    for (const bool wrap : {false, true}) {
      if (wrap && !(is_float(to) && size_of(to) == 1)) continue;
      for (const int lanes : {1, 8}) {
        if (lanes == 1 && size_of(to) == 1 && to != kU8) continue;
        const std::string name =
            std::string(name_of(to)) + "_" + std::to_string(lanes) + (wrap ? "_wrapped" : "");
        kernels.push_back(map_kernel(name, to, lanes, {from}, [&](std::vector<Expr> args) {
          return Expr::cast(to, args[0], !wrap);
        }));
        checks.push_back([=](const JitModule& module) {
          expect_same(run_map(module, name, to, {input}), evaluate_cast(input, to, wrap), {input},
                      "cast to " + name);
        });
      }
    }
  }
  const auto module = JitModule::compile(kernels, host_cpu());
  ASSERT_TRUE(module) << module.error().to_string();
  for (const auto& check : checks) check(**module);
}

std::vector<ElementType> emitted_types() {
  std::vector<ElementType> types;
  for (int t = 0; t < kElementTypeCount; ++t)
    if (can_emit(static_cast<ElementType>(t))) types.push_back(static_cast<ElementType>(t));
  return types;
}

INSTANTIATE_TEST_SUITE_P(All, CodegenCasts, ::testing::ValuesIn(emitted_types()),
                         [](const auto& tested) { return std::string(name_of(tested.param)); });

}  // namespace
}  // namespace hone::testing
