// Constants of audio processing: window functions and the mel scale.
#include <cmath>
#include <numbers>

#include "ops/arithmetic.h"
#include "ops/indexing.h"
#include "ops/table.h"

namespace hone {
namespace {

// y[i] = a0 - a1 cos(2 pi i / N) + a2 cos(4 pi i / N), N the size or, if symmetric, one less
TensorExpr cosine_window(OpContext& c, const Literal& a0, const Literal& a1, const Literal& a2) {
  const auto size = c.dims_value(0);
  if (size.size() != 1 || (size[0].is_const() && size[0].value() < 0))
    throw_invalid("the size of the window is not a single number");
  const ElementType type = c.type_attribute("output_datatype", ElementType::kF32);
  const bool periodic = c.int_attribute("periodic", 1) != 0;
  Builder b;
  (void)c.declare(b, {"size"});
  const AxisId i = b.axis("i", size[0]);
  const Scalar turn = as_number(ElementType::kF64, Index(i)) /
                      as_number(ElementType::kF64, max(periodic ? size[0] : size[0] - 1, Dim(1)));
  const auto wave = [&](int64_t times) {
    const Literal full = Literal::of_double(2 * std::numbers::pi * static_cast<double>(times));
    return Scalar::apply(Fn::kCos, {turn * full});
  };
  Scalar y = a0 - wave(1) * a1;
  if (!a2.is_zero()) y = y + wave(2) * a2;
  return b.finish({b.map("y", {i}, Scalar::cast(type, y))});
}

double single_number(const OpContext& c, size_t i) {
  const Buffer& value = c.constant(i);
  if (value.count() != 1) throw_invalid("input " + std::to_string(i) + " is not a single number");
  return value.as_double(0);
}

// Bin of the spectrum at each edge of the mel triangles.
std::vector<int64_t> mel_edges(const OpContext& c, int64_t bins, int64_t length) {
  const double rate = single_number(c, 2);
  if (!(rate > 0)) throw_invalid("the sample rate is not positive");
  const auto to_mel = [](double hertz) { return 2595 * std::log1p(hertz / 700) / std::log(10.0); };
  const double low = to_mel(single_number(c, 3));
  const double high = to_mel(single_number(c, 4));
  const double step = (high - low) / static_cast<double>(bins + 2);
  std::vector<int64_t> edges;
  for (int64_t i = 0; i < bins + 2; ++i) {
    const double mel = static_cast<double>(i) * step + low;
    const double hertz = 700 * std::expm1(mel / 2595 * std::log(10.0));
    const double bin = std::floor(static_cast<double>(length + 1) * hertz / rate);
    if (!(bin >= 0 && bin < 1e15)) throw_invalid("the mel scale has edges outside the spectrum");
    edges.push_back(static_cast<int64_t>(bin));
  }
  return edges;
}

// Triangles with the corners l, m, h: y[j, i] = (h - j) / (h - m) for m <= j < h,
// (j - l) / (m - l) for l <= j <= m (1 at m if l = m), else 0. The falling side comes first.
TensorExpr define_mel_weight_matrix(OpContext& c) {
  const auto bins = static_cast<int64_t>(single_number(c, 0));
  const auto length = static_cast<int64_t>(single_number(c, 1));
  if (bins < 1 || bins > (1 << 24) || length < 0 || length > (int64_t{1} << 40))
    throw_invalid("num_mel_bins or dft_length is out of range");
  const std::vector<int64_t> edges = mel_edges(c, bins, length);
  const ElementType type = c.type_attribute("output_datatype", ElementType::kF32);
  Builder b;
  (void)c.declare(b, {"num_mel_bins", "dft_length", "sample_rate", "lower_edge", "upper_edge"});
  const TableId table = b.index_table("edges", edges);
  const AxisId j = b.axis("j", length / 2 + 1);
  const AxisId i = b.axis("i", bins);
  const Index low = Index::table(table, i);
  const Index middle = Index::table(table, Index(i) + Index(1));
  const Index high = Index::table(table, Index(i) + Index(2));
  const auto real = [](const Index& index) { return as_number(ElementType::kF64, index); };
  const Scalar falls = logical_and(less_equal(middle, j), less(j, high));
  const Scalar rises = logical_and(less_equal(low, j), less_equal(j, middle));
  const Scalar rising =
      select(equal(low, middle), Literal(1), real(Index(j) - low) / real(middle - low));
  const Scalar y =
      select(falls, real(high - Index(j)) / real(high - middle), select(rises, rising, Literal(0)));
  return b.finish({b.map("y", {j, i}, Scalar::cast(type, y))});
}

void add_window(OperatorTable& table, const char* name, const char* doc, const Literal& a0,
                const Literal& a1, const Literal& a2) {
  table.add({.name = name,
             .since = 17,
             .doc = doc,
             .inputs = "size",
             .attributes = "output_datatype: int = 1, periodic: int = 1",
             .define = [=](OpContext& c) { return cosine_window(c, a0, a1, a2); },
             .example = std::string(name) + "(size: i64[] = 8)"});
}

}  // namespace

void register_audio(OperatorTable& table) {
  add_window(table, "HannWindow", "The Hann window: 1/2 - 1/2 cos.", Literal::rational(1, 2),
             Literal::rational(1, 2), 0);
  add_window(table, "HammingWindow", "The Hamming window: 25/46 - 21/46 cos.",
             Literal::rational(25, 46), Literal::rational(21, 46), 0);
  add_window(table, "BlackmanWindow", "The Blackman window, of two cosines.",
             Literal::rational(42, 100), Literal::rational(1, 2), Literal::rational(8, 100));
  table.add({.name = "MelWeightMatrix",
             .since = 17,
             .doc = "Weights that sum a spectrum into bins of the mel scale.",
             .inputs = "num_mel_bins, dft_length, sample_rate, lower_edge_hertz, upper_edge_hertz",
             .attributes = "output_datatype: int = 1",
             .define = define_mel_weight_matrix,
             .example = "MelWeightMatrix(bins: i64[] = 8, length: i64[] = 16, rate: i64[] = 8192, "
                        "low: f32[] = 0, high: f32[] = 4096)"});
}

}  // namespace hone
