// Floor-div and mod of polynomials. Everything rests on one identity, true for all integers b != 0:
//   floor((q*b + r) / b) = q + floor(r / b),    (q*b + r) mod b = r mod b
// so q is split off by polynomial division and only the remainder r stays under the operator.
#include <algorithm>
#include <numeric>

#include "support/error.h"
#include "tensor/dim_builder.h"

namespace hone {
namespace {

using Kind = DimAtom::Kind;
using Factors = std::vector<DimAtomRef>;

bool atom_less(const DimAtomRef& a, const DimAtomRef& b) { return compare(*a, *b) < 0; }

// All terms, the constant as a term without factors, leading term first.
std::vector<DimTerm> all_terms(const Dim& dim) {
  std::vector<DimTerm> terms = dim.terms();
  if (dim.constant_part() != 0) terms.push_back({dim.constant_part(), {}});
  return terms;
}

// The factors of a without those of b, when a has them all.
std::optional<Factors> divide_factors(const Factors& a, const Factors& b) {
  if (!std::includes(a.begin(), a.end(), b.begin(), b.end(), atom_less)) return std::nullopt;
  Factors rest;
  std::set_difference(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(rest), atom_less);
  return rest;
}

struct Division {
  Dim quotient, remainder;
};

// a = quotient*b + remainder, where no term of the remainder is a multiple of b's leading
// monomial with a coefficient outside [0, leading coefficient). That makes the remainder unique,
// hence (a + q*b)/b and q + a/b the same Dim. The leading coefficient of b must be positive.
Division divide(const Dim& a, const Dim& b) {
  const DimTerm lead = all_terms(b).front();
  Division result{0, a};
  for (bool changed = true; changed;) {
    changed = false;
    // A step only touches the term at hand and smaller ones, so the loop ends.
    for (const DimTerm& term : all_terms(result.remainder)) {
      auto factors = divide_factors(term.factors, lead.factors);
      if (!factors) continue;
      const int64_t times = floor_div(term.coefficient, lead.coefficient);
      if (times == 0) continue;
      const Dim step = DimBuilder::from_term({times, std::move(*factors)});
      result.quotient += step;
      result.remainder -= step * b;
      changed = true;
      break;
    }
  }
  return result;
}

int64_t gcd_with(int64_t gcd, int64_t number) {
  return std::gcd(gcd, number < 0 ? checked_sub(0, number) : number);
}

// Of the coefficients, without the constant.
int64_t content(const Dim& dim) {
  int64_t gcd = 0;
  for (const DimTerm& term : dim.terms()) gcd = gcd_with(gcd, term.coefficient);
  return gcd;
}

// The monomial that divides every term of a and b.
Factors common_factors(const Dim& a, const Dim& b) {
  std::vector<DimTerm> terms = all_terms(a), more = all_terms(b);
  terms.insert(terms.end(), more.begin(), more.end());
  Factors common = terms.front().factors;
  for (const DimTerm& term : terms) {
    Factors both;
    std::set_intersection(common.begin(), common.end(), term.factors.begin(), term.factors.end(),
                          std::back_inserter(both), atom_less);
    common = std::move(both);
  }
  return common;
}

// dim / (number * factors), rounded down in the constant.
Dim cancel(const Dim& dim, int64_t number, const Factors& factors) {
  std::vector<DimTerm> terms;
  for (const DimTerm& term : all_terms(dim)) {
    terms.push_back({floor_div(term.coefficient, number), *divide_factors(term.factors, factors)});
  }
  return DimBuilder::from_terms(0, std::move(terms));
}

// The fraction (scale*top + rest) / (scale*bottom) in lowest terms; 0 <= rest < number in scale.
// floor of it is floor(top / bottom), and its remainder is scale*(top mod bottom) + rest.
struct Fraction {
  Dim scale, top, bottom;
  int64_t rest;
};

Fraction reduce(const Dim& a, const Dim& b) {
  const Factors factors = common_factors(a, b);
  int64_t number = std::gcd(content(a), gcd_with(content(b), b.constant_part()));
  // Rounding the constant needs a positive divisor: floor(floor(x/g)/b) = floor(x/(g*b)) if b > 0.
  if (!is_nonnegative(b)) number = gcd_with(number, a.constant_part());
  return {DimBuilder::from_term({number, factors}), cancel(a, number, factors),
          cancel(b, number, factors), floor_mod(a.constant_part(), number)};
}

// floor((floor(x/d) + s) / b) = floor((x + d*s) / (d*b)) if b > 0. Only for a single floor-div:
// with several there would be no canonical choice.
std::optional<Dim> unnest_floor_div(const Dim& a, const Dim& b) {
  if (!is_nonnegative(b)) return std::nullopt;
  const DimTerm* inner = nullptr;
  for (const DimTerm& term : a.terms()) {
    for (const DimAtomRef& factor : term.factors) {
      if (factor->kind != Kind::kFloorDiv) continue;
      if (inner != nullptr || term.coefficient != 1 || term.factors.size() != 1) {
        return std::nullopt;
      }
      inner = &term;
    }
  }
  if (inner == nullptr) return std::nullopt;
  const Dim& x = inner->factors[0]->left;
  const Dim& d = inner->factors[0]->right;
  const Dim s = a - DimBuilder::from_term(*inner);
  return floor_div(x + d * s, d * b);
}

// k*(x mod d) = k*x (mod b) if b divides d.
Dim unnest_mod(const Dim& a, const Dim& b) {
  if (!b.is_const()) return a;
  Dim result = a;
  for (const DimTerm& term : a.terms()) {
    const DimAtom& atom = *term.factors[0];
    const bool applies = term.factors.size() == 1 && atom.kind == Kind::kMod &&
                         atom.right.is_const() && floor_mod(atom.right.value(), b.value()) == 0;
    if (applies) result += term.coefficient * atom.left - DimBuilder::from_term(term);
  }
  return result;
}

// floor(r / b) when bounds decide it: 0 if 0 <= r < b, -1 if -b <= r < 0. A divisor is not 0, so
// that b >= 0 means b >= 1, which settles r = 0 and r = -1.
std::optional<int64_t> bounded_quotient(const Dim& r, const Dim& b) {
  if (r.is(0)) return 0;
  if (r.is(-1) && is_nonnegative(b)) return -1;
  if (is_nonnegative(r) && is_at_least(b, r + 1)) return 0;
  if (is_nonnegative(-r - 1) && is_at_least(b, -r)) return -1;
  return std::nullopt;
}

bool leads_negative(const Dim& dim) { return all_terms(dim).front().coefficient < 0; }

}  // namespace

Dim floor_div(const Dim& a, const Dim& b) {
  if (b.is(0)) throw_invalid("dimension " + a.to_string() + " is divided by 0");
  if (a.is_const() && b.is_const()) return floor_div(a.value(), b.value());
  if (leads_negative(b)) return floor_div(-a, -b);
  const auto [quotient, remainder] = divide(a, b);
  if (const auto bounded = bounded_quotient(remainder, b)) return quotient + *bounded;
  const Fraction fraction = reduce(remainder, b);
  if (!fraction.scale.is(1)) return quotient + floor_div(fraction.top, fraction.bottom);
  if (const auto flat = unnest_floor_div(remainder, b)) return quotient + *flat;
  return quotient + DimBuilder::from_atom({Kind::kFloorDiv, {}, remainder, b});
}

Dim mod(const Dim& a, const Dim& b) {
  if (b.is(0)) throw_invalid("dimension " + a.to_string() + " is taken modulo 0");
  if (a.is_const() && b.is_const()) return floor_mod(a.value(), b.value());
  if (leads_negative(b)) return -mod(-a, -b);
  const Dim flat = unnest_mod(a, b);
  if (flat != a) return mod(flat, b);
  const Dim remainder = divide(a, b).remainder;
  if (const auto bounded = bounded_quotient(remainder, b)) return remainder - *bounded * b;
  const Fraction fraction = reduce(remainder, b);
  if (!fraction.scale.is(1)) {
    return fraction.scale * mod(fraction.top, fraction.bottom) + fraction.rest;
  }
  return DimBuilder::from_atom({Kind::kMod, {}, remainder, b});
}

Dim ceil_div(const Dim& a, const Dim& b) {
  // The first form reads better, "(N + 1)/2"; it holds for b > 0 only.
  return is_nonnegative(b) ? floor_div(a + b - 1, b) : -floor_div(-a, b);
}

}  // namespace hone
