// How the log loss of scaled scores changes with their scale.
#pragma once

#include <span>

namespace marginboost {

/// The first and second derivative of a weighted sum of log losses by the scale.
struct ScaleSlope {
  double slope = 0.0;
  double curvature = 0.0;
};

/// Of rows whose own class has the score 0. `logs` has weight.size() rows, one entry per class;
/// `offset`, of the same size or empty, is added to the scaled scores.
ScaleSlope scale_slope(std::span<const double> logs, std::span<const double> weight, double scale,
                       std::span<const double> offset);

}  // namespace marginboost
