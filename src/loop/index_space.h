// What is known of the integers of a kernel: the ranges of its loops, and the conditions that hold
// at a place. Integers are linear functions of atoms: counters of loops, lanes, and what is no such
// function (data, minima, quotients with a remainder).
//
// A counter that is divided with remainder becomes two atoms, quotient and remainder, which are as
// independent of each other as two loops: t / 4 and t % 4 with t < 12 are any of 0..2 and any of
// 0..3. So the digits of a task number are exact.
#pragma once

#include <map>
#include <vector>

#include "loop/linear.h"

namespace hone::loop {

class IndexSpace {
 public:
  struct Atom {
    Interval range;         // wherever it is defined
    Interval here;          // under the conditions that hold now
    bool exact = false;     // takes all values of its range, whatever the other exact atoms are
    bool parallel = false;  // a digit of the task's number
    bool of_task = false;   // may depend on the task in ways not known
    bool data = false;      // depends on the contents of a buffer
    bool split = false;     // replaced by `parts`
    int division = -1;      // quotient or remainder of this one
    Linear parts;
    std::vector<Linear> facts;  // each <= 0
  };

  int add(Atom atom);
  [[nodiscard]] const Atom& operator[](int id) const { return atoms_[static_cast<size_t>(id)]; }
  [[nodiscard]] int size() const { return static_cast<int>(atoms_.size()); }
  // In terms of atoms that are not split.
  [[nodiscard]] Linear resolve(const Linear& linear) const;

  // Bounds under all that is known. The search for a better one ends where `enough` is proven.
  [[nodiscard]] int64_t high(const Linear& linear, int64_t enough = -kFar) const;
  [[nodiscard]] int64_t low(const Linear& linear, int64_t enough = kFar) const;
  [[nodiscard]] Interval bounds(const Linear& linear) const { return {low(linear), high(linear)}; }
  // From the ranges of the atoms alone: those here, or those wherever they are defined.
  [[nodiscard]] Interval box(const Linear& linear, bool here = true) const;

  // linear / n and linear % n, n > 0, rounding down; exact where digits can be split off.
  struct Division {
    Linear quotient, remainder;
  };
  [[nodiscard]] Division divide(const Linear& linear, int64_t n);
  // Those whose parts are atoms of their own: dividend = by * quotient + remainder.
  struct OpaqueDivision {
    Linear dividend;
    int64_t by;
    int quotient, remainder;
  };
  [[nodiscard]] const OpaqueDivision& division(int id) const {
    return divisions_[static_cast<size_t>(id)];
  }
  // An atom for the least or the greatest of two.
  [[nodiscard]] Linear extremum(bool greatest, const Linear& a, const Linear& b);
  // An atom that stands for anything in the range; `from` are functions it depends on.
  [[nodiscard]] Linear opaque(Interval range, const std::vector<Linear>& from, bool data = false,
                              bool of_task = false);

  // Conditions that hold until the scope's mark is restored.
  struct Mark {
    size_t conditions, implied, changes;
    int vague;
    bool reachable;
  };
  [[nodiscard]] Mark mark() const;
  void restore(const Mark& mark);
  void require_at_most_zero(const Linear& linear);
  void require_something() { ++vague_; }  // a condition that is not understood
  void require_nothing_reached() { reachable_ = false; }
  [[nodiscard]] bool reachable() const { return reachable_; }
  // The atoms whose range a condition narrows, sorted.
  [[nodiscard]] std::vector<int> narrowed() const;
  // Do all atoms of it take all values of their ranges?
  [[nodiscard]] bool all_exact(const Linear& linear) const;
  [[nodiscard]] bool depends_on_data(const Linear& linear) const;
  // Is this place reached for all values of the exact atoms' ranges here?
  [[nodiscard]] bool unconditional() const;

 private:
  void narrow(int atom, Interval range);
  bool split_off(const Linear& rest, int64_t n);
  void split(int atom, int64_t by);
  [[nodiscard]] std::vector<Linear> known_about(const Linear& linear) const;
  Division opaque_division(const Linear& linear, int64_t n);
  void round_quotient(const Linear& linear, int64_t n, const Linear& quotient);

  std::vector<Atom> atoms_;
  std::vector<Linear> conditions_;                 // each <= 0
  std::vector<Linear> implied_;                    // by them and by rounding; each <= 0
  std::vector<std::pair<int, Interval>> changes_;  // ranges before they were narrowed
  std::vector<OpaqueDivision> divisions_;
  std::map<std::pair<Linear, int64_t>, int> division_ids_;
  int vague_ = 0;
  bool reachable_ = true;
};

}  // namespace hone::loop
