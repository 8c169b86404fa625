// Discrete Fourier transforms: DFT and STFT. Complex numbers are pairs on the last axis.
#include <numbers>

#include "ops/arithmetic.h"
#include "ops/indexing.h"
#include "ops/table.h"

namespace hone {
namespace {

// cos and sin of 2 pi f t / length. The product f t is taken modulo the length in integers, so that
// the angle is as exact as the type allows; the functions are evaluated in f64.
struct Waves {
  Operand cosine, sine;  // [frequencies, times]
};

Waves waves_of(Builder& b, ElementType type, AxisId frequency, AxisId time, const Dim& length) {
  const Scalar turns = Scalar::apply(
      Fn::kMod, {Scalar::index(frequency) * Scalar::index(time), Scalar::index(Index(length))});
  const Scalar angle = Scalar::cast(ElementType::kF64, turns) *
                       Literal::of_double(2 * std::numbers::pi) /
                       as_number(ElementType::kF64, length);
  const auto wave = [&](Fn fn, const char* name) {
    return b.map(name, {frequency, time}, Scalar::cast(type, Scalar::apply(fn, {angle})));
  };
  return {wave(Fn::kCos, "cosine"), wave(Fn::kSin, "sine")};
}

// One term of the transform: (re + i im) * exp(-+ i angle), its real or imaginary part by `part`.
Scalar rotated(const Scalar& re, const Scalar& im, const Scalar& cosine, const Scalar& sine,
               const Index& part) {
  const Scalar real = im.valid() ? re * cosine + im * sine : re * cosine;
  const Scalar imaginary = im.valid() ? im * cosine - re * sine : -(re * sine);
  return select(equal(part, Index(0)), real, imaginary);
}

bool is_complex(const Dim& last) {
  if (!last.is_const()) throw_unknown("whether the signal is complex is not known");
  if (last.value() != 1 && last.value() != 2)
    throw_invalid("the last axis has " + last.to_string() + " parts instead of 1 or 2");
  return last.value() == 2;
}

void require_length(const Dim& length) {
  if (length.is_const() && length.value() < 1) throw_invalid("the transform has no points");
}

struct Transform {
  int axis;
  Dim length;
  bool inverse, onesided;
};

Transform transform_of(const OpContext& c) {
  Transform t;
  t.inverse = c.int_attribute("inverse", 0) != 0;
  t.onesided = c.int_attribute("onesided", 0) != 0;
  int64_t axis = c.opset() >= 20 ? -2 : c.int_attribute("axis", 1);
  if (c.opset() >= 20 && c.has(2)) {
    const auto given = c.ints_value(2);
    if (given.size() != 1) throw_invalid("the axis is not a single number");
    axis = given[0];
  }
  t.axis = c.axis(axis, c.rank(0));
  if (t.axis == c.rank(0) - 1) throw_invalid("the last axis holds the parts of complex numbers");
  const Dim points = c.dim(0, t.axis);
  t.length = t.inverse && t.onesided ? (points - 1) * 2 : points;
  if (c.has(1)) {
    const auto given = c.dims_value(1);
    if (given.size() != 1) throw_invalid("dft_length is not a single number");
    t.length = given[0];
  }
  require_length(t.length);
  return t;
}

// y[.., f, ..] = sum_t x[.., t, ..] * exp(-2 pi i f t / N); the inverse has the other sign and 1/N.
// The signal is cut or filled with zeros to N points; onesided keeps the first N/2 + 1 frequencies.
TensorExpr define_dft(OpContext& c) {
  require_class(c, 0, ElementClass::kFloat);
  require_rank(c, 0, 2);
  const Transform t = transform_of(c);
  const bool complex = is_complex(c.shape(0).back());
  const bool real_result = t.inverse && t.onesided;
  Builder b;
  const Operand x = c.declare(b, {"x"})[0];
  const ElementType wide = accumulator_of(x.type());
  const Dim half = floor_div(t.length, 2) + 1;
  const auto at = static_cast<size_t>(t.axis);
  Shape shape = c.shape(0);
  const bool fits = shape[at] == (real_result ? half : t.length);
  shape[at] = t.onesided && !t.inverse ? half : t.length;
  shape.back() = real_result ? 1 : 2;
  const Axes output = b.axes("o", shape);
  const AxisId time = b.axis("t", real_result ? half : t.length);
  const Waves waves = waves_of(b, wide, output[at], time, t.length);

  const auto part = [&](int64_t which) {
    std::vector<Index> read(output.begin(), output.end());
    read[at] = time;
    read.back() = Index(which);
    return Scalar::cast(wide, fits ? x.at(read) : x.at_or(read, 0));
  };
  const Scalar cosine = waves.cosine(output[at], time);
  const Scalar sine = t.inverse ? -waves.sine(output[at], time) : waves.sine(output[at], time);
  const Scalar re = part(0);
  const Scalar im = complex ? part(1) : Scalar();
  Scalar term;
  if (real_result) {
    // The missing half is the conjugate of the given one: every frequency counts twice but the
    // first and, for even N, the last.
    const Scalar once =
        logical_or(equal(Index(time), Index(0)), equal(Index(time) * Dim(2), Index(t.length)));
    const Scalar real = im.valid() ? re * cosine + im * sine : re * cosine;
    term = select(once, real, real * Literal(2));
  } else {
    term = rotated(re, im, cosine, sine, output.back());
  }
  const Operand sum = b.reduce("total", output, Combiner::kSum, {time}, term);
  Scalar y = sum.at(output);
  if (t.inverse) y = y / as_number(wide, t.length);
  if (!t.inverse && wide == x.type()) return b.finish({sum});
  return b.finish({b.map("y", output, Scalar::cast(x.type(), y))});
}

// y[n, w, f] = sum_t x[n, w step + t] * window[t] * exp(-2 pi i f t / N)
TensorExpr define_stft(OpContext& c) {
  require_class(c, 0, ElementClass::kFloat);
  if (c.rank(0) != 2) require_axes(c, 0, "the signal", 3);
  const bool flat = c.rank(0) == 2;
  const bool complex = !flat && is_complex(c.dim(0, 2));
  const auto step = c.dims_value(1);
  if (step.size() != 1 || (step[0].is_const() && step[0].value() < 1))
    throw_invalid("frame_step is not a single positive number");
  Dim length = c.dim(0, 1);
  if (c.has(2)) {
    require_axes(c, 2, "the window", 1);
    length = c.dim(2, 0);
  }
  if (c.has(3)) {
    const auto given = c.dims_value(3);
    if (given.size() != 1) throw_invalid("frame_length is not a single number");
    length = given[0];
  }
  require_length(length);
  const bool onesided = c.int_attribute("onesided", 1) != 0;
  Builder b;
  const auto x = c.declare(b, {"x", "step", "window"});
  if (c.has(2)) {
    if (c.type(2) != c.type(0)) throw_invalid("the window is of another type than the signal");
    b.require_equal(c.dim(2, 0), length, "frame_length and the extent of the window");
  }
  const ElementType wide = accumulator_of(x[0].type());
  const AxisId n = b.axis("n", c.dim(0, 0));
  const AxisId frame = b.axis("w", floor_div(c.dim(0, 1) - length, step[0]) + 1);
  const AxisId frequency = b.axis("f", onesided ? floor_div(length, 2) + 1 : length);
  const AxisId part = b.axis("p", 2);
  const AxisId time = b.axis("t", length);
  const Waves waves = waves_of(b, wide, frequency, time, length);
  const Index at = Index(frame) * step[0] + Index(time);
  const auto read = [&](int64_t which) {
    const Scalar value = Scalar::cast(wide, flat ? x[0](n, at) : x[0](n, at, which));
    return c.has(2) ? value * Scalar::cast(wide, x[2](time)) : value;
  };
  const Scalar term = rotated(read(0), complex ? read(1) : Scalar(), waves.cosine(frequency, time),
                              waves.sine(frequency, time), part);
  const Axes output = {n, frame, frequency, part};
  const Operand sum = b.reduce("total", output, Combiner::kSum, {time}, term);
  if (wide == x[0].type()) return b.finish({sum});
  return b.finish({b.map("y", output, Scalar::cast(x[0].type(), sum.at(output)))});
}

}  // namespace

void register_fourier(OperatorTable& table) {
  table.add({.name = "DFT",
             .since = 17,
             .doc = "Discrete Fourier transform along one axis, or its inverse.",
             .inputs = "x, dft_length?, axis?",
             .attributes = "axis: int = 1, inverse: int = 0, onesided: int = 0",
             .define = define_dft,
             .example = "DFT(x: f32[1, 8, 1])"});
  table.add({.name = "STFT",
             .since = 17,
             .doc = "Fourier transforms of windows that slide over a signal.",
             .inputs = "x, frame_step, window?, frame_length?",
             .attributes = "onesided: int = 1",
             .define = define_stft,
             .example = "STFT(x: f32[1, 16, 1], frame_step: i64[] = 4, window: f32[8])"});
}

}  // namespace hone
