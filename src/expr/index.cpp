#include "expr/index.h"

#include <algorithm>
#include <utility>

#include "expr/scalar.h"
#include "support/error.h"
#include "support/hash.h"

namespace hone {
namespace {

int compare_atoms(const IndexAtom& a, const IndexAtom& b) {
  if (a.kind != b.kind) return a.kind < b.kind ? -1 : 1;
  switch (a.kind) {
    case IndexAtom::Kind::kAxis:
      return a.axis == b.axis ? 0 : a.axis < b.axis ? -1 : 1;
    case IndexAtom::Kind::kFloorDiv:
    case IndexAtom::Kind::kMod:
      if (const int c = compare(a.divisor, b.divisor)) return c;
      return compare(a.left, b.left);
    case IndexAtom::Kind::kMin:
    case IndexAtom::Kind::kMax:
      if (const int c = compare(a.left, b.left)) return c;
      return compare(a.right, b.right);
    case IndexAtom::Kind::kTable:
      if (a.table != b.table) return a.table < b.table ? -1 : 1;
      return compare(a.left, b.left);
    case IndexAtom::Kind::kValue:
      if (Scalar(a.read) == Scalar(b.read)) return 0;
      return a.read->hash < b.read->hash ? -1 : 1;
  }
  return 0;
}

uint64_t hash_atom(const IndexAtom& atom) {
  const auto kind = static_cast<uint64_t>(atom.kind);
  switch (atom.kind) {
    case IndexAtom::Kind::kAxis:
      return combine_hash(kind, static_cast<uint64_t>(atom.axis.value));
    case IndexAtom::Kind::kFloorDiv:
    case IndexAtom::Kind::kMod:
      return combine_hash(combine_hash(kind, atom.left.hash()), atom.divisor.hash());
    case IndexAtom::Kind::kMin:
    case IndexAtom::Kind::kMax:
      return combine_hash(combine_hash(kind, atom.left.hash()), atom.right.hash());
    case IndexAtom::Kind::kTable:
      return combine_hash(combine_hash(kind, static_cast<uint64_t>(atom.table.value)),
                          atom.left.hash());
    case IndexAtom::Kind::kValue:
      return combine_hash(kind, atom.read->hash);
  }
  return kind;
}

bool divides(const Dim& divisor, const Dim& value) {
  return floor_div(value, divisor) * divisor == value;
}

void check_divisor(const Dim& divisor) {
  if (divisor.is_const() && divisor.value() <= 0)
    throw_invalid("an index is divided by " + divisor.to_string());
}

}  // namespace

struct IndexBuilder {
  static Index of_atom(IndexAtom atom) {
    Index index;
    index.terms_.push_back({Dim(1), std::make_shared<const IndexAtom>(std::move(atom))});
    return index;
  }

  static void add(Index& to, const Index& from, const Dim& factor) {
    to.offset_ += from.offset_ * factor;
    for (const IndexTerm& term : from.terms_) add_term(to, term.atom, term.coefficient * factor);
  }

  static void add_term(Index& to, const IndexAtomRef& atom, const Dim& coefficient) {
    const auto before = [](const IndexTerm& term, const IndexAtomRef& key) {
      return compare_atoms(*term.atom, *key) < 0;
    };
    auto at = std::lower_bound(to.terms_.begin(), to.terms_.end(), atom, before);
    if (at == to.terms_.end() || compare_atoms(*at->atom, *atom) != 0) {
      if (!coefficient.is(0)) to.terms_.insert(at, {coefficient, atom});
      return;
    }
    at->coefficient += coefficient;
    if (at->coefficient.is(0)) to.terms_.erase(at);
  }

