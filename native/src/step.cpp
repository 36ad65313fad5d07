// What a step does to the weights: the factors, and how large their sums can become, from which the
// fixed-point scales are chosen.
#include <algorithm>
#include <cmath>

#include "marginboost/coefficients.hpp"

namespace marginboost {

void step_factors(const double* w, int k, double* up, double* down) {
  for (int r = 0; r < k; ++r) {
    up[k + r] = down[r] = std::exp(w[r]);
    up[r] = down[k + r] = std::exp(-w[r]);
  }
}

Mass mass_after(const double* sums, int k, const double* up, const double* down, Loss loss) {
  const auto n = static_cast<std::size_t>(k);
  std::vector<double> own(n, 0.0), other(n, 0.0);  // by class: the sums that make |g| of its rows, and of the rest
  Mass mass;
  for (std::size_t s = 0; s < 2; ++s) {
    for (std::size_t a = 0; a < n; ++a) {
      for (std::size_t r = 0; r < n; ++r) {
        if (a == r) continue;
        double factor = up[s * n + r] * down[s * n + a];
        // u = e / (1 + e) grows at most as fast as e; where e falls we only know that u does too.
        if (loss == Loss::logistic) factor = std::max(factor, 1.0);
        const double moved = sums[(s * n + a) * n + r] * factor;
        own[a] += moved;
        other[r] += moved;
        mass.total += moved;
      }
    }
  }
  for (std::size_t r = 0; r < n; ++r) mass.of_class = std::max(mass.of_class, own[r] + other[r]);
  return mass;
}

}  // namespace marginboost
