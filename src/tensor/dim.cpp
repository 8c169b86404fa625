#include "tensor/dim.h"

#include <algorithm>
#include <iterator>

#include "support/check.h"
#include "support/error.h"
#include "support/hash.h"
#include "tensor/dim_builder.h"

namespace hone {
namespace {

[[noreturn]] void throw_overflow(const char* operation, int64_t a, int64_t b) {
  throw_invalid("a dimension does not fit in 64 bits: " + std::to_string(a) + " " + operation +
                " " + std::to_string(b));
}

// Dimensions share their parts, so a model of forty nodes could state one whose text does not fit
// into memory. Every operation goes over all parts, and so their number is limited.
constexpr size_t kMostParts = 4096;

[[noreturn]] void throw_too_long() {
  throw_unsupported("a symbolic dimension has more than " + std::to_string(kMostParts) + " parts");
}

size_t parts_of(const std::vector<DimTerm>& terms) {
  size_t parts = terms.size();
  for (const DimTerm& term : terms)
    for (const DimAtomRef& atom : term.factors)
      parts += 1 + parts_of(atom->left.terms()) + parts_of(atom->right.terms());
  return parts;
}

}  // namespace

int64_t checked_add(int64_t a, int64_t b) {
  int64_t sum;
  if (__builtin_add_overflow(a, b, &sum)) throw_overflow("+", a, b);
  return sum;
}

int64_t checked_sub(int64_t a, int64_t b) {
  int64_t difference;
  if (__builtin_sub_overflow(a, b, &difference)) throw_overflow("-", a, b);
  return difference;
}

int64_t checked_mul(int64_t a, int64_t b) {
  int64_t product;
  if (__builtin_mul_overflow(a, b, &product)) throw_overflow("*", a, b);
  return product;
}

int64_t floor_div(int64_t a, int64_t b) {
  if (b == 0) throw_invalid("a dimension is divided by 0");
  if (b == -1) return checked_sub(0, a);
  const int64_t quotient = a / b;
  return quotient - static_cast<int64_t>(a % b != 0 && (a < 0) != (b < 0));
}

int64_t floor_mod(int64_t a, int64_t b) {
  if (b == 0) throw_invalid("a dimension is taken modulo 0");
  if (b == -1) return 0;
  const int64_t remainder = a % b;
  return remainder != 0 && (remainder < 0) != (b < 0) ? remainder + b : remainder;
}

int compare(const DimAtom& a, const DimAtom& b) {
  if (a.kind != b.kind) return a.kind < b.kind ? -1 : 1;
  if (a.kind == DimAtom::Kind::kSymbol) return a.name.compare(b.name);
  const int left = compare(a.left, b.left);
  return left != 0 ? left : compare(a.right, b.right);
}

int compare_factors(const std::vector<DimAtomRef>& a, const std::vector<DimAtomRef>& b) {
  if (a.size() != b.size()) return a.size() > b.size() ? -1 : 1;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i] == b[i]) continue;
    if (const int order = compare(*a[i], *b[i]); order != 0) return order;
  }
  return 0;
}

Dim DimBuilder::from_sorted(int64_t constant, std::vector<DimTerm> terms) {
  Dim dim(constant);
  if (parts_of(terms) > kMostParts) throw_too_long();
  if (!terms.empty()) dim.terms_ = std::make_shared<std::vector<DimTerm>>(std::move(terms));
  return dim;
}

Dim DimBuilder::from_terms(int64_t constant, std::vector<DimTerm> terms) {
  std::sort(terms.begin(), terms.end(), [](const DimTerm& a, const DimTerm& b) {
    return compare_factors(a.factors, b.factors) < 0;
  });
  std::vector<DimTerm> collected;
  for (DimTerm& term : terms) {
    if (term.factors.empty()) {
      constant = checked_add(constant, term.coefficient);
    } else if (!collected.empty() && compare_factors(collected.back().factors, term.factors) == 0) {
      collected.back().coefficient = checked_add(collected.back().coefficient, term.coefficient);
    } else {
      collected.push_back(std::move(term));
    }
  }
  std::erase_if(collected, [](const DimTerm& term) { return term.coefficient == 0; });
  return from_sorted(constant, std::move(collected));
}

