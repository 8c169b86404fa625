// Inside of Dim: the one place that makes canonical polynomials. Only for src/tensor/dim*.cpp.
#pragma once

#include <utility>
#include <vector>

#include "tensor/dim.h"

namespace hone {

// Arithmetic on coefficients: a Failure instead of a wrapped result.
int64_t checked_add(int64_t a, int64_t b);
int64_t checked_sub(int64_t a, int64_t b);
int64_t checked_mul(int64_t a, int64_t b);

// Graded lexicographic order: more factors first, then the smaller atom first. It is a monomial
// order (a < b implies a*c < b*c), which is what makes polynomial division well defined.
int compare_factors(const std::vector<DimAtomRef>& a, const std::vector<DimAtomRef>& b);

struct DimBuilder {
  // Canonical already: terms sorted, distinct, with factors and without zero coefficients.
  static Dim from_sorted(int64_t constant, std::vector<DimTerm> terms);
  // Any terms with sorted factors; like terms are collected, bare numbers join the constant.
  static Dim from_terms(int64_t constant, std::vector<DimTerm> terms);
  static Dim from_term(DimTerm term) { return from_terms(0, {std::move(term)}); }
  // The polynomial of one atom.
  static Dim from_atom(DimAtom atom);
  static bool shares_terms(const Dim& a, const Dim& b) { return a.terms_ == b.terms_; }
};

// The atom, when the polynomial is exactly one atom with coefficient 1; else null.
const DimAtom* as_atom(const Dim& dim);

}  // namespace hone
