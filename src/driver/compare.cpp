#include "driver/compare.h"

#include <cmath>

#include "graph/interpreter.h"

namespace hone {
namespace {

void compare_lists(const Graph& a, const std::vector<ValueId>& x, const Graph& b,
                   const std::vector<ValueId>& y, const std::string& what, Errors& errors) {
  if (x.size() != y.size()) {
    errors.push_back({ErrorKind::kInvalid,
                      what + "s",
                      std::to_string(x.size()) + " against " + std::to_string(y.size()),
                      {}});
    return;
  }
  for (size_t i = 0; i < x.size(); ++i) {
    const Value& p = a.value(x[i]);
    const Value& q = b.value(y[i]);
    const std::string where = what + " " + std::to_string(i);
    if (p.name != q.name)
      errors.push_back({ErrorKind::kInvalid, where, "named " + p.name + " against " + q.name, {}});
    const bool same_rank = p.type.shape.has_value() == q.type.shape.has_value() &&
                           (!p.type.shape || p.type.shape->size() == q.type.shape->size());
    bool same_dims = same_rank;
    for (size_t d = 0; same_dims && p.type.shape && d < p.type.shape->size(); ++d) {
      const Dim& m = (*p.type.shape)[d];
      const Dim& n = (*q.type.shape)[d];
      same_dims = !m.is_const() || !n.is_const() || m == n;
    }
    if (p.type.element != q.type.element || !same_dims)
      errors.push_back({ErrorKind::kInvalid,
                        where,
                        p.name + " is " + p.type.to_string() + " against " + q.type.to_string(),
                        {}});
  }
}

struct Trial {
  std::string name;
  InputStyle style;
  uint64_t seed;
};

std::vector<Trial> trials_of(const CompareOptions& options) {
  std::vector<Trial> trials;
  for (int i = 0; i < options.random_trials; ++i)
    trials.push_back({"random " + std::to_string(i + 1), InputStyle::kNormal,
                      options.seed + static_cast<uint64_t>(i)});
  if (options.boundary_trials) {
    trials.push_back({"zeros", InputStyle::kZeros, options.seed});
    trials.push_back({"ones", InputStyle::kOnes, options.seed});
    trials.push_back({"large", InputStyle::kLarge, options.seed});
    trials.push_back({"tiny", InputStyle::kTiny, options.seed});
  }
  return trials;
}

double largest_finite(const Buffer& buffer) {
  double largest = 0;
  for (int64_t i = 0; i < buffer.count(); ++i) {
    const double magnitude = std::fabs(buffer.as_double(i));
    if (std::isfinite(magnitude)) largest = std::max(largest, magnitude);
  }
  return largest;
}

}  // namespace

void add_difference(const Buffer& reference, const Buffer& other, const std::string& trial,
                    OutputDifference& into) {
  if (reference.dims() != other.dims()) {
    into.non_finite = true;
    into.max_absolute = into.max_relative = HUGE_VAL;
    into.worst = "trial '" + trial + "': shapes " + to_string(to_shape(reference.dims())) +
                 " and " + to_string(to_shape(other.dims()));
    return;
  }
  if (reference.type() == ElementType::kString || other.type() == ElementType::kString) {
    if (!(reference == other)) {
      into.max_absolute = into.max_relative = HUGE_VAL;
      into.worst = "trial '" + trial + "': strings differ";
    }
    return;
  }
  const double scale = largest_finite(reference);
  for (int64_t i = 0; i < reference.count(); ++i) {
    const double x = reference.as_double(i);
    const double y = other.as_double(i);
    if (x == y || (std::isnan(x) && std::isnan(y))) continue;
    const double absolute = std::fabs(x - y);
    const double relative = scale > 0 ? absolute / scale : HUGE_VAL;
    const bool finite = std::isfinite(absolute);
    if (!finite) into.non_finite = true;
    if (finite && absolute <= into.max_absolute && relative <= into.max_relative) continue;
    into.max_absolute = finite ? std::max(into.max_absolute, absolute) : HUGE_VAL;
    into.max_relative = finite ? std::max(into.max_relative, relative) : HUGE_VAL;
    into.worst = "trial '" + trial + "', element " + std::to_string(i) + ": " + std::to_string(x) +
                 " and " + std::to_string(y);
  }
}

Result<Comparison> compare(const Model& a, const Model& b, const CompareOptions& options) {
  Comparison result;
  compare_lists(a.graph, a.graph.inputs(), b.graph, b.graph.inputs(), "input", result.interface);
  compare_lists(a.graph, a.graph.outputs(), b.graph, b.graph.outputs(), "output", result.interface);
  if (!result.interface.empty()) return result;
  for (const ValueId id : a.graph.outputs())
    result.outputs.push_back({a.graph.value(id).name, 0, 0, {}, false});

  const std::vector<Trial> trials = trials_of(options);
  InterpretOptions interpret_options;
  interpret_options.evaluate.domain = options.domain;
  interpret_options.cancelled = options.cancelled;
  for (const Trial& trial : trials) {
    InputOptions inputs = options.inputs;
    inputs.style = trial.style;
    inputs.seed = trial.seed;
    Result<std::vector<Buffer>> given = make_inputs(a.graph, inputs);
    if (!given) return std::unexpected(std::move(given.error()));
    std::vector<Buffer> answers[2];
    for (size_t side = 0; side < 2; ++side) {
      interpret_options.progress = [&](size_t done, size_t all) {
        if (options.progress)
          options.progress("trial '" + trial.name + "', model " + (side == 0 ? "A" : "B"), done,
                           all);
      };
      Result<std::vector<Buffer>> outputs =
          interpret(side == 0 ? a.graph : b.graph, *given, interpret_options);
      if (!outputs) return std::unexpected(std::move(outputs.error()));
      answers[side] = *std::move(outputs);
    }
    for (size_t i = 0; i < result.outputs.size(); ++i)
      add_difference(answers[0][i], answers[1][i], trial.name, result.outputs[i]);
    ++result.trials;
  }
  return result;
}

}  // namespace hone