Dim DimBuilder::from_atom(DimAtom atom) {
  return from_sorted(0, {{1, {std::make_shared<const DimAtom>(std::move(atom))}}});
}

const DimAtom* as_atom(const Dim& dim) {
  const auto& terms = dim.terms();
  const bool single = dim.constant_part() == 0 && terms.size() == 1 && terms[0].coefficient == 1 &&
                      terms[0].factors.size() == 1;
  return single ? terms[0].factors[0].get() : nullptr;
}

Dim Dim::symbol(std::string name) {
  return DimBuilder::from_atom({DimAtom::Kind::kSymbol, std::move(name), {}, {}});
}

int64_t Dim::value() const {
  HONE_CHECK(is_const(), "a dimension that is not a number has no value: " + to_string());
  return constant_;
}

const std::vector<DimTerm>& Dim::terms() const {
  static const std::vector<DimTerm> none;
  return terms_ ? *terms_ : none;
}

bool operator==(const Dim& a, const Dim& b) { return compare(a, b) == 0; }

int compare(const Dim& a, const Dim& b) {
  if (!DimBuilder::shares_terms(a, b)) {
    const auto& left = a.terms();
    const auto& right = b.terms();
    if (left.size() != right.size()) return left.size() < right.size() ? -1 : 1;
    for (size_t i = 0; i < left.size(); ++i) {
      if (const int order = compare_factors(left[i].factors, right[i].factors)) return order;
      if (left[i].coefficient != right[i].coefficient) {
        return left[i].coefficient < right[i].coefficient ? -1 : 1;
      }
    }
  }
  return a.constant_ == b.constant_ ? 0 : a.constant_ < b.constant_ ? -1 : 1;
}

Dim operator+(const Dim& a, const Dim& b) {
  const int64_t constant = checked_add(a.constant_, b.constant_);
  if (b.is_const() || a.is_const()) {
    Dim sum = b.is_const() ? a : b;
    sum.constant_ = constant;
    return sum;
  }
  std::vector<DimTerm> terms = a.terms();
  terms.insert(terms.end(), b.terms().begin(), b.terms().end());
  return DimBuilder::from_terms(constant, std::move(terms));
}

Dim operator-(const Dim& a, const Dim& b) {
  const int64_t constant = checked_sub(a.constant_, b.constant_);
  std::vector<DimTerm> terms = a.terms();
  for (const DimTerm& term : b.terms()) {
    terms.push_back({checked_sub(0, term.coefficient), term.factors});
  }
  return DimBuilder::from_terms(constant, std::move(terms));
}

Dim operator*(const Dim& a, const Dim& b) {
  const int64_t constant = checked_mul(a.constant_, b.constant_);
  if (a.is_const() && b.is_const()) return constant;
  if (a.terms().size() * b.terms().size() > kMostParts) throw_too_long();
  std::vector<DimTerm> terms;
  for (const DimTerm& left : a.terms()) {
    for (const DimTerm& right : b.terms()) {
      DimTerm product{checked_mul(left.coefficient, right.coefficient), {}};
      std::merge(left.factors.begin(), left.factors.end(), right.factors.begin(),
                 right.factors.end(), std::back_inserter(product.factors),
                 [](const DimAtomRef& x, const DimAtomRef& y) { return compare(*x, *y) < 0; });
      terms.push_back(std::move(product));
    }
    terms.push_back({checked_mul(left.coefficient, b.constant_), left.factors});
  }
  for (const DimTerm& right : b.terms()) {
    terms.push_back({checked_mul(right.coefficient, a.constant_), right.factors});
  }
  return DimBuilder::from_terms(constant, std::move(terms));
}

}  // namespace hone
