// L-BFGS. It starts each step from the curvature that the loss would have if every row had the class
// frequencies as its probabilities: one matrix for all classes, whose factor is found once.
#include "marginboost/coefficients/regression.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <utility>

namespace marginboost {
namespace {

using Vector = std::vector<double>;

constexpr std::size_t kMemory = 8;
// With more columns the curvature's diagonal alone is used.
constexpr std::size_t kMostFactored = 256;

double dot(const Vector& x, const Vector& y) {
  double sum = 0.0;
  for (std::size_t j = 0; j < x.size(); ++j) sum += x[j] * y[j];
  return sum;
}

void add_row_scores(const double* row, std::size_t n_columns, const double* coefficients,
                    std::size_t k, double* scores) {
  const double* constant = coefficients + n_columns * k;
  std::copy(constant, constant + k, scores);
  for (std::size_t j = 0; j < n_columns; ++j) {
    const double x = row[j];
    if (x == 0.0) continue;
    const double* of_column = coefficients + j * k;
    for (std::size_t r = 0; r < k; ++r) scores[r] += x * of_column[r];
  }
}

class Objective {
 public:
  Objective(const RegressionRows& rows, double penalty) : rows_(rows), penalty_(penalty) {}

  // The value; its derivatives go into `slope`.
  double operator()(const Vector& coefficients, Vector& slope) const {
    const std::size_t k = rows_.n_classes, m = rows_.n_columns;
    Vector p(k);
    double value = 0.0;
    for (std::size_t j = 0; j < m * k; ++j) {
      value += 0.5 * penalty_ * coefficients[j] * coefficients[j];
      slope[j] = penalty_ * coefficients[j];
    }
    std::fill(slope.begin() + static_cast<std::ptrdiff_t>(m * k), slope.end(), 0.0);
    for (std::size_t i = 0; i < rows_.labels.size(); ++i) {
      const double* row = rows_.values.data() + i * m;
      add_row_scores(row, m, coefficients.data(), k, p.data());
      const auto label = static_cast<std::size_t>(rows_.labels[i]);
      const double own = p[label], top = *std::max_element(p.begin(), p.end());
      double total = 0.0;
      for (double& score : p) {
        score = std::exp(score - top);
        total += score;
      }
      const double weight = rows_.weight[i];
      value += weight * (std::log(total) + top - own);
      for (double& share : p) share *= weight / total;
      p[label] -= weight;
      for (std::size_t j = 0; j < m; ++j) {
        const double x = row[j];
        if (x == 0.0) continue;
        double* of_column = slope.data() + j * k;
        for (std::size_t r = 0; r < k; ++r) of_column[r] += x * p[r];
      }
      double* constant = slope.data() + m * k;
      for (std::size_t r = 0; r < k; ++r) constant[r] += p[r];
    }
    return value;
  }

 private:
  const RegressionRows& rows_;
  double penalty_;
};

// A factor of the curvature, for one class; the last column is the constant.
class Curvature {
 public:
  Curvature(const RegressionRows& rows, double penalty, double bend)
      : n_(rows.n_columns + 1), whole_(n_ <= kMostFactored), factor_(whole_ ? n_ * n_ : n_, 0.0) {
    Vector row(n_, 1.0);
    for (std::size_t i = 0; i < rows.labels.size(); ++i) {
      std::copy_n(rows.values.data() + i * (n_ - 1), n_ - 1, row.begin());
      const double weight = bend * rows.weight[i];
      for (std::size_t a = 0; a < n_; ++a) {
        const double x = weight * row[a];
        if (x == 0.0) continue;
        if (!whole_) {
          factor_[a] += x * row[a];
          continue;
        }
        double* line = factor_.data() + a * n_;
        for (std::size_t b = 0; b <= a; ++b) line[b] += x * row[b];
      }
    }
    for (std::size_t a = 0; a < n_; ++a) {
      double& own = factor_[whole_ ? a * n_ + a : a];
      own = own * (1.0 + 1e-9) + (a + 1 < n_ ? penalty : 0.0) + 1e-12;
    }
    if (whole_) decompose();
  }

  // Solves for all classes at once: `values` has a row per column and an entry per class.
  void solve(Vector& values, std::size_t k) const {
    if (!whole_) {
      for (std::size_t a = 0; a < n_; ++a) {
        for (std::size_t r = 0; r < k; ++r) values[a * k + r] /= factor_[a];
      }
      return;
    }
    for (std::size_t a = 0; a < n_; ++a) {
      for (std::size_t b = 0; b < a; ++b) subtract(values, a, b, factor_[a * n_ + b], k);
      for (std::size_t r = 0; r < k; ++r) values[a * k + r] /= factor_[a * n_ + a];
    }
    for (std::size_t a = n_; a-- > 0;) {
      for (std::size_t b = a + 1; b < n_; ++b) subtract(values, a, b, factor_[b * n_ + a], k);
      for (std::size_t r = 0; r < k; ++r) values[a * k + r] /= factor_[a * n_ + a];
    }
  }

