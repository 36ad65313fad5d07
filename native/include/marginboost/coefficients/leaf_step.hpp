// The coefficients of a tree's leaves, and what a step of them does to the weights.
//
// Taken here, once, for every engine: logarithms and exponentials differ between libraries, and the
// model must not.
#pragma once

#include <cstdint>
#include <span>

namespace marginboost {

/// Sums of the weights of a tree's leaves, leaves x classes: of each class's own rows, and of other
/// rows against it.
struct LeafSums {
  std::span<const double> own;
  std::span<const double> against;
  std::int64_t n_classes = 0;
};

/// out = factor * log((own + pseudo_count) / (against + pseudo_count)), within +-most.
void leaf_vectors(const LeafSums& sums, double pseudo_count, double factor, double most,
                  std::span<double> out, int n_threads = 1);

/// What is known of the rows beside the sums.
struct LeafBounds {
  std::span<const double> class_counts;  ///< rows of each class, with their multiplicity
  std::span<const double> class_mass;
  std::span<const std::int64_t> lanes;  ///< where each class is added in a search
  double half_unit = 0.0;               ///< what rounding may have hidden of a row's weight
  bool bounded = false;                 ///< whether no weight of a pair is larger than 1
};

/// Bounds on sums after a step.
struct LeafMasses {
  double total = 0.0;         ///< of all weights
  double largest_lane = 0.0;  ///< of the absolute direction in one lane
  double largest_class = 0.0;  ///< of the weights against one class
};

/// up = exp(w), down = exp(-w); and how large sums may become when e[i, r] is multiplied by
/// up[q, r] * down[q, y_i].
LeafMasses leaf_step(std::span<const double> w, const LeafSums& sums, const LeafBounds& bounds,
                     std::span<float> up, std::span<float> down, int n_threads = 1);

}  // namespace marginboost
