// Softmax regression with a quadratic penalty: the coefficients of columns, all at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace marginboost {

/// The rows of a regression: `values` holds `n_columns` numbers per row, one row after the other.
struct RegressionRows {
  std::span<const double> values;
  std::span<const std::int64_t> labels;
  std::span<const double> weight;
  std::size_t n_columns = 0;
  std::size_t n_classes = 0;
};

struct Regression {
  /// One row per column and one for the constant at the end; an entry per class.
  std::vector<double> coefficients;
  /// The largest derivative of the objective, over the weight of all rows.
  double optimality_error = 0.0;
  int iterations = 0;
};

/// Minimises the weighted log loss of softmax(x W + c) plus penalty / 2 * |W|^2, from the coefficients that
/// are given. Sums are taken in the order of the rows, so that the result depends on nothing else.
Regression fit_regression(const RegressionRows& rows, double penalty, std::vector<double> coefficients,
                          double tolerance, int most_iterations);

/// The scores x W + c of rows, into `scores`.
void regression_scores(std::span<const double> values, std::size_t n_columns,
                       std::span<const double> coefficients, std::size_t n_classes,
                       std::span<double> scores);

}  // namespace marginboost
