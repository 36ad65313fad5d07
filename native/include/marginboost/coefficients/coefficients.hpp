// The k x k problems of a round: from sums of weights to the coefficients w of one weak classifier.
//
// `sums` is 2 x k x k: by side of the weak classifier (0: h = -1, 1: h = +1), class of the row, class.
// B = sums[1] + transpose(sums[0]), without its diagonal, is all that the exponential loss needs:
//     phi(w) = constant + sum over a != b of B[a, b] exp(w_b - w_a).
#pragma once

#include <cstdint>
#include <vector>

#include "marginboost/loss.hpp"

namespace marginboost {

struct Solution {
  std::vector<double> w;          ///< >= 0, the smallest is 0
  double optimality_error = 0.0;  ///< largest KKT residual, relative to the loss (see each solver)
  double objective = 0.0;         ///< log(phi) + nu * sum(w), where the solver knows it
  int iterations = 0;
};

/// Minimises log(constant + sum B[a, b] exp(w_b - w_a)) + nu * sum(w) over w >= 0 by Osborne's
/// coordinate steps, after some time with Newton's between them. Entries of B below `floor` count as `floor`: a sum can't be known to be smaller
/// than its unit, and so w stays finite on separable data. The optimality error is the largest KKT
/// residual over the share of the loss that w can change.
Solution balance(const double* sums, int k, double constant, double nu, double floor,
                 double tolerance, int max_sweeps);

/// One outer step of projected Newton for sum(logistic loss) + nu * sum(w) over w >= 0, from the sums
/// of weights and of curvatures taken at w. The returned optimality error is that of the w given,
/// relative to the sum of weights; where that is within the tolerance, w stays.
Solution newton_step(const double* sums, const double* curvature, int k, const double* w, double nu,
                     double tolerance);

/// What e is multiplied by when a weak classifier is added with coefficients w: up[side, r] *
/// down[side, y], exp(h (w_r - w_y)). Both are 2 x k. The exponentials are taken here, once, for all
/// engines: libraries differ in their last bits.
void step_factors(const double* w, int k, double* up, double* down);

/// Sums taken at one point, and the factors from there to where the rows are going.
struct Reach {
  const double* sums = nullptr;       ///< 2 x k x k
  const double* curvature = nullptr;  ///< 2 x k x k, logistic loss only
  const double* up = nullptr;         ///< 2 x k
  const double* down = nullptr;       ///< 2 x k
  const double* rounding = nullptr;   ///< k: how far the sums of a class's cells may be off
};

/// Bounds on the sums of weights after rows have moved by up[s, r] * down[s, y].
struct Mass {
  double of_class = 0.0;  ///< bound on the sum of |g[:, r]|, the largest over classes
  double total = 0.0;     ///< bound on the sum of all weights
};
/// The better bound of each cell, from one or two points (the second may be null).
Mass mass_after(int k, Loss loss, const Reach& from, const Reach* other);

}  // namespace marginboost
