#include "lower/linear_code.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "support/check.h"

namespace hone {
namespace {

using Row = std::map<int, Literal>;  // coefficients of values, none 0

bool is_unit(const Literal& value) { return value.is(1) || value.is(-1); }

Literal quotient(const Literal& a, const Literal& b) {
  const auto result = divide(a, b);
  HONE_CHECK(result.has_value(), "the ratio of two coefficients is an exact number");
  return *result;
}

class Builder {
 public:
  explicit Builder(const LiteralMatrix& matrix) {
    code_.inputs = static_cast<int>(matrix.at(0).size());
    for (const auto& coefficients : matrix) {
      Row& row = rows_.emplace_back();
      for (size_t j = 0; j < coefficients.size(); ++j)
        if (!coefficients[j].is_zero()) row.emplace(static_cast<int>(j), coefficients[j]);
    }
  }

  LinearCode run() {
    while (const auto shared = most_frequent()) extract(*shared);
    for (const Row& row : rows_) code_.outputs.push_back(sum(row));
    return std::move(code_);
  }

 private:
  // value[a] + ratio * value[b], times anything, in `rows` rows.
  struct Shared {
    int a, b;
    Literal ratio;
    int rows = 0;
  };

  [[nodiscard]] std::optional<Shared> most_frequent() const {
    std::vector<Shared> found;
    for (const Row& row : rows_)
      for (auto i = row.begin(); i != row.end(); ++i)
        for (auto j = std::next(i); j != row.end(); ++j)
          count(found, i->first, j->first, quotient(j->second, i->second));
    const auto best = std::ranges::max_element(found, {}, &Shared::rows);
    return best == found.end() || best->rows < 2 ? std::nullopt : std::optional(oriented(*best));
  }

  static void count(std::vector<Shared>& found, int a, int b, const Literal& ratio) {
    for (Shared& shared : found)
      if (shared.a == a && shared.b == b && shared.ratio == ratio) {
        ++shared.rows;
        return;
      }
    found.push_back({a, b, ratio, 1});
  }

  [[nodiscard]] bool has(const Row& row, const Shared& shared) const {
    const auto a = row.find(shared.a);
    const auto b = row.find(shared.b);
    return a != row.end() && b != row.end() && quotient(b->second, a->second) == shared.ratio;
  }

  // The way round that leaves more rows with a coefficient of 1 or -1.
  [[nodiscard]] Shared oriented(const Shared& shared) const {
    int units_a = 0;
    int units_b = 0;
    for (const Row& row : rows_)
      if (has(row, shared)) {
        units_a += is_unit(row.at(shared.a)) ? 1 : 0;
        units_b += is_unit(row.at(shared.b)) ? 1 : 0;
      }
    if (units_a >= units_b) return shared;
    return {shared.b, shared.a, quotient(Literal(1), shared.ratio), shared.rows};
  }

  void extract(const Shared& shared) {
    const int value = add_step({shared.ratio, shared.b, 1, shared.a});
    for (Row& row : rows_) {
      if (!has(row, shared)) continue;
      const Literal coefficient = row.at(shared.a);
      row.erase(shared.a);
      row.erase(shared.b);
      row.emplace(value, coefficient);
    }
  }

  int add_step(LinearStep step) {
    // -a + b is b - a, which every machine has
    if (step.factor.is(-1) && step.sign == 1) step = {Literal(1), step.b, -1, step.a};
    if (step.factor.is(1) && step.sign == 1 && step.a > step.b) std::swap(step.a, step.b);
    const auto at = std::ranges::find(code_.steps, step) - code_.steps.begin();
    if (at == std::ssize(code_.steps)) code_.steps.push_back(step);
    return code_.inputs + static_cast<int>(at);
  }

  // Starts with a term that needs no multiplication, if there is one.
  int sum(const Row& row) {
    HONE_CHECK(!row.empty(), "a row is not all zero");
    std::vector<std::pair<int, Literal>> terms(row.begin(), row.end());
    const auto rank = [](const auto& term) {
      return term.second.is(1) ? 0 : term.second.is(-1) ? 1 : 2;
    };
    std::ranges::stable_sort(terms, {}, rank);
    const auto [first, coefficient] = terms[0];
    if (terms.size() == 1) return coefficient.is(1) ? first : add_step({coefficient, first, 0, -1});
    int total = 0;
    size_t next = 1;
    if (is_unit(coefficient)) {
      total = add_step({terms[1].second, terms[1].first, coefficient.is(1) ? 1 : -1, first});
      next = 2;
    } else {
      total = add_step({coefficient, first, 0, -1});
    }
    for (; next < terms.size(); ++next)
      total = add_step({terms[next].second, terms[next].first, 1, total});
    return total;
  }

  LinearCode code_;
  std::vector<Row> rows_;
};

}  // namespace

int LinearCode::multiplications() const {
  return static_cast<int>(
      std::ranges::count_if(steps, [](const LinearStep& step) { return !is_unit(step.factor); }));
}

LinearCode linear_code(const LiteralMatrix& matrix) { return Builder(matrix).run(); }

std::string to_text(const LinearCode& code) {
  const auto name = [&](int value) {
    return (value < code.inputs ? "x" : "t") + std::to_string(value);
  };
  std::string text;
  for (size_t i = 0; i < code.steps.size(); ++i) {
    const LinearStep& step = code.steps[i];
    text += name(code.inputs + static_cast<int>(i)) + " = ";
    if (step.factor.is(-1)) text += "-";
    if (!is_unit(step.factor)) text += step.factor.to_string() + "*";
    text += name(step.a);
    if (step.sign != 0) text += (step.sign > 0 ? " + " : " - ") + name(step.b);
    text += "\n";
  }
  for (size_t i = 0; i < code.outputs.size(); ++i)
    text += "y" + std::to_string(i) + " = " + name(code.outputs[i]) + "\n";
  return text;
}

}  // namespace hone
