// Losses of classifiers: scores x[n, class, d..], labels t[n, d..], weights w[class].
#include "ops/element_classes.h"
#include "ops/softmax.h"
#include "ops/table.h"

namespace hone {
namespace {

enum class Reduce : uint8_t { kNone, kSum, kMean };

Reduce reduction_of(const OpContext& c) {
  const std::string name = c.string_attribute("reduction", "mean");
  if (name == "none") return Reduce::kNone;
  if (name == "sum") return Reduce::kSum;
  if (name == "mean") return Reduce::kMean;
  throw_invalid("reduction = \"" + name + "\" is none of \"none\", \"sum\" and \"mean\"");
}

void check_operands(const OpContext& c) {
  require_class(c, 0, ElementClass::kFloat);
  require_class(c, 1, ElementClass::kInteger);
  require_rank(c, 0, 2);
  if (c.rank(1) != c.rank(0) - 1) throw_invalid("labels must lack just the class axis of scores");
  if (c.has(2) && (c.type(2) != c.type(0) || c.rank(2) != 1)) {
    throw_invalid("weights must be a vector of the scores' type");
  }
}

// weight[n, d..] = w[t[n, d..]], or 0 where the label is to be ignored
// loss[n, d..]   = -weight log_prob[n, t[n, d..], d..]
// and its sum, or the sum divided by that of the weights.
Operand negative_log_likelihood(Builder& b, const OpContext& c, const Operand& log_prob,
                                const Operand& labels, const Operand& weights) {
  const Shape scores = c.shape(0);
  Shape places = scores;
  places.erase(places.begin() + 1);
  for (size_t i = 0; i < places.size(); ++i) {
    b.require_equal(c.shape(1)[i], places[i], "extents of scores and labels");
  }
  if (c.has(2)) b.require_equal(c.shape(2)[0], scores[1], "numbers of weights and classes");

  const Axes at = b.axes("n", places);
  const ElementType type = log_prob.type();
  const ElementType wide = accumulator_of(type);
  const Scalar label = labels.at(at);
  std::vector<Index> position(at.begin(), at.end());
  position.insert(position.begin() + 1, Index::value(label));
  Scalar weight = weights.valid() ? Scalar::cast(wide, weights.at(std::vector{Index::value(label)}))
                                  : Scalar::literal(wide, 1);
  Scalar loss = -Scalar::cast(wide, log_prob.at(std::move(position))) * weight;
  if (c.has_attribute("ignore_index")) {
    const Scalar ignored =
        equal(Scalar::cast(ElementType::kI64, label),
              Scalar::literal(ElementType::kI64, c.int_attribute("ignore_index", 0)));
    weight = select(ignored, 0, weight);
    loss = select(ignored, 0, loss);
  }
  const Reduce reduction = reduction_of(c);
  if (reduction == Reduce::kNone) return b.map("loss", at, Scalar::cast(type, loss));
  const Operand total = b.reduce("total", {}, Combiner::kSum, at, loss);
  Scalar result = total.at(Axes{});
  if (reduction == Reduce::kMean && weight.is_literal()) {
    result = result / number(wide, element_count(places));
  } else if (reduction == Reduce::kMean) {
    result = result / b.reduce("weight", {}, Combiner::kSum, at, weight).at(Axes{});
  }
  return b.map("loss", {}, Scalar::cast(type, result));
}

TensorExpr define_nll(OpContext& c) {
  check_operands(c);
  Builder b;
  std::vector<Operand> in = c.declare(b, {"log_prob", "labels", "weights"});
  in.resize(3);
  return b.finish({negative_log_likelihood(b, c, in[0], in[1], in[2])});
}

// log_prob = x - top - log total over the classes
TensorExpr define_cross_entropy(OpContext& c) {
  check_operands(c);
  Builder b;
  std::vector<Operand> in = c.declare(b, {"scores", "labels", "weights"});
  in.resize(3);
  const ReductionAxes over = split_axes(b, c.shape(0), {1});
  const SoftmaxParts parts = softmax_parts(b, over, in[0].at(over.all));
  const Scalar log_softmax = parts.shifted - log(parts.total);
  const Operand log_prob = b.map("log_prob", over.all, Scalar::cast(in[0].type(), log_softmax));
  const Operand loss = negative_log_likelihood(b, c, log_prob, in[1], in[2]);
  if (c.output_count() < 2) return b.finish({loss});
  return b.finish({loss, log_prob});
}

}  // namespace

void register_loss(OperatorTable& table) {
  table.add({.name = "NegativeLogLikelihoodLoss",
             .since = 12,
             .doc = "The negated score of each label, weighted by class, and its sum or mean.",
             .inputs = "log_prob, labels, weights?",
             .outputs = "loss",
             .attributes = "ignore_index: int, reduction: string = \"mean\"",
             .define = define_nll,
             .example = "NegativeLogLikelihoodLoss(log_prob: f32[2, 3], labels: i64[2])"});
  table.add({.name = "SoftmaxCrossEntropyLoss",
             .since = 12,
             .doc = "The negated log-softmax of each label, weighted, and its sum or mean.",
             .inputs = "scores, labels, weights?",
             .outputs = "loss, log_prob?",
             .attributes = "ignore_index: int, reduction: string = \"mean\"",
             .define = define_cross_entropy,
             .example = "SoftmaxCrossEntropyLoss(scores: f32[2, 3], labels: i64[2])"});
}

}  // namespace hone
