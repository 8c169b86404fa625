// Einstein summation.
#include <algorithm>
#include <map>

#include "ops/arithmetic.h"
#include "ops/table.h"

namespace hone {
namespace {

constexpr char kEllipsis = '.';  // stands for the broadcast axes inside a parsed term

// "...ij" as a list of labels; the three dots become one.
std::string parse_term(const std::string& text) {
  std::string labels;
  for (size_t i = 0; i < text.size(); ++i) {
    const char letter = text[i];
    if (letter == ' ') continue;
    if (letter == '.') {
      if (text.compare(i, 3, "...") != 0 || labels.find(kEllipsis) != std::string::npos)
        throw_invalid("the dots in \"" + text + "\" are no ellipsis");
      i += 2;
    } else if (!((letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z'))) {
      throw_invalid(std::string("the equation has the sign '") + letter + "'");
    }
    labels += letter;
  }
  return labels;
}

struct Equation {
  std::vector<std::string> inputs;
  std::string output;
};

Equation parse_equation(const std::string& text) {
  Equation equation;
  const size_t arrow = text.find("->");
  const std::string left = text.substr(0, arrow);
  for (size_t begin = 0; begin <= left.size();) {
    const size_t comma = std::min(left.find(',', begin), left.size());
    equation.inputs.push_back(parse_term(left.substr(begin, comma - begin)));
    begin = comma + 1;
  }
  if (arrow != std::string::npos) {
    equation.output = parse_term(text.substr(arrow + 2));
    return equation;
  }
  // Implicit: the broadcast axes, then every label that occurs once, in alphabetical order.
  std::map<char, int> uses;
  for (const std::string& input : equation.inputs)
    for (const char label : input) ++uses[label];
  if (uses.contains(kEllipsis)) equation.output += kEllipsis;
  for (const auto& [label, count] : uses)
    if (label != kEllipsis && count == 1) equation.output += label;
  return equation;
}

// Which axes each label and the ellipsis stand for, and their extents.
class Labels {
 public:
  void add(const std::string& term, const Shape& shape, Builder& b) {
    const bool dots = term.find(kEllipsis) != std::string::npos;
    const size_t plain = term.size() - (dots ? 1 : 0);
    if (shape.size() < plain || (!dots && shape.size() != plain))
      throw_invalid("the term \"" + term + "\" does not fit the shape " + to_string(shape));
    size_t at = 0;
    for (const char label : term) {
      if (label == kEllipsis) {
        const size_t count = shape.size() - plain;
        dots_of_terms_.push_back({shape.begin() + static_cast<std::ptrdiff_t>(at),
                                  shape.begin() + static_cast<std::ptrdiff_t>(at + count)});
        at += count;
        continue;
      }
      merge(label, shape[at++], b);
    }
  }

  void make_axes(Builder& b) {
    std::vector<const Shape*> shapes;
    for (const Shape& shape : dots_of_terms_) shapes.push_back(&shape);
    dots_ = broadcast(shapes);
    dot_axes_ = b.axes("e", dots_);
    for (const auto& [label, extent] : extents_)
      axes_.emplace(label, b.axis(std::string(1, label), extent));
  }

  [[nodiscard]] std::vector<Index> indices(const std::string& term, const Shape& shape) const {
    std::vector<Index> result;
    const size_t plain = term.size() - 1;
    for (const char label : term) {
      if (label == kEllipsis) {
        const size_t at = result.size();
        const Shape part(shape.begin() + static_cast<std::ptrdiff_t>(at),
                         shape.begin() + static_cast<std::ptrdiff_t>(at + shape.size() - plain));
        for (Index& index : broadcast_indices(part, dot_axes_, dots_))
          result.push_back(std::move(index));
      } else {
        const bool repeated = shape[result.size()].is(1) && !extents_.at(label).is(1);
        result.push_back(repeated ? Index(0) : Index(axes_.at(label)));
      }
    }
    return result;
  }

  [[nodiscard]] Axes output(const std::string& term) const {
    Axes result;
    for (const char label : term) {
      if (label == kEllipsis) {
        result.insert(result.end(), dot_axes_.begin(), dot_axes_.end());
        continue;
      }
      const auto at = axes_.find(label);
      if (at == axes_.end() || std::find(result.begin(), result.end(), at->second) != result.end())
        throw_invalid("the output's label " + std::string(1, label) +
                      " is in no input, or occurs twice");
      result.push_back(at->second);
    }
    return result;
  }

  [[nodiscard]] Axes all() const {
    Axes result = dot_axes_;
    for (const auto& [label, axis] : axes_) result.push_back(axis);
    return result;
  }

 private:
  void merge(char label, const Dim& extent, Builder& b) {
    const auto [at, fresh] = extents_.emplace(label, extent);
    if (fresh || extent.is(1)) return;
    if (at->second.is(1)) {
      at->second = extent;
    } else {
      b.require_equal(at->second, extent, std::string("extents of the label ") + label);
    }
  }

  std::map<char, Dim> extents_;
  std::map<char, AxisId> axes_;
  std::vector<Shape> dots_of_terms_;
  Shape dots_;
  Axes dot_axes_;
};

// y[output labels] = sum over the other labels of the product of all operands
TensorExpr define_einsum(OpContext& c) {
  const Equation equation = parse_equation(c.string_attribute("equation", ""));
  if (equation.inputs.size() != c.input_count())
    throw_invalid("the equation has " + std::to_string(equation.inputs.size()) + " terms for " +
                  std::to_string(c.input_count()) + " inputs");
  require_class(c, 0, ElementClass::kNumber);
  require_same_types(c);
  Builder b;
  const auto x = c.declare(b);
  Labels labels;
  for (size_t i = 0; i < x.size(); ++i) labels.add(equation.inputs[i], c.shape(i), b);
  labels.make_axes(b);
  Scalar product;
  for (size_t i = 0; i < x.size(); ++i) {
    const Scalar factor = x[i].at(labels.indices(equation.inputs[i], c.shape(i)));
    product = i == 0 ? factor : product * factor;
  }
  const Axes output = labels.output(equation.output);
  Axes reduced;
  for (const AxisId axis : labels.all())
    if (std::find(output.begin(), output.end(), axis) == output.end()) reduced.push_back(axis);
  return b.finish({b.reduce("y", output, Combiner::kSum, reduced, product)});
}

}  // namespace

void register_einsum(OperatorTable& table) {
  table.add({.name = "Einsum",
             .since = 12,
             .doc = "Sum of products over the labels of an equation such as \"bij,bjk->bik\".",
             .inputs = "xs...",
             .attributes = "equation: string",
             .define = define_einsum,
             .example = "Einsum(a: f32[2, 3, 4], b: f32[2, 4, 5]) {equation = \"bij,bjk->bik\"}"});
}

}  // namespace hone
