// Object detection: choosing boxes by score and overlap; decoding images.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "ops/kernels.h"
#include "ops/table.h"

namespace hone {
namespace {

struct Rectangle {
  float left, right, top, bottom;
  [[nodiscard]] float area() const { return (right - left) * (bottom - top); }
};

// Corners [y1, x1, y2, x2] in any order, or [x center, y center, width, height].
Rectangle rectangle_of(const Buffer& boxes, int64_t first, bool by_center) {
  std::array<float, 4> box{};
  for (size_t i = 0; i < 4; ++i)
    box[i] = static_cast<float>(boxes.as_double(first + static_cast<int64_t>(i)));
  if (by_center) {
    const float half_width = box[2] / 2;
    const float half_height = box[3] / 2;
    return {box[0] - half_width, box[0] + half_width, box[1] - half_height, box[1] + half_height};
  }
  return {std::min(box[1], box[3]), std::max(box[1], box[3]), std::min(box[0], box[2]),
          std::max(box[0], box[2])};
}

// Is the intersection over the union above the threshold?
bool overlap(const Rectangle& a, const Rectangle& b, float threshold) {
  const Rectangle shared{std::max(a.left, b.left), std::min(a.right, b.right),
                         std::max(a.top, b.top), std::min(a.bottom, b.bottom)};
  if (shared.right <= shared.left || shared.bottom <= shared.top) return false;
  const float joined = a.area() + b.area() - shared.area();
  if (shared.area() <= 0 || a.area() <= 0 || b.area() <= 0 || joined <= 0) return false;
  return shared.area() / joined > threshold;
}

std::vector<Buffer> run_non_max_suppression(const OpContext& c, std::span<const Buffer> inputs) {
  const Buffer& boxes = input(inputs, 0);
  const Buffer& scores = input(inputs, 1);
  if (!is_float(boxes.type()) || !is_float(scores.type()))
    throw_invalid("boxes and scores must be floats");
  if (boxes.rank() != 3 || boxes.dims()[2] != 4 || scores.rank() != 3 ||
      scores.dims()[0] != boxes.dims()[0] || scores.dims()[2] != boxes.dims()[1])
    throw_invalid("boxes must be [batch, count, 4] and scores [batch, classes, count]");
  const auto number = [&](size_t i) {
    if (inputs[i].count() != 1) throw_invalid("input " + std::to_string(i) + " must be one number");
    return inputs[i].as_double(0);
  };
  const int64_t most = given(inputs, 2) ? scalar_int(inputs, 2) : 0;
  const auto threshold = given(inputs, 3) ? static_cast<float>(number(3)) : 0.0F;
  const bool by_score = given(inputs, 4);
  const double least = by_score ? number(4) : 0;
  const bool by_center = c.int_attribute("center_point_box", 0) != 0;

  const int64_t classes = scores.dims()[1];
  const int64_t count = boxes.dims()[1];
  std::vector<std::array<int64_t, 3>> chosen;
  for (int64_t n = 0; n < boxes.dims()[0]; ++n) {
    for (int64_t k = 0; k < classes; ++k) {
      std::vector<double> score;
      for (int64_t i = 0; i < count; ++i)
        score.push_back(scores.as_double((n * classes + k) * count + i));
      std::vector<int64_t> candidates;
      for (int64_t i = 0; i < count; ++i)
        if (!by_score || score[static_cast<size_t>(i)] > least) candidates.push_back(i);
      const auto rank = [&](int64_t i) {  // NaN counts as the worst, so that the order is total
        const double s = score[static_cast<size_t>(i)];
        return std::isnan(s) ? -std::numeric_limits<double>::infinity() : s;
      };
      std::stable_sort(candidates.begin(), candidates.end(),
                       [&](int64_t a, int64_t b) { return rank(a) > rank(b); });
      std::vector<Rectangle> kept;
      for (const int64_t i : candidates) {
        if (static_cast<int64_t>(kept.size()) >= most) break;
        const Rectangle next = rectangle_of(boxes, (n * count + i) * 4, by_center);
        if (std::any_of(kept.begin(), kept.end(),
                        [&](const Rectangle& r) { return overlap(next, r, threshold); }))
          continue;
        kept.push_back(next);
        chosen.push_back({n, k, i});
      }
    }
  }
  Buffer result = Buffer::allocate(ElementType::kI64, {static_cast<int64_t>(chosen.size()), 3});
  for (size_t i = 0; i < chosen.size(); ++i)
    std::copy(chosen[i].begin(), chosen[i].end(),
              result.as_mutable<int64_t>().subspan(3 * i).begin());
  return {result};
}

}  // namespace

void register_detection(OperatorTable& table) {
  table.add({.name = "NonMaxSuppression",
             .since = 10,
             .doc = "The boxes of best score that do not overlap a better one, per class.",
             .inputs = "boxes, scores, max_output_boxes_per_class?, iou_threshold?, "
                       "score_threshold?",
             .attributes = "center_point_box: int = 0",
             .opaque_reason = "the number of results depends on the values",
             .kernel = run_non_max_suppression,
             .infer =
                 [](OpContext&) {
                   return std::vector<TensorType>{{ElementType::kI64, Shape{kUnknownDim, 3}}};
                 },
             .example = "NonMaxSuppression(boxes: f32[1, 4, 4], scores: f32[1, 2, 4], "
                        "most: i64[1] = [2], overlap: f32[1] = [0.5])"});
  table.add({.name = "ImageDecoder",
             .since = 20,
             .doc = "Decodes an image file in memory.",
             .inputs = "encoded",
             .attributes = "pixel_format: string = \"RGB\"",
             .opaque_reason = "hone has no image decoder",
             .infer =
                 [](OpContext&) {
                   return std::vector<TensorType>{
                       {ElementType::kU8, Shape{kUnknownDim, kUnknownDim, kUnknownDim}}};
                 },
             .example = "ImageDecoder(encoded: u8[16])"});
}

}  // namespace hone
