// Every scalar function on every type, as machine code, against the evaluator's kernels.
#include <cmath>
#include <cstring>
#include <random>

#include <gtest/gtest.h>

#include "expr/vm/kernels.h"
#include "helpers/kernels.h"
#include "machine/element_support.h"
#include "tensor/buffer.h"

namespace hone::testing {
namespace {

using enum ElementType;
using loop::Expr;
using loop::Function;
using loop::LoopKind;
using loop::Scope;

constexpr int64_t kCount = 1024;
constexpr ElementType kComputeTypes[] = {kF32, kF64, kI8,  kI16, kI32, kI64,
                                         kU8,  kU16, kU32, kU64, kBool};

bool is_transcendental(Fn fn) {
  return (fn >= Fn::kExp && fn <= Fn::kAtanh && fn != Fn::kSqrt) || fn == Fn::kPow;
}

// Numbers at the borders of types, and random ones of all sizes.
std::vector<double> interesting_numbers(uint64_t seed) {
  std::vector<double> values = {
      0,        -0.0,     1,      -1,     0.5,    -0.5,   1.5,     2.5,       -2.5,   3,
      7,        8,        31,     32,     63,     64,     127,     128,       255,    256,
      -128,     -129,     32767,  32768,  65535,  65536,  1e-45,   1e-40,     0x1p31, -0x1p31,
      0x1.8p31, 0x1p32,   0x1p33, 0x1p62, 0x1p63, 0x1p64, -0x1p63, -0x1.1p63, 1e30,   -1e30,
      1e300,    INFINITY, NAN,    448,    464,    57344,  61440,   -INFINITY};
  std::mt19937_64 random(seed);
  std::shuffle(values.begin(), values.end(), random);
  while (values.size() < kCount) {
    const double scale = std::ldexp(1.0, int(random() % 80) - 20);
    const double unit = double(int64_t(random())) * 0x1p-63;
    values.push_back(random() % 2 ? std::round(unit * scale) : unit * scale);
  }
  return values;
}

Buffer inputs_of(ElementType type, uint64_t seed) {
  const auto values = interesting_numbers(seed);
  return convert(Buffer::of<double>(kF64, {kCount}, values), type, false);
}

// out[i] = fn(a[i], b[i], ...), `lanes` at a time.
Function map_kernel(const std::string& name, ElementType result, int lanes,
                    const std::vector<ElementType>& types,
                    const std::function<Expr(std::vector<Expr>)>& body) {
  Function f;
  f.name = name;
  const auto i = f.add_var("i");
  const Expr at = Expr::var(i) * lanes;
  std::vector<Expr> args;
  for (const ElementType type : types) {
    const auto buffer = f.add_buffer({"in", type, kCount, Scope::kIn});
    args.push_back(Expr::load(type, buffer, at, lanes));
  }
  const auto out = f.add_buffer({"out", result, kCount, Scope::kOut});
  f.body = {make_for(LoopKind::kSerial, i, kCount / lanes, {make_store(out, at, body(args))})};
  return f;
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

// The same number; NaN equals NaN and zeros of either sign are equal.
bool same(const Buffer& a, const Buffer& b, int64_t i) {
  if (!is_float(a.type())) return a.as_int(i) == b.as_int(i);
  const double x = a.as_double(i), y = b.as_double(i);
  return x == y || (std::isnan(x) && std::isnan(y));
}

void expect_same(const Buffer& got, const Buffer& wanted, const std::vector<Buffer>& inputs,
                 const std::string& what) {
  for (int64_t i = 0; i < kCount; ++i) {
    if (same(got, wanted, i)) continue;
    std::string text = what + " of";
    for (const Buffer& input : inputs)
      text += " " + (is_float(input.type()) ? std::to_string(input.as_double(i))
                                            : std::to_string(input.as_int(i)));
    ADD_FAILURE() << text << ": " << got.as_double(i) << ", not " << wanted.as_double(i);
    return;
  }
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
