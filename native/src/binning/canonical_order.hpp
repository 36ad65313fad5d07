// An order of the classes that does not depend on their numbers, so that solving a problem with its
// classes renumbered gives the same coefficients to the last bit, renumbered.
#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <tuple>
#include <vector>

namespace marginboost {

/// Sorts the classes by the sums of their rows and columns of B = sums[1] + transpose(sums[0]). Those are
/// sums of multiples of one unit, exact in doubles in any order. Classes with equal sums keep their order.
class CanonicalOrder {
 public:
  CanonicalOrder(const double* sums, std::size_t n) : order_(n) {
    std::vector<std::tuple<double, double>> key(n);
    const double *minus = sums, *plus = sums + n * n;
    for (std::size_t a = 0; a < n; ++a) {
      for (std::size_t b = 0; b < n; ++b) {
        if (a == b) continue;
        const double mass = plus[a * n + b] + minus[b * n + a];
        std::get<0>(key[a]) += mass;
        std::get<1>(key[b]) += mass;
      }
    }
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    std::stable_sort(order_.begin(), order_.end(),
                     [&](std::size_t a, std::size_t b) { return key[a] < key[b]; });
  }

  /// Two n x n tables with rows and columns in the order.
  std::vector<double> tables(const double* from) const {
    const std::size_t n = order_.size();
    std::vector<double> to(2 * n * n);
    for (std::size_t s = 0; s < 2; ++s) {
      for (std::size_t a = 0; a < n; ++a) {
        const double* row = from + (s * n + order_[a]) * n;
        for (std::size_t b = 0; b < n; ++b) to[(s * n + a) * n + b] = row[order_[b]];
      }
    }
    return to;
  }

  std::vector<double> vector(const double* from) const {
    std::vector<double> to;
    for (const std::size_t j : order_) to.push_back(from[j]);
    return to;
  }

  /// From the order back to the classes' numbers.
  std::vector<double> back(const std::vector<double>& from) const {
    std::vector<double> to(from.size());
    for (std::size_t j = 0; j < from.size(); ++j) to[order_[j]] = from[j];
    return to;
  }

 private:
  std::vector<std::size_t> order_;
};

}  // namespace marginboost