 private:
  static void subtract(Vector& values, std::size_t a, std::size_t b, double factor, std::size_t k) {
    for (std::size_t r = 0; r < k; ++r) values[a * k + r] -= factor * values[b * k + r];
  }

  // Cholesky, in the lower triangle.
  void decompose() {
    for (std::size_t a = 0; a < n_; ++a) {
      double* line = factor_.data() + a * n_;
      for (std::size_t b = 0; b <= a; ++b) {
        const double* other = factor_.data() + b * n_;
        double sum = line[b];
        for (std::size_t c = 0; c < b; ++c) sum -= line[c] * other[c];
        // Columns that follow from others may leave nothing but rounding.
        line[b] = a == b ? std::sqrt(std::max(sum, 1e-12)) : sum / other[b];
      }
    }
  }

  std::size_t n_;
  bool whole_;
  Vector factor_;
};

struct Pair {
  Vector step, change;
  double inverse;  // of their product
};

// The two loops of L-BFGS.
Vector direction(const Vector& slope, const std::deque<Pair>& pairs, const Curvature& start,
                 std::size_t k) {
  Vector found = slope, shares(pairs.size());
  for (std::size_t j = pairs.size(); j-- > 0;) {
    shares[j] = pairs[j].inverse * dot(pairs[j].step, found);
    for (std::size_t i = 0; i < found.size(); ++i) found[i] -= shares[j] * pairs[j].change[i];
  }
  start.solve(found, k);
  for (std::size_t j = 0; j < pairs.size(); ++j) {
    const double back = pairs[j].inverse * dot(pairs[j].change, found);
    for (std::size_t i = 0; i < found.size(); ++i) found[i] += (shares[j] - back) * pairs[j].step[i];
  }
  return found;
}

double largest(const Vector& values) {
  double found = 0.0;
  for (double value : values) found = std::max(found, std::fabs(value));
  return found;
}

}  // namespace

Regression fit_regression(const RegressionRows& rows, double penalty, std::vector<double> coefficients,
                          double tolerance, int most_iterations) {
  const std::size_t k = rows.n_classes;
  double total = 0.0, bend = 0.0;
  Vector frequency(k, 0.0);
  for (std::size_t i = 0; i < rows.labels.size(); ++i) {
    total += rows.weight[i];
    frequency[static_cast<std::size_t>(rows.labels[i])] += rows.weight[i];
  }
  if (!(total > 0.0)) return {std::move(coefficients), 0.0, 0};
  for (double share : frequency) bend += share / total * (1.0 - share / total);
  const Curvature start(rows, penalty, std::max(bend / static_cast<double>(k), 1e-3));
  const Objective objective(rows, penalty);
  Vector slope(coefficients.size()), next(coefficients.size()), slope_there(coefficients.size());
  double value = objective(coefficients, slope);
  std::deque<Pair> pairs;
  int iterations = 0;
  for (; iterations < most_iterations && largest(slope) > tolerance * total; ++iterations) {
    const Vector down = direction(slope, pairs, start, k);
    const double fall = dot(slope, down);
    if (!(fall > 0.0)) break;
    double length = 1.0, there = value;
    bool lower = false;
    for (int halvings = 0; halvings < 30 && !lower; ++halvings) {
      for (std::size_t i = 0; i < next.size(); ++i) next[i] = coefficients[i] - length * down[i];
      there = objective(next, slope_there);
      lower = there <= value - 1e-4 * length * fall;
      if (!lower) length *= 0.5;
    }
    if (!lower) break;
    Pair pair{Vector(next.size()), Vector(next.size()), 0.0};
    for (std::size_t i = 0; i < next.size(); ++i) {
      pair.step[i] = next[i] - coefficients[i];
      pair.change[i] = slope_there[i] - slope[i];
    }
    const double product = dot(pair.step, pair.change);
    if (product > 1e-300) {
      pair.inverse = 1.0 / product;
      pairs.push_back(std::move(pair));
      if (pairs.size() > kMemory) pairs.pop_front();
    }
    std::swap(coefficients, next);
    std::swap(slope, slope_there);
    value = there;
  }
  return {std::move(coefficients), largest(slope) / total, iterations};
}

void regression_scores(std::span<const double> values, std::size_t n_columns,
                       std::span<const double> coefficients, std::size_t n_classes,
                       std::span<double> scores) {
  for (std::size_t i = 0; i * n_classes < scores.size(); ++i) {
    add_row_scores(values.data() + i * n_columns, n_columns, coefficients.data(), n_classes,
                   scores.data() + i * n_classes);
  }
}

}  // namespace marginboost
