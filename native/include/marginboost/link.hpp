// From scores to probabilities.
#pragma once

#include <span>

namespace marginboost {

enum class Link {
  none,             ///< scores stay scores
  softmax,          ///< softmax(factor * F)
  one_against_all,  ///< the logistic function of 2 F, scaled to sum 1; with two classes softmax(F)
};

/// Turns the scores of one row into probabilities, in place, as marginboost.model.link does.
void to_probabilities(Link link, double factor, std::span<double> scores);

}  // namespace marginboost
