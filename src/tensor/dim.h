// A symbolic dimension: a polynomial with integer coefficients in symbols and in floor-div, mod,
// min and max of such polynomials. Canonical: equal polynomials compare equal.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace hone {

class Dim;
struct DimAtom;
using DimAtomRef = std::shared_ptr<const DimAtom>;

// coefficient * product of atoms (sorted; powers repeat the atom)
struct DimTerm {
  int64_t coefficient;
  std::vector<DimAtomRef> factors;
};

class Dim {
 public:
  Dim(int64_t value = 0) : constant_(value) {}  // NOLINT: numbers are dimensions
  static Dim symbol(std::string name);

  [[nodiscard]] bool is_const() const { return terms_ == nullptr; }
  [[nodiscard]] bool is(int64_t value) const { return is_const() && constant_ == value; }
  // Only of a constant.
  [[nodiscard]] int64_t value() const;
  // The constant part of the polynomial.
  [[nodiscard]] int64_t constant_part() const { return constant_; }
  // The other terms, sorted; empty for a constant.
  [[nodiscard]] const std::vector<DimTerm>& terms() const;

  [[nodiscard]] std::string to_string() const;  // "2*N + H/2 - 1"; "/" is floor-div, "%" is mod
  [[nodiscard]] uint64_t hash() const;
  void collect_symbols(std::set<std::string>& out) const;
  [[nodiscard]] Dim substitute(const std::map<std::string, Dim>& values) const;
  // The number, when every symbol has one.
  [[nodiscard]] std::optional<int64_t> evaluate(const std::map<std::string, int64_t>& values) const;

  friend bool operator==(const Dim& a, const Dim& b);
  // A total order for sorting; no meaning.
  friend int compare(const Dim& a, const Dim& b);

  friend Dim operator+(const Dim& a, const Dim& b);
  friend Dim operator-(const Dim& a, const Dim& b);
  friend Dim operator*(const Dim& a, const Dim& b);
  friend Dim operator-(const Dim& a) { return Dim(0) - a; }
  Dim& operator+=(const Dim& b) { return *this = *this + b; }
  Dim& operator-=(const Dim& b) { return *this = *this - b; }
  Dim& operator*=(const Dim& b) { return *this = *this * b; }

 private:
  friend struct DimBuilder;
  int64_t constant_;
  std::shared_ptr<const std::vector<DimTerm>> terms_;
};

struct DimAtom {
  enum class Kind : uint8_t { kSymbol, kFloorDiv, kMod, kMin, kMax } kind;
  std::string name;  // of a symbol
  Dim left, right;   // of the others
};
int compare(const DimAtom& a, const DimAtom& b);

// Rounds toward minus infinity; exact multiples and constants are simplified. Dividing by the
// constant 0 throws a Failure, and so does overflow of a coefficient, in any operation.
[[nodiscard]] Dim floor_div(const Dim& a, const Dim& b);
[[nodiscard]] Dim ceil_div(const Dim& a, const Dim& b);
[[nodiscard]] Dim mod(const Dim& a, const Dim& b);
[[nodiscard]] Dim min(const Dim& a, const Dim& b);
[[nodiscard]] Dim max(const Dim& a, const Dim& b);

// True when provable from "symbols are integers >= 0 and divisors are not 0"; false is no proof
// of the contrary.
[[nodiscard]] bool is_nonnegative(const Dim& dim);
[[nodiscard]] bool is_at_least(const Dim& a, const Dim& b);

// Integer helpers with the same rounding.
[[nodiscard]] int64_t floor_div(int64_t a, int64_t b);
[[nodiscard]] int64_t floor_mod(int64_t a, int64_t b);

using Shape = std::vector<Dim>;

[[nodiscard]] std::string to_string(const Shape& shape);  // "[N, 3, 224, 224]"
[[nodiscard]] Dim element_count(const Shape& shape);
[[nodiscard]] bool is_const(const Shape& shape);
[[nodiscard]] Shape to_shape(const std::vector<int64_t>& dims);
// The numbers, when all are known.
[[nodiscard]] std::optional<std::vector<int64_t>> to_ints(const Shape& shape);

// Solves declared = actual for symbols: a plain symbol is bound (or must agree with its binding),
// anything else is only compared afterwards. False when they contradict.
bool unify(const Shape& declared, const std::vector<int64_t>& actual,
           std::map<std::string, int64_t>& bindings);

}  // namespace hone
