// What the stump searches share: how the work is cut, and which of two stumps is better.
#pragma once

#include <cstdlib>

#include "shard_parts.hpp"

namespace marginboost {

/// How a search is cut into tasks. A task is a block of features, a tile of columns, and (only where
/// those are too few for the threads) a share of the rows.
struct Shard::StumpPlan {
  Direction direction;
  int features_per_task = 1;
  int n_blocks = 1;
  int n_shares = 1;
  std::int64_t rows_per_share = 0;
  std::int64_t cells = 0;  ///< int32 cells of one feature's histogram
  std::int64_t n_tasks = 0;

  // For searches that need all of a column's rows, or all of a feature's tiles, at once.
  void share_no_rows(std::int64_t n_rows, int n_tiles) {
    n_shares = 1;
    rows_per_share = n_rows;
    n_tasks = std::int64_t{n_blocks} * n_tiles;
  }

  struct Task {
    int first_feature, n_features, tile, share;
  };
  Task task(std::int64_t number, int n_features, int n_tiles) const {
    const auto share = static_cast<int>(number % n_shares);
    const auto tile = static_cast<int>(number / n_shares % n_tiles);
    const auto block = static_cast<int>(number / n_shares / n_tiles);
    const int first = block * features_per_task;
    return {first, std::min(features_per_task, n_features - first), tile, share};
  }
};

// The order among equals is fixed, and the column comes last in it, so that neither the threads nor
// the order of the rows nor the numbering of the classes changes which stump is chosen.
inline bool better(const StumpChoice& a, const StumpChoice& b) {
  const std::int64_t size_a = std::abs(a.edge), size_b = std::abs(b.edge);
  if (a.feature < 0 || b.feature < 0) return b.feature < 0 && a.feature >= 0;
  if (size_a != size_b) return size_a > size_b;
  if (a.feature != b.feature) return a.feature < b.feature;
  if (a.bin != b.bin) return a.bin < b.bin;
  if (a.edge != b.edge) return a.edge > b.edge;
  return a.column < b.column;
}

}  // namespace marginboost
