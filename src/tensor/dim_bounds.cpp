// What can be proved about the sign of a Dim, and min and max, which live on such proofs.
#include <algorithm>

#include "tensor/dim_builder.h"

namespace hone {
namespace {

using Kind = DimAtom::Kind;

bool is_nonnegative(const DimAtom& atom) {
  switch (atom.kind) {
    case Kind::kSymbol:
      return true;
    case Kind::kFloorDiv:
      return is_nonnegative(atom.left) && is_nonnegative(atom.right);
    case Kind::kMod:
      return is_nonnegative(atom.right);  // 0 <= a % b < b
    case Kind::kMin:
      return is_nonnegative(atom.left) && is_nonnegative(atom.right);
    case Kind::kMax:
      return is_nonnegative(atom.left) || is_nonnegative(atom.right);
  }
  return false;
}

// a - b >= 0, where the constants may be so far apart that their difference overflows.
bool difference_is_nonnegative(const Dim& a, const Dim& b) {
  int64_t constant;
  if (__builtin_sub_overflow(a.constant_part(), b.constant_part(), &constant)) {
    constant = a.constant_part() > b.constant_part() ? INT64_MAX : INT64_MIN;
  }
  if (constant < 0) return false;
  return is_nonnegative(DimBuilder::from_sorted(0, a.terms()) -
                        DimBuilder::from_sorted(0, b.terms()));
}

// min and max are associative, so min(a, min(b, c)) is kept as a list of operands.
void collect_operands(Kind kind, const Dim& dim, std::vector<Dim>& out) {
  const DimAtom* atom = as_atom(dim);
  if (atom == nullptr || atom->kind != kind) {
    out.push_back(dim);
    return;
  }
  collect_operands(kind, atom->left, out);
  collect_operands(kind, atom->right, out);
}

// x absorbs y when kind(x, y) = x.
bool absorbs(Kind kind, const Dim& x, const Dim& y) {
  return kind == Kind::kMin ? is_at_least(y, x) : is_at_least(x, y);
}

Dim extremum(Kind kind, const Dim& a, const Dim& b) {
  std::vector<Dim> operands;
  collect_operands(kind, a, operands);
  collect_operands(kind, b, operands);
  // Sorted before absorption too: the survivors must not depend on the order of a and b.
  std::sort(operands.begin(), operands.end(),
            [](const Dim& x, const Dim& y) { return compare(x, y) < 0; });
  std::vector<Dim> kept;
  for (const Dim& operand : operands) {
    const bool absorbed = std::any_of(
        kept.begin(), kept.end(), [&](const Dim& other) { return absorbs(kind, other, operand); });
    if (absorbed) continue;
    std::erase_if(kept, [&](const Dim& other) { return absorbs(kind, operand, other); });
    kept.push_back(operand);
  }
  Dim result = kept.back();
  for (size_t i = kept.size() - 1; i-- > 0;) {
    result = DimBuilder::from_atom({kind, {}, kept[i], result});
  }
  return result;
}

}  // namespace

bool is_nonnegative(const Dim& dim) {
  return dim.constant_part() >= 0 && std::ranges::all_of(dim.terms(), [](const DimTerm& term) {
           return term.coefficient > 0 && std::ranges::all_of(term.factors, [](const auto& factor) {
                    return is_nonnegative(*factor);
                  });
         });
}

bool is_at_least(const Dim& a, const Dim& b) {
  // Dimensions are 64-bit numbers: "to the end" of a slice is a bound without effect.
  if (a.is(INT64_MAX) || b.is(INT64_MIN)) return true;
  if (difference_is_nonnegative(a, b)) return true;
  const DimAtom* lower = as_atom(b);
  if (lower != nullptr && lower->kind == Kind::kMax) {
    return is_at_least(a, lower->left) && is_at_least(a, lower->right);
  }
  if (lower != nullptr && lower->kind == Kind::kMin) {
    if (is_at_least(a, lower->left) || is_at_least(a, lower->right)) return true;
  }
  const DimAtom* upper = as_atom(a);
  if (upper != nullptr && upper->kind == Kind::kMin) {
    return is_at_least(upper->left, b) && is_at_least(upper->right, b);
  }
  if (upper != nullptr && upper->kind == Kind::kMax) {
    return is_at_least(upper->left, b) || is_at_least(upper->right, b);
  }
  return false;
}

Dim min(const Dim& a, const Dim& b) { return extremum(Kind::kMin, a, b); }

Dim max(const Dim& a, const Dim& b) { return extremum(Kind::kMax, a, b); }

}  // namespace hone
