// Newton's method for the logistic loss. A pass over the rows costs far more than a k x k problem, so each pass is used to the full: not for
// one quadratic step, but for the minimum of a model that is itself a logistic loss (see Cells).
#include <algorithm>
#include <cmath>

#include "binning/canonical_order.hpp"
#include "marginboost/coefficients/coefficients.hpp"
#include "coefficients/projected_newton.hpp"

namespace marginboost {
namespace {

// A model of the loss around the point of a pass: the rows of a cell (side, class of the row, class)
// stand as `count` equal rows with exponential e, so chosen that the cell's sums of weights and of
// curvatures agree. It has the loss's own shape, so its minimum is far better than a quadratic's.
class Cells {
 public:
  Cells(const double* sums, const double* curvature, std::size_t n)
      : n_(n), count_(2 * n * n), e_(2 * n * n), sums_(2 * n * n), curvature_(2 * n * n) {
    for (std::size_t c = 0; c < count_.size(); ++c) {
      if (!(sums[c] > 0.0)) continue;
      const double weight = std::clamp(1.0 - curvature[c] / sums[c], 1e-12, 1.0 - 1e-12);
      count_[c] = sums[c] / weight;
      e_[c] = weight / (1.0 - weight);
    }
  }

  // Evaluates the model where w has moved by `delta`.
  void evaluate(const Vector& delta) {
    Vector up[2] = {Vector(n_), Vector(n_)};
    for (std::size_t j = 0; j < n_; ++j) {
      up[1][j] = std::exp(delta[j]);
      up[0][j] = 1.0 / up[1][j];
    }
    for (std::size_t s = 0; s < 2; ++s) {
      for (std::size_t a = 0; a < n_; ++a) {
        const double own = up[1 - s][a];
        for (std::size_t r = 0; r < n_; ++r) {
          const std::size_t c = (s * n_ + a) * n_ + r;
          const double e = e_[c] * (up[s][r] * own);
          const double weight = e / (1.0 + e);
          sums_[c] = count_[c] * weight;
          curvature_[c] = sums_[c] * (1.0 - weight);
        }
      }
    }
  }

  const double* sums() const { return sums_.data(); }
  const double* curvature() const { return curvature_.data(); }

 private:
  std::size_t n_;
  Vector count_, e_, sums_, curvature_;
};

}  // namespace

Solution newton_step(const double* given_sums, const double* given_curvature, int k,
                     const double* given_w, double nu, double tolerance) {
  constexpr int kMostSteps = 50;
  constexpr double kRounding = 1e-13;
  const auto n = static_cast<std::size_t>(k);
  const CanonicalOrder order(given_sums, n);
  const Vector ordered_sums = order.tables(given_sums), ordered_curvature = order.tables(given_curvature);
  const Vector ordered_w = order.vector(given_w);
  const double *sums = ordered_sums.data(), *curvature = ordered_curvature.data();
  const double* w = ordered_w.data();
  const Slope here(sums, n, nu);
  Solution s;
  s.optimality_error = here.error(w);
  s.w.assign(given_w, given_w + k);
  if (s.optimality_error <= tolerance) return s;
  s.w = ordered_w;
  s.w = step_from(here, curvature, s.w);
  Cells model(sums, curvature, n);
  Vector delta(n);
  const double enough = 1e-3 * s.optimality_error * s.optimality_error;
  for (s.iterations = 1; s.iterations < kMostSteps; ++s.iterations) {
    for (std::size_t j = 0; j < n; ++j) delta[j] = s.w[j] - w[j];
    model.evaluate(delta);
    const Slope there(model.sums(), n, nu);
    // The model itself is off by about the square of the step: solving it further is in vain.
    if (there.error(s.w.data()) <= std::max(enough, kRounding)) break;
    s.w = step_from(there, model.curvature(), s.w);
  }
  s.w = order.back(s.w);
  return s;
}

}  // namespace marginboost
