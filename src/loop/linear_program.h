// Small linear programs: the greatest value of a linear function under linear conditions.
#pragma once

#include <utility>
#include <vector>

namespace hone::loop {

class LinearProgram {
 public:
  // A variable that is maximised with this weight.
  int add_variable(double weight, double low, double high);
  // Sum of coefficient * variable <= limit.
  void add_row(const std::vector<std::pair<int, double>>& terms, double limit);

  // A bound on the maximum, never below it; the maximum itself, unless a bound of `enough` is
  // proven before, or the number of steps runs out. Minus infinity where no point is allowed.
  [[nodiscard]] double maximum(double enough);

 private:
  struct Column {
    double low, high, value;
    double weight;  // of a variable that is not basic
  };
  void start();
  [[nodiscard]] double objective() const;
  [[nodiscard]] int worst_row(double& bound) const;
  [[nodiscard]] int entering(int row, bool grows) const;
  void exchange(int row, int column, double value);

  std::vector<Column> columns_;            // not basic: at one of their bounds
  std::vector<Column> basics_;             // one per row, `value` unused
  std::vector<std::vector<double>> rows_;  // basic = constant + sum of rows_[i][j] * column j
  std::vector<double> constants_;
  double constant_ = 0;  // of the objective
};

}  // namespace hone::loop
