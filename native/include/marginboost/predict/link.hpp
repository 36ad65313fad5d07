// From scores to probabilities.
#pragma once

#include <cstdint>
#include <span>

namespace marginboost {

enum class Link {
  none,             ///< scores stay scores
  softmax,          ///< softmax(factor * F)
  one_against_all,  ///< the logistic function of 2 F, scaled to sum 1; with two classes softmax(F)
};

/// Turns the scores of one row into probabilities, in place.
void to_probabilities(Link link, double factor, std::span<double> scores);
/// The same for rows of n_classes scores each.
void to_probabilities(Link link, double factor, std::int64_t n_classes, int n_threads,
                      std::span<double> scores);

}  // namespace marginboost
