// The best stumps by the histogram of one feature, a tile of outputs at a time.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <span>

#include "marginboost/stumps/shard.hpp"

namespace marginboost {

// The order among equals is fixed, and the output comes last in it, so that neither the threads nor
// the order of the rows nor the numbering of the classes changes which stump is chosen.
inline bool better(const StumpChoice& a, const StumpChoice& b) {
  const std::int64_t size_a = std::abs(a.edge), size_b = std::abs(b.edge);
  if (a.feature < 0 || b.feature < 0) return b.feature < 0 && a.feature >= 0;
  if (size_a != size_b) return size_a > size_b;
  if (a.feature != b.feature) return a.feature < b.feature;
  if (a.bin != b.bin) return a.bin < b.bin;
  if (a.edge != b.edge) return a.edge > b.edge;
  return a.output < b.output;
}

/// Some outputs of one feature's histogram.
struct TileHistogram {
  const std::int32_t* cells = nullptr;  ///< n_bins x lanes
  const std::int32_t* total = nullptr;  ///< lanes: the sum over the bins
  int lanes = 0;
  std::int64_t n_bins = 0;
  int feature = 0;
  int first_output = 0;
};

/// The stump of largest |edge|, if it is better than the best so far.
void offer_largest(const TileHistogram& tile, StumpChoice& best);
/// The stump of largest |edge| for each lane likewise. Features must come in ascending order.
void offer_each(const TileHistogram& tile, StumpChoice* best);
/// scores[b] gains what the tile's outputs add to the score of a threshold after bin b: n_bins - 1 of
/// them.
void add_scores(const TileHistogram& tile, Criterion criterion, std::int64_t* scores);
/// The threshold of highest score, if it is better than the best so far.
void offer_scores(int feature, std::span<const std::int64_t> scores, StumpChoice& best);

}  // namespace marginboost
