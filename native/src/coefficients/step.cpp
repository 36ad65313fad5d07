// What a step does to the weights: the factors, and how large their sums can become, from which the
// fixed-point scales are chosen.
#include <algorithm>
#include <cmath>

#include "marginboost/coefficients/coefficients.hpp"

namespace marginboost {

void step_factors(const double* w, int k, double* up, double* down) {
  for (int r = 0; r < k; ++r) {
    up[k + r] = down[r] = std::exp(w[r]);
    up[r] = down[k + r] = std::exp(-w[r]);
  }
}

namespace {

// A bound on one cell's sum. The exponential loss's weight grows as e does. The logistic one's is concave
// in the factor, so it lies below its tangent, whose slope is the curvature u (1 - u).
double bound(const Reach& reach, std::size_t n, Loss loss, std::size_t s, std::size_t a, std::size_t r) {
  const std::size_t cell = (s * n + a) * n + r;
  const double factor = reach.up[s * n + r] * reach.down[s * n + a];
  if (loss == Loss::exponential) return (reach.sums[cell] + reach.rounding[a]) * factor;
  const double tangent = reach.sums[cell] + (factor - 1.0) * reach.curvature[cell];
  return std::max(tangent, 0.0) + 2.0 * reach.rounding[a] * std::max(factor, 1.0);
}

}  // namespace

Mass mass_after(int k, Loss loss, const Reach& from, const Reach* other) {
  const auto n = static_cast<std::size_t>(k);
  std::vector<double> own(n, 0.0), others(n, 0.0);  // by class: |g| of its rows, and of the rest
  Mass mass;
  for (std::size_t s = 0; s < 2; ++s) {
    for (std::size_t a = 0; a < n; ++a) {
      for (std::size_t r = 0; r < n; ++r) {
        if (a == r) continue;
        double moved = bound(from, n, loss, s, a, r);
        if (other) moved = std::min(moved, bound(*other, n, loss, s, a, r));
        own[a] += moved;
        others[r] += moved;
        mass.total += moved;
      }
    }
  }
  for (std::size_t r = 0; r < n; ++r) mass.of_class = std::max(mass.of_class, own[r] + others[r]);
  return mass;
}

}  // namespace marginboost
