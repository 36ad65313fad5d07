// Matrix balancing by Osborne's iteration, with the paper's l1 penalty.
//
// With z = exp(w_j) one coordinate of the objective is log(a / z + b z + c) + nu log z, whose minimiser
// is the root of a quadratic: no line search, no logarithm, before the end. Where classes fall into
// groups with little between them the coordinate steps are slow, and Newton's come to help.
#include <algorithm>
#include <cmath>
#include <limits>

#include "binning/canonical_order.hpp"
#include "marginboost/coefficients/coefficients.hpp"
#include "coefficients/projected_newton.hpp"

namespace marginboost {
namespace {

double ordered_dot(const double* x, const double* y, int n) {
  // Four partial sums, added in one order: fast, and the same everywhere.
  double part[4] = {0.0, 0.0, 0.0, 0.0};
  int j = 0;
  for (; j + 4 <= n; j += 4) {
    for (int p = 0; p < 4; ++p) part[p] += x[j + p] * y[j + p];
  }
  for (; j < n; ++j) part[0] += x[j] * y[j];
  return (part[0] + part[1]) + (part[2] + part[3]);
}

class Balancing {
 public:
  Balancing(const double* sums, int k, double constant, double nu, double floor)
      : k_(k), constant_(constant), nu_(nu), b_(size(k) * size(k)), bt_(b_.size()),
        x_(size(k), 1.0), inverse_(size(k), 1.0), row_(size(k)), column_(size(k)) {
    const double* minus = sums;
    const double* plus = sums + std::int64_t{k} * k;
    for (int a = 0; a < k; ++a) {
      for (int c = 0; c < k; ++c) {
        const double mass = plus[at(a, c)] + minus[at(c, a)];
        b_[at(a, c)] = a == c ? 0.0 : std::max(mass, floor);
      }
    }
    for (int a = 0; a < k; ++a) {
      for (int c = 0; c < k; ++c) bt_[at(c, a)] = b_[at(a, c)];
    }
    measure();
  }

  // One pass over the coordinates, each set to its minimiser.
  void sweep() {
    for (int j = 0; j < k_; ++j) {
      const double pull = ordered_dot(&b_[at(j, 0)], x_.data(), k_);         // a: falls as w_j grows
      const double push = ordered_dot(&bt_[at(j, 0)], inverse_.data(), k_);  // b: grows with w_j
      const double old = x_[size(j)];
      const double rest = std::max(0.0, phi_ - pull / old - push * old);
      const double z = minimiser(pull, push, rest, lowest_but(j));
      phi_ = rest + pull / z + push * z;
      x_[size(j)] = z;
      inverse_[size(j)] = 1.0 / z;
    }
    recentre();
    measure();
  }

  // One projected Newton step. The objective's Hessian less a small rank-one part is the Laplacian of the
  // scaled B, over phi; multiplied by phi, the penalty's slope is nu * phi.
  void newton() {
    const std::size_t n = size(k_);
    std::vector<double> scaled(2 * n * n, 0.0), w(n);
    const double lowest = *std::min_element(x_.begin(), x_.end());
    for (int a = 0; a < k_; ++a) {
      w[size(a)] = x_[size(a)] > lowest ? std::log(x_[size(a)] / lowest) : 0.0;
      for (int c = 0; c < k_; ++c) {
        scaled[n * n + at(a, c)] = b_[at(a, c)] * x_[size(c)] * inverse_[size(a)];
      }
    }
    const Slope here(scaled.data(), n, nu_ * phi_);
    w = step_from(here, scaled.data(), w);
    for (int j = 0; j < k_; ++j) {
      x_[size(j)] = std::exp(w[size(j)]);
      inverse_[size(j)] = 1.0 / x_[size(j)];
    }
    measure();
  }

