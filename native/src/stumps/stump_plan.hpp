// What the stump searches share: how the work is cut.
#pragma once

#include "stumps/shard_parts.hpp"

namespace marginboost {

/// How a search is cut into tasks. A task is a block of features, a tile of outputs, and (only where
/// those are too few for the threads) a share of the rows.
struct StumpShard::StumpPlan {
  Direction direction;
  int features_per_task = 1;
  int n_blocks = 1;
  int n_shares = 1;
  std::int64_t rows_per_share = 0;
  std::int64_t cells = 0;  ///< int32 cells of one feature's histogram
  std::int64_t n_tasks = 0;

  // For searches that need all of an output's rows, or all of a feature's tiles, at once.
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

}  // namespace marginboost
