// A projected Newton step over w >= 0 for a loss of differences of w. Its Hessian is the Laplacian of a
// graph whose edges are the sums of curvatures between two classes; conjugate gradients solve with it
// in a few O(k^2) steps.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

namespace marginboost {

using Vector = std::vector<double>;

inline double dot(const Vector& x, const Vector& y) {
  double sum = 0.0;
  for (std::size_t j = 0; j < x.size(); ++j) sum += x[j] * y[j];
  return sum;
}

// The Laplacian with the rows and columns of pinned classes struck out.
class Laplacian {
 public:
  Laplacian(const double* curvature, int k, const std::vector<char>& pinned)
      : k_(static_cast<std::size_t>(k)), pinned_(pinned), edges_(k_ * k_), degree_(k_, 0.0) {
    const double* minus = curvature;
    const double* plus = curvature + k_ * k_;
    for (std::size_t a = 0; a < k_; ++a) {
      for (std::size_t b = 0; b < k_; ++b) {
        if (a == b) continue;
        edges_[a * k_ + b] = (plus[a * k_ + b] + minus[b * k_ + a]) +
                             (plus[b * k_ + a] + minus[a * k_ + b]);
        degree_[a] += edges_[a * k_ + b];
      }
    }
    double most = 0.0;
    for (double d : degree_) most = std::max(most, d);
    // A class without curvature gives no information: a tiny bend keeps its step finite.
    for (double& d : degree_) d = std::max(d, 1e-12 * most + 1e-300);
  }

  void multiply(const Vector& x, Vector& out) const {
    for (std::size_t a = 0; a < k_; ++a) {
      if (pinned_[a]) {
        out[a] = 0.0;
        continue;
      }
      double sum = degree_[a] * x[a];
      const double* edge = &edges_[a * k_];
      for (std::size_t b = 0; b < k_; ++b) sum -= edge[b] * x[b];
      out[a] = sum;
    }
  }

  // Preconditioned by the degrees; pinned entries of `right` are zero and stay so.
  Vector solve(const Vector& right) const {
    Vector x(k_, 0.0), residual = right, z(k_), p(k_), image(k_);
    for (std::size_t j = 0; j < k_; ++j) z[j] = residual[j] / degree_[j];
    p = z;
    double rz = dot(residual, z);
    const double goal = 1e-20 * rz;
    for (std::size_t step = 0; step < 4 * k_ + 10 && rz > goal && rz > 0.0; ++step) {
      multiply(p, image);
      const double bend = dot(p, image);
      if (!(bend > 0.0)) break;
      const double length = rz / bend;
      for (std::size_t j = 0; j < k_; ++j) {
        x[j] += length * p[j];
        residual[j] -= length * image[j];
        z[j] = residual[j] / degree_[j];
      }
      const double next = dot(residual, z);
      const double ratio = next / rz;
      rz = next;
      for (std::size_t j = 0; j < k_; ++j) p[j] = z[j] + ratio * p[j];
    }
    return x;
  }

 private:
  std::size_t k_;
  const std::vector<char>& pinned_;
  Vector edges_, degree_;
};

// What a step needs of the loss at a point: its slope, and the sum of weights.
struct Slope {
  Vector slope;
  double total = 0.0;

  Slope(const double* sums, std::size_t n, double nu) : slope(n, nu) {
    const double* minus = sums;
    const double* plus = sums + n * n;
    for (std::size_t a = 0; a < n; ++a) {
      for (std::size_t b = 0; b < n; ++b) {
        if (a == b) continue;
        const double mass = plus[a * n + b] + minus[b * n + a];
        slope[a] -= mass;
        slope[b] += mass;
        total += mass;
      }
    }
  }

  // The largest KKT residual; at w_j = 0 only a wish to grow is an error.
  double error(const double* w) const {
    double worst = 0.0;
    for (std::size_t j = 0; j < slope.size(); ++j) {
      worst = std::max(worst, w[j] > 0.0 ? std::fabs(slope[j]) : std::max(0.0, -slope[j]));
    }
    return worst / (total > 0.0 ? total : 1.0);
  }
};

// One step from w towards the least of the quadratic model over w >= 0. Classes at 0 that wish to fall
// stay. Where a class would fall below 0 the step ends there, the class stays at 0, and a new step for the
// others follows: the active-set method for quadratic programs.
inline Vector step_from(const Slope& at, const double* curvature, const Vector& w) {
  constexpr int kMostPieces = 30;
  const std::size_t n = w.size();
  std::vector<char> pinned(n, 0);
  bool any_pinned = false;
  for (std::size_t j = 0; j < n; ++j) {
    pinned[j] = w[j] <= 0.0 && at.slope[j] >= 0.0;
    any_pinned = any_pinned || pinned[j];
  }
  // The loss sees only differences: with nothing pinned one class must stand still.
  const bool shifts = !any_pinned;
  if (shifts) pinned[static_cast<std::size_t>(std::min_element(w.begin(), w.end()) - w.begin())] = 1;
  const Laplacian hessian(curvature, static_cast<int>(n), pinned);
  Vector step(n, 0.0), pull(n), right(n);
  std::vector<char> stopped(n, 0);
  for (int piece = 0; piece < kMostPieces; ++piece) {
    hessian.multiply(step, pull);  // zero for pinned classes
    for (std::size_t j = 0; j < n; ++j) right[j] = pinned[j] ? 0.0 : -at.slope[j] - pull[j];
    const Vector rest = hessian.solve(right);
    double length = 1.0;
    std::size_t blocking = n;
    for (std::size_t j = 0; j < n && !shifts; ++j) {
      if (pinned[j] || w[j] + step[j] + length * rest[j] >= 0.0) continue;
      length = std::max(0.0, (w[j] + step[j]) / -rest[j]);
      blocking = j;
    }
    for (std::size_t j = 0; j < n; ++j) step[j] += length * rest[j];
    if (blocking == n) break;
    pinned[blocking] = stopped[blocking] = 1;
    step[blocking] = -w[blocking];
  }
  // The third derivative along a step is at most its spread times the second, so this damping never
  // overshoots: no line search, no look at the loss.
  const auto [least, most] = std::minmax_element(step.begin(), step.end());
  const double spread = *most - *least;
  const double damping = spread > 0.0 ? std::log1p(spread) / spread : 1.0;
  Vector next(n);
  for (std::size_t j = 0; j < n; ++j) {
    next[j] = w[j] + damping * step[j];
    if (stopped[j] && damping > 0.9) next[j] = 0.0;  // all the way, or it never arrives
  }
  const double shift = shifts ? std::min(0.0, *std::min_element(next.begin(), next.end())) : 0.0;
  for (double& value : next) value = std::max(0.0, value - shift);
  return next;
}

}  // namespace marginboost
