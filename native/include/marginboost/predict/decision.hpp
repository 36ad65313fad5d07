// From probabilities to a decision.
#pragma once

#include <cstdint>
#include <span>

namespace marginboost {

/// For each row the first class r of least expected cost, sum over a of p[a] costs[a x r]. The terms are
/// added in the order of the classes, so the bits of a row do not depend on the rows around it.
void least_cost(std::span<const double> probabilities, std::span<const double> costs,
                std::int64_t n_classes, int n_threads, std::span<std::int64_t> best);

}  // namespace marginboost
