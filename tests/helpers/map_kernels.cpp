#include "helpers/map_kernels.h"

#include <algorithm>
#include <cmath>
#include <random>

#include <gtest/gtest.h>

namespace hone::testing {

using enum ElementType;
using loop::Expr;
using loop::Function;
using loop::LoopKind;
using loop::Scope;

namespace {

std::vector<double> interesting_numbers(uint64_t seed) {
  std::vector<double> values = {
      0,        -0.0,     1,      -1,     0.5,    -0.5,   1.5,     2.5,       -2.5,   3,
      7,        8,        31,     32,     63,     64,     127,     128,       255,    256,
      -128,     -129,     32767,  32768,  65535,  65536,  1e-45,   1e-40,     0x1p31, -0x1p31,
      0x1.8p31, 0x1p32,   0x1p33, 0x1p62, 0x1p63, 0x1p64, -0x1p63, -0x1.1p63, 1e30,   -1e30,
      1e300,    INFINITY, NAN,    448,    464,    57344,  61440,   -INFINITY};
  std::mt19937_64 random(seed);
  std::shuffle(values.begin(), values.end(), random);
  while (values.size() < kMapElements) {
    const double scale = std::ldexp(1.0, int(random() % 80) - 20);
    const double unit = double(int64_t(random())) * 0x1p-63;
    values.push_back(random() % 2 ? std::round(unit * scale) : unit * scale);
  }
  return values;
}

bool same(const Buffer& a, const Buffer& b, int64_t i, double tolerance) {
  if (!is_float(a.type())) return a.as_int(i) == b.as_int(i);
  const double x = a.as_double(i), y = b.as_double(i);
  if (x == y || (std::isnan(x) && std::isnan(y))) return true;
  return std::isfinite(x) && std::fabs(x - y) <= tolerance * std::fabs(y);
}

}  // namespace

Buffer inputs_of(ElementType type, uint64_t seed) {
  const auto values = interesting_numbers(seed);
  return convert(Buffer::of<double>(kF64, {kMapElements}, values), type, false);
}

Function map_kernel(const std::string& name, ElementType result, int lanes,
                    const std::vector<ElementType>& types,
                    const std::function<Expr(std::vector<Expr>)>& body) {
  Function f;
  f.name = name;
  const auto i = f.add_var("i");
  const Expr at = Expr::var(i) * lanes;
  std::vector<Expr> args;
  for (const ElementType type : types) {
    const auto buffer = f.add_buffer({"in", type, kMapElements, Scope::kIn});
    args.push_back(Expr::load(type, buffer, at, lanes));
  }
  const auto out = f.add_buffer({"out", result, kMapElements, Scope::kOut});
  f.body = {
      make_for(LoopKind::kSerial, i, kMapElements / lanes, {make_store(out, at, body(args))})};
  return f;
}

void expect_same(const Buffer& got, const Buffer& wanted, const std::vector<Buffer>& inputs,
                 const std::string& what, double tolerance) {
  for (int64_t i = 0; i < wanted.count(); ++i) {
    if (same(got, wanted, i, tolerance)) continue;
    std::string text = what + " of";
    for (const Buffer& input : inputs)
      text += " " + (is_float(input.type()) ? std::to_string(input.as_double(i))
                                            : std::to_string(input.as_int(i)));
    ADD_FAILURE() << text << ": " << got.as_double(i) << ", not " << wanted.as_double(i);
    return;
  }
}

}  // namespace hone::testing
