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
  double unit = 1.0;  ///< of the sums: a power of two
};

/// out = factor * log((own + pseudo_count) / (against + pseudo_count)), within +-most.
void leaf_vectors(const LeafSums& sums, double pseudo_count, double factor, double most,
                  std::span<double> out);

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
                     std::span<float> up, std::span<float> down);

/// How the coefficients of leaves follow from the sums.
struct LeafRules {
  double pseudo_count = 1.0;
  double factor = 0.5;
  double most = 10.0;
  double eta = 0.1;  ///< shortens the step
};

/// What a shortened step leaves.
struct ShortStep {
  bool moves = false;  ///< whether any coefficient of it is not 0
  LeafMasses masses;
};

/// step = `leaf_vectors` times eta, on the grid, and its `leaf_step`: in one pass over the leaves.
ShortStep short_step(const LeafSums& sums, const LeafRules& rules, const LeafBounds& bounds,
                     std::span<double> step, std::span<float> up, std::span<float> down,
                     int n_threads);

}  // namespace marginboost