  // index = multiple * divisor + rest, with every divisible term in `multiple`.
  static void split(const Index& index, const Dim& divisor, Index& multiple, Index& rest) {
    for (const IndexTerm& term : index.terms_) {
      if (divides(divisor, term.coefficient))
        add_term(multiple, term.atom, floor_div(term.coefficient, divisor));
      else
        add_term(rest, term.atom, term.coefficient);
    }
    const Dim whole = floor_div(index.offset_, divisor);
    if (whole * divisor == index.offset_ || divisor.is_const()) {
      // A constant divisor also takes the constant part's multiple, keeping 0 <= rest < divisor.
      const Dim part =
          divisor.is_const() && !index.offset_.is_const() && !(whole * divisor == index.offset_)
              ? Dim(floor_div(index.offset_.constant_part(), divisor.value()))
              : whole;
      multiple.offset_ += part;
      rest.offset_ += index.offset_ - part * divisor;
    } else {
      rest.offset_ += index.offset_;
    }
  }
};

Index::Index(AxisId axis) {
  *this = IndexBuilder::of_atom({IndexAtom::Kind::kAxis, axis, {}, {}, {}, {}, {}});
}

Index Index::table(TableId table, Index position) {
  return IndexBuilder::of_atom(
      {IndexAtom::Kind::kTable, {}, std::move(position), {}, {}, table, {}});
}

Index Index::value(Scalar read) {
  const auto kind = read->kind;
  if (kind == ScalarNode::Kind::kIndex) return read->index;
  if (kind == ScalarNode::Kind::kLiteral) {
    if (const auto number = read->literal.to_int()) return {*number};
  }
  if (!is_integer(read.type())) throw_invalid("an index value must be an integer");
  return IndexBuilder::of_atom({IndexAtom::Kind::kValue, {}, {}, {}, {}, {}, read.node()});
}

const AxisId* Index::as_axis() const {
  if (terms_.size() != 1 || !offset_.is(0) || !terms_[0].coefficient.is(1)) return nullptr;
  const IndexAtom& atom = *terms_[0].atom;
  return atom.kind == IndexAtom::Kind::kAxis ? &atom.axis : nullptr;
}

bool Index::is_affine() const {
  return std::all_of(terms_.begin(), terms_.end(), [](const IndexTerm& term) {
    return term.atom->kind == IndexAtom::Kind::kAxis;
  });
}

Dim Index::coefficient(AxisId axis) const {
  for (const IndexTerm& term : terms_)
    if (term.atom->kind == IndexAtom::Kind::kAxis && term.atom->axis == axis)
      return term.coefficient;
  return {0};
}

namespace {

bool scalar_mentions(const ScalarNode& node, AxisId axis) {
  const auto in_index = [&](const Index& index) { return index.mentions(axis); };
  if (node.index.mentions(axis)) return true;
  if (std::any_of(node.indices.begin(), node.indices.end(), in_index)) return true;
  if (node.outside && scalar_mentions(*node.outside, axis)) return true;
  return std::any_of(node.args.begin(), node.args.end(),
                     [&](const Scalar& arg) { return scalar_mentions(*arg, axis); });
}

}  // namespace

bool Index::mentions(AxisId axis) const {
  return std::any_of(terms_.begin(), terms_.end(), [&](const IndexTerm& term) {
    const IndexAtom& atom = *term.atom;
    if (atom.kind == IndexAtom::Kind::kAxis) return atom.axis == axis;
    if (atom.read && scalar_mentions(*atom.read, axis)) return true;
    return atom.left.mentions(axis) || atom.right.mentions(axis);
  });
}

uint64_t Index::hash() const {
  uint64_t h = offset_.hash();
  for (const IndexTerm& term : terms_)
    h = combine_hash(combine_hash(h, term.coefficient.hash()), hash_atom(*term.atom));
  return h;
}

int compare(const Index& a, const Index& b) {
  if (a.terms_.size() != b.terms_.size()) return a.terms_.size() < b.terms_.size() ? -1 : 1;
  for (size_t i = 0; i < a.terms_.size(); ++i) {
    if (const int c = compare_atoms(*a.terms_[i].atom, *b.terms_[i].atom)) return c;
    if (const int c = compare(a.terms_[i].coefficient, b.terms_[i].coefficient)) return c;
  }
  return compare(a.offset_, b.offset_);
}

bool operator==(const Index& a, const Index& b) { return compare(a, b) == 0; }

Index operator+(const Index& a, const Index& b) {
  Index sum = a;
  IndexBuilder::add(sum, b, 1);
  return sum;
}

Index operator-(const Index& a, const Index& b) {
  Index difference = a;
  IndexBuilder::add(difference, b, -1);
  return difference;
}

Index operator*(const Index& a, const Dim& factor) {
  Index product;
  IndexBuilder::add(product, a, factor);
  return product;
}

// (m*d + r) / d = m + r / d
Index floor_div(const Index& a, const Dim& divisor) {
  check_divisor(divisor);
  if (divisor.is(1)) return a;
  Index multiple;
  Index rest;
  IndexBuilder::split(a, divisor, multiple, rest);
  if (rest.is_const()) return multiple + Index(floor_div(rest.offset_, divisor));
  return multiple + IndexBuilder::of_atom(
                        {IndexAtom::Kind::kFloorDiv, {}, std::move(rest), {}, divisor, {}, {}});
}

// (m*d + r) % d = r % d
Index mod(const Index& a, const Dim& divisor) {
  check_divisor(divisor);
  if (divisor.is(1)) return {0};
  Index multiple;
  Index rest;
  IndexBuilder::split(a, divisor, multiple, rest);
  if (rest.is_const()) return {mod(rest.offset_, divisor)};
  return IndexBuilder::of_atom({IndexAtom::Kind::kMod, {}, std::move(rest), {}, divisor, {}, {}});
}

namespace {

Index choose(IndexAtom::Kind kind, const Index& a, const Index& b) {
  const Index difference = a - b;
  if (difference.is_const()) {
    if (difference.offset().is_const()) {
      const bool a_less = difference.offset().value() < 0;
      return a_less == (kind == IndexAtom::Kind::kMin) ? a : b;
    }
    if (a.is_const() && b.is_const())
      return kind == IndexAtom::Kind::kMin ? Index(min(a.offset(), b.offset()))
                                           : Index(max(a.offset(), b.offset()));
  }
  const bool swap = compare(b, a) < 0;
  return IndexBuilder::of_atom({kind, {}, swap ? b : a, swap ? a : b, {}, {}, {}});
}

}  // namespace

Index min(const Index& a, const Index& b) { return choose(IndexAtom::Kind::kMin, a, b); }
Index max(const Index& a, const Index& b) { return choose(IndexAtom::Kind::kMax, a, b); }

namespace {

Dim apply_symbols(const Dim& dim, const Substitution& how) {
  return how.symbols == nullptr ? dim : dim.substitute(*how.symbols);
}

Index substitute_atom(const IndexAtomRef& ref, const Substitution& how) {
  const IndexAtom& atom = *ref;
  switch (atom.kind) {
    case IndexAtom::Kind::kAxis:
      return how.axis ? how.axis(atom.axis) : Index(atom.axis);
    case IndexAtom::Kind::kFloorDiv:
      return floor_div(substitute(atom.left, how), apply_symbols(atom.divisor, how));
    case IndexAtom::Kind::kMod:
      return mod(substitute(atom.left, how), apply_symbols(atom.divisor, how));
    case IndexAtom::Kind::kMin:
      return min(substitute(atom.left, how), substitute(atom.right, how));
    case IndexAtom::Kind::kMax:
      return max(substitute(atom.left, how), substitute(atom.right, how));
    case IndexAtom::Kind::kTable:
      return Index::table(how.table ? how.table(atom.table) : atom.table,
                          substitute(atom.left, how));
    case IndexAtom::Kind::kValue:
      return Index::value(substitute(Scalar(atom.read), how));
  }
  return {};
}

}  // namespace

Index substitute(const Index& index, const Substitution& how) {
  Index result(apply_symbols(index.offset(), how));
  for (const IndexTerm& term : index.terms())
    IndexBuilder::add(result, substitute_atom(term.atom, how),
                      apply_symbols(term.coefficient, how));
  return result;
}

}  // namespace hone
