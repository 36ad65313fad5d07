// What the sanitizers should see; tests/coefficients/test_regression.py says what is right.
#include "marginboost/coefficients/regression.hpp"

#include <cmath>
#include <vector>

#include "check.hpp"

using namespace marginboost;

namespace {

// Rows whose class follows from the sign of the first column.
struct Problem {
  std::vector<double> values, weight;
  std::vector<std::int64_t> labels;
  std::size_t n_columns;

  Problem(std::size_t n_rows, std::size_t columns) : n_columns(columns) {
    for (std::size_t i = 0; i < n_rows; ++i) {
      for (std::size_t j = 0; j < columns; ++j) {
        values.push_back(std::sin(static_cast<double>(7 * i + 3 * j + 1)));
      }
      labels.push_back(values[i * columns] > 0.0 ? 1 : 0);
      weight.push_back(1.0);
    }
  }

  RegressionRows rows() const { return {values, labels, weight, n_columns, 2}; }
};

}  // namespace

TEST(a_regression_finds_the_column_that_matters) {
  for (const std::size_t columns : {std::size_t{2}, std::size_t{300}}) {  // with and without a factor
    const Problem problem(80, columns);
    const Regression found =
        fit_regression(problem.rows(), 1.0, std::vector<double>(2 * (columns + 1)), 1e-6, 500);
    CHECK(found.optimality_error <= 1e-6);
    CHECK(found.coefficients[1] > 0.0);
    CHECK(std::abs(found.coefficients[0] + found.coefficients[1]) < 1e-4);
    std::vector<double> scores(2 * problem.labels.size());
    regression_scores(problem.values, columns, found.coefficients, 2, scores);
    for (std::size_t i = 0; i < problem.labels.size(); ++i) CHECK(std::isfinite(scores[2 * i]));
  }
}

TEST(a_regression_of_no_rows_stays_where_it_is) {
  const Problem problem(0, 3);
  const Regression found = fit_regression(problem.rows(), 1.0, std::vector<double>(8, 0.5), 1e-6, 10);
  CHECK(found.iterations == 0);
  CHECK(found.coefficients == std::vector<double>(8, 0.5));
}
