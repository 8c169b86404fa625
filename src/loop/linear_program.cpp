// The dual simplex method for variables with bounds, on the dictionary of Chvatal's book. It starts
// at the corner of the box where the function is greatest and removes broken conditions one by one;
// the value there only falls, and is a bound all the time.
#include "loop/linear_program.h"

#include <cmath>
#include <limits>

namespace hone::loop {
namespace {

constexpr double kTiny = 1e-9;
constexpr double kBroken = 1e-7;
constexpr int kMaxSteps = 60;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace

int LinearProgram::add_variable(double weight, double low, double high) {
  columns_.push_back({low, high, low, weight});
  for (auto& row : rows_) row.push_back(0);
  return static_cast<int>(columns_.size()) - 1;
}

// The slack is basic at first: limit - sum.
void LinearProgram::add_row(const std::vector<std::pair<int, double>>& terms, double limit) {
  std::vector<double> row(columns_.size(), 0);
  for (const auto& [variable, coefficient] : terms)
    row[static_cast<size_t>(variable)] -= coefficient;
  rows_.push_back(std::move(row));
  constants_.push_back(limit);
  basics_.push_back({0, kInfinity, 0, 0});
}

void LinearProgram::start() {
  for (Column& column : columns_) column.value = column.weight > 0 ? column.high : column.low;
}

double LinearProgram::objective() const {
  double total = constant_;
  for (const Column& column : columns_) total += column.weight * column.value;
  return total;
}

// The row whose variable is farthest outside of its bounds, and the bound it must go to; -1: none.
int LinearProgram::worst_row(double& bound) const {
  int worst = -1;
  double most = kBroken;
  for (size_t i = 0; i < rows_.size(); ++i) {
    double value = constants_[i];
    for (size_t j = 0; j < columns_.size(); ++j) value += rows_[i][j] * columns_[j].value;
    const double scale = 1 + std::abs(value) * 1e-3;
    const double below = (basics_[i].low - value) / scale;
    const double above = (value - basics_[i].high) / scale;
    if (std::max(below, above) <= most) continue;
    most = std::max(below, above);
    worst = static_cast<int>(i);
    bound = below > above ? basics_[i].low : basics_[i].high;
  }
  return worst;
}

// The column that repairs a row at the least cost.
int LinearProgram::entering(int row, bool grows) const {
  const auto& coefficients = rows_[static_cast<size_t>(row)];
  int best = -1;
  double least = kInfinity;
  for (size_t j = 0; j < columns_.size(); ++j) {
    const Column& column = columns_[j];
    const double step = coefficients[j];
    if (std::abs(step) < kTiny || column.low == column.high) continue;
    const bool rises = column.value == column.low;  // it can only leave its bound inwards
    if ((step > 0) != (rises == grows)) continue;
    const double cost = std::abs(column.weight) / std::abs(step);
    if (cost >= least) continue;
    least = cost;
    best = static_cast<int>(j);
  }
  return best;
}

void LinearProgram::exchange(int row, int column, double value) {
  const auto r = static_cast<size_t>(row);
  const auto c = static_cast<size_t>(column);
  // column = (basic - constant - other terms) / pivot
  const double pivot = rows_[r][c];
  for (double& coefficient : rows_[r]) coefficient /= -pivot;
  constants_[r] /= -pivot;
  rows_[r][c] = 1 / pivot;
  const auto substitute = [&](std::vector<double>* other, double factor, double& constant) {
    constant += factor * constants_[r];
    for (size_t j = 0; other != nullptr && j < columns_.size(); ++j)
      (*other)[j] = (j == c ? 0 : (*other)[j]) + factor * rows_[r][j];
  };
  for (size_t i = 0; i < rows_.size(); ++i)
    if (i != r && rows_[i][c] != 0) substitute(&rows_[i], rows_[i][c], constants_[i]);
  const double weight = columns_[c].weight;
  substitute(nullptr, weight, constant_);
  for (size_t j = 0; j < columns_.size(); ++j)
    columns_[j].weight = (j == c ? 0 : columns_[j].weight) + weight * rows_[r][j];
  const double new_weight = columns_[c].weight;
  std::swap(columns_[c], basics_[r]);
  columns_[c].weight = new_weight;
  columns_[c].value = value;
}

double LinearProgram::maximum(double enough) {
  start();
  double best = objective();
  for (int step = 0; step < kMaxSteps && best > enough; ++step) {
    double bound = 0;
    const int row = worst_row(bound);
    if (row < 0) break;
    const int column = entering(row, bound == basics_[static_cast<size_t>(row)].low);
    if (column < 0) return -kInfinity;
    exchange(row, column, bound);
    best = std::min(best, objective());
  }
  return best;
}

}  // namespace hone::loop
