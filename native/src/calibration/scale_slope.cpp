#include "marginboost/calibration/scale_slope.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

namespace marginboost {

ScaleSlope scale_slope(std::span<const double> logs, std::span<const double> weight, double scale,
                       std::span<const double> offset) {
  ScaleSlope found;
  if (weight.empty()) return found;
  const std::size_t k = logs.size() / weight.size();
  std::vector<double> scaled(k);
  for (std::size_t i = 0; i < weight.size(); ++i) {
    const double* row = logs.data() + i * k;
    double largest = -std::numeric_limits<double>::infinity();
    for (std::size_t r = 0; r < k; ++r) {
      scaled[r] = row[r] * scale + (offset.empty() ? 0.0 : offset[i * k + r]);
      largest = std::max(largest, scaled[r]);
    }
    // The derivatives are the mean and the variance of the row's scores, by its probabilities.
    double total = 0.0, sum = 0.0, squares = 0.0;
    for (std::size_t r = 0; r < k; ++r) {
      const double share = std::exp(scaled[r] - largest);  // does not overflow
      total += share;
      sum += share * row[r];
      squares += share * row[r] * row[r];
    }
    const double mean = sum / total;
    found.slope += weight[i] * mean;
    found.curvature += weight[i] * std::max(squares / total - mean * mean, 0.0);
  }
  return found;
}

}  // namespace marginboost
