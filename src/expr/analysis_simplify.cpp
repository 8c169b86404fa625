// Floor-div and mod by the laws of division with remainder. Throughout d, g > 0 and 0 <= v < g:
//   (d*m + r) / d = m + r/d               (d*m + r) % d = r % d
//   r / d = 0  and  r % d = r             if 0 <= r < d
//   (g*u + v) / (g*e) = u / e             (g*u + v) % (g*e) = g*(u % e) + v
//   (x/a + s) / b = (x + a*s) / (a*b)     (x % (a*b)) / a = (x/a) % b
//   (x % (a*b)) % b = x % b               d*(x/d) + x%d = x
#include <algorithm>
#include <numeric>

#include "expr/index_facts.h"

namespace hone {
namespace {

bool divides(const Dim& divisor, const Dim& value) {
  return floor_div(value, divisor) * divisor == value;
}

Index atom_index(const IndexAtomRef& ref);

Index term_index(const IndexTerm& term) { return atom_index(term.atom) * term.coefficient; }

// An atom as an index, as it is.
Index atom_index(const IndexAtomRef& ref) {
  const IndexAtom& atom = *ref;
  switch (atom.kind) {
    case IndexAtom::Kind::kAxis:
      return atom.axis;
    case IndexAtom::Kind::kFloorDiv:
      return floor_div(atom.left, atom.divisor);
    case IndexAtom::Kind::kMod:
      return mod(atom.left, atom.divisor);
    case IndexAtom::Kind::kMin:
      return min(atom.left, atom.right);
    case IndexAtom::Kind::kMax:
      return max(atom.left, atom.right);
    case IndexAtom::Kind::kTable:
      return Index::table(atom.table, atom.left);
    case IndexAtom::Kind::kValue:
      return Index::value(Scalar(atom.read));
  }
  return {};
}

// The only term of an index that has coefficient 1 and this kind; the offset may be anything.
const IndexAtom* sole_atom(const Index& index, IndexAtom::Kind kind) {
  if (index.terms().size() != 1 || !index.terms()[0].coefficient.is(1)) return nullptr;
  const IndexAtom& atom = *index.terms()[0].atom;
  return atom.kind == kind ? &atom : nullptr;
}

// The greatest number that divides every coefficient.
int64_t content(const Dim& dim) {
  int64_t result = dim.constant_part();
  for (const DimTerm& term : dim.terms()) result = std::gcd(result, term.coefficient);
  return result;
}

// Divisors g of d that some coefficient shares with it.
std::vector<Dim> common_divisors(const Index& index, const Dim& d) {
  std::vector<Dim> result;
  for (const IndexTerm& term : index.terms()) {
    const Dim& c = term.coefficient;
    Dim g = 1;
    if (c.is_const() && c.value() != INT64_MIN) g = std::gcd(c.value(), content(d));
    if (!c.is_const() && is_nonnegative(c) && divides(c, d)) g = c;
    if (!g.is(1) && !(g == d) && std::ranges::find(result, g) == result.end()) result.push_back(g);
  }
  return result;
}

int weight(const Index& index) {
  int total = index.offset().is(0) ? 0 : 1;
  for (const IndexTerm& term : index.terms()) {
    const IndexAtom& atom = *term.atom;
    total += atom.kind == IndexAtom::Kind::kAxis ? 1 : 4 + weight(atom.left) + weight(atom.right);
  }
  return total;
}

}  // namespace

IndexSplit split(const Index& index, const Dim& divisor) {
  IndexSplit result;
  for (const IndexTerm& term : index.terms()) {
    if (divides(divisor, term.coefficient))
      result.multiple =
          result.multiple + atom_index(term.atom) * floor_div(term.coefficient, divisor);
    else
      result.rest = result.rest + term_index(term);
  }
  const Dim& offset = index.offset();
  const Dim whole = floor_div(offset, divisor);
  if (divides(divisor, offset) || (divisor.is_const() && offset.is_const())) {
    result.multiple = result.multiple + Index(whole);
    result.rest = result.rest + Index(offset - whole * divisor);
  } else {
    result.rest = result.rest + Index(offset);
  }
  return result;
}

Index IndexFacts::divide(const Index& a, const Dim& d) {
  if (!at_least(d, 0) || d.is(0)) return floor_div(a, d);
  const auto [m, r] = split(a, d);
  if (within(r, 0, d - 1)) return m;
  if (const IndexAtom* inner = sole_atom(r, IndexAtom::Kind::kFloorDiv);
      inner != nullptr && at_least(inner->divisor, 0))
    return m + divide(inner->left + Index(r.offset() * inner->divisor), inner->divisor * d);
  if (const IndexAtom* inner = sole_atom(r, IndexAtom::Kind::kMod);
      inner != nullptr && r.offset().is(0) && divides(d, inner->divisor))
    return m + modulo(divide(inner->left, d), floor_div(inner->divisor, d));
  for (const Dim& g : common_divisors(r, d)) {
    const auto [u, v] = split(r, g);
    if (within(v, 0, g - 1)) return m + divide(u, floor_div(d, g));
  }
  return m + floor_div(r, d);
}

Index IndexFacts::modulo(const Index& a, const Dim& d) {
  if (!at_least(d, 0) || d.is(0)) return mod(a, d);
  Index flat(a.offset());
  for (const IndexTerm& term : a.terms()) {
    const IndexAtom& atom = *term.atom;
    const bool inner = atom.kind == IndexAtom::Kind::kMod && divides(d, atom.divisor);
    flat = flat + (inner ? atom.left : atom_index(term.atom)) * term.coefficient;
  }
  const Index r = split(flat, d).rest;
  if (within(r, 0, d - 1)) return r;
  for (const Dim& g : common_divisors(r, d)) {
    const auto [u, v] = split(r, g);
    if (within(v, 0, g - 1)) return modulo(u, floor_div(d, g)) * g + v;
  }
  return mod(r, d);
}

Index IndexFacts::choose(const Index& a, const Index& b, bool least) {
  const Range difference = range(a - b);
  if (difference.low && at_least(*difference.low, 0)) return least ? b : a;
  if (difference.high && at_least(0, *difference.high)) return least ? a : b;
  return least ? min(a, b) : max(a, b);
}

// y % b = y - b*(y/b), where that makes the sum simpler.
Index IndexFacts::recombine(Index sum) {
  for (bool changed = true; changed;) {
    changed = false;
    for (const IndexTerm& term : sum.terms()) {
      if (term.atom->kind != IndexAtom::Kind::kMod) continue;
      const Index& y = term.atom->left;
      const Dim& b = term.atom->divisor;
      Index other = sum - term_index(term) + (y - divide(y, b) * b) * term.coefficient;
      if (weight(other) >= weight(sum)) continue;
      sum = std::move(other);
      changed = true;
      break;
    }
  }
  return sum;
}

Index IndexFacts::simplify_atom(const IndexAtomRef& ref) {
  const IndexAtom& atom = *ref;
  switch (atom.kind) {
    case IndexAtom::Kind::kAxis:
      return atom.axis;
    case IndexAtom::Kind::kFloorDiv:
      return divide(simplify(atom.left), atom.divisor);
    case IndexAtom::Kind::kMod:
      return modulo(simplify(atom.left), atom.divisor);
    case IndexAtom::Kind::kMin:
    case IndexAtom::Kind::kMax:
      return choose(simplify(atom.left), simplify(atom.right), atom.kind == IndexAtom::Kind::kMin);
    case IndexAtom::Kind::kTable:
      return Index::table(atom.table, simplify(atom.left));
    case IndexAtom::Kind::kValue:
      return Index::value(simplify(Scalar(atom.read), nullptr));
  }
  return {};
}

// Numbers near the ends of 64 bits may overflow on the way; such an index stays as it is.
Index IndexFacts::simplify(const Index& index) {
  try {
    Index sum(index.offset());
    for (const IndexTerm& term : index.terms())
      sum = sum + simplify_atom(term.atom) * term.coefficient;
    return recombine(std::move(sum));
  } catch (const Failure&) {
    return index;
  }
}

Index simplify(const Index& index, const std::vector<Dim>& extents) {
  return IndexFacts(extents, {}).simplify(index);
}

}  // namespace hone