  double error() const {
    const double lowest = *std::min_element(x_.begin(), x_.end());
    double worst = 0.0;
    for (int j = 0; j < k_; ++j) {
      const double slope = (column_[size(j)] - row_[size(j)]) / phi_ + nu_;
      // At w_j = 0 only a wish to grow is an error.
      worst = std::max(worst, x_[size(j)] > lowest ? std::fabs(slope) : std::max(0.0, -slope));
    }
    // Relative to the loss that is left, not to the constant it may be small beside.
    return worst * (phi_ / (phi_ - constant_));
  }

  Solution solution(int sweeps) const {
    Solution s;
    const double lowest = *std::min_element(x_.begin(), x_.end());
    double total = 0.0;
    for (double x : x_) {
      s.w.push_back(x > lowest ? std::log(x / lowest) : 0.0);
      total += s.w.back();
    }
    s.optimality_error = error();
    s.objective = std::log(phi_) + nu_ * total;
    s.iterations = sweeps;
    return s;
  }

 private:
  static std::size_t size(int n) { return static_cast<std::size_t>(n); }
  std::size_t at(int a, int c) const { return size(a) * size(k_) + size(c); }

  double lowest_but(int j) const {
    double lowest = std::numeric_limits<double>::infinity();
    for (int r = 0; r < k_; ++r) {
      if (r != j) lowest = std::min(lowest, x_[size(r)]);
    }
    return lowest;
  }

  // The penalty is nu times the sum of w - min(w). Above the others' minimum w_j pays nu; below it,
  // every other class pays as w_j falls: slope -(k - 1) nu. The function is convex, so at most one of
  // the two pieces holds the minimum, else it lies at the corner.
  double minimiser(double a, double b, double c, double corner) const {
    const double above = root(a, b, c, nu_);
    if (above >= corner) return above;
    const double below = root(a, b, c, -(k_ - 1) * nu_);
    return std::min(below, corner);
  }

  // Minimises log(a / z + b z + c) + slope * log z over z > 0.
  static double root(double a, double b, double c, double slope) {
    const double second = (1.0 + slope) * b;
    const double first = slope * c;
    const double zeroth = (1.0 - slope) * a;
    if (second <= 0.0) return std::numeric_limits<double>::infinity();  // it only falls as z grows
    if (zeroth <= 0.0) return 0.0;                                      // it only grows
    const double root_of = std::sqrt(first * first + 4.0 * second * zeroth);
    // The form without cancellation.
    return first > 0.0 ? 2.0 * zeroth / (first + root_of) : (root_of - first) / (2.0 * second);
  }

  void recentre() {  // the objective sees only ratios; keep them far from overflow
    const double lowest = *std::min_element(x_.begin(), x_.end());
    for (int j = 0; j < k_; ++j) {
      x_[size(j)] /= lowest;
      inverse_[size(j)] = 1.0 / x_[size(j)];
    }
  }

  void measure() {
    phi_ = constant_;
    for (int j = 0; j < k_; ++j) {
      row_[size(j)] = ordered_dot(&b_[at(j, 0)], x_.data(), k_) * inverse_[size(j)];
      column_[size(j)] = ordered_dot(&bt_[at(j, 0)], inverse_.data(), k_) * x_[size(j)];
      phi_ += row_[size(j)];
    }
  }

  int k_;
  double constant_, nu_, phi_ = 0.0;
  std::vector<double> b_, bt_;  // B and its transpose
  std::vector<double> x_, inverse_;
  std::vector<double> row_, column_;
};

}  // namespace

Solution balance(const double* given_sums, int k, double constant, double nu, double floor,
                 double tolerance, int max_sweeps) {
  constexpr int kSweepsAlone = 40;
  const CanonicalOrder order(given_sums, static_cast<std::size_t>(k));
  const std::vector<double> sums = order.tables(given_sums);
  Balancing problem(sums.data(), k, constant, nu, floor);
  int sweeps = 0;
  for (; sweeps < max_sweeps && problem.error() > tolerance; ++sweeps) {
    if (sweeps >= kSweepsAlone) problem.newton();
    problem.sweep();
  }
  Solution solution = problem.solution(sweeps);
  solution.w = order.back(solution.w);
  return solution;
}

}  // namespace marginboost
