// Searches of histograms that were summed elsewhere, over the rows of many shards: the same choices,
// with the same ties, as a shard's that has all of the rows.
//
// Histograms hold the bins of some features, one feature after the other; features are numbered from 0
// among these, so that a part of the features can be searched by itself.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "marginboost/stumps/shard.hpp"
#include "marginboost/trees/shard.hpp"

namespace marginboost {

/// Sums of the direction: all bins x n_columns.
struct StumpHistograms {
  const std::int32_t* cells = nullptr;
  std::span<const std::int32_t> n_bins;
  int n_columns = 0;
};

/// As StumpShard::best_stump and StumpShard::best_stumps.
StumpChoice scan_stump(const StumpHistograms& histograms, Criterion criterion);
std::vector<StumpChoice> scan_stumps(const StumpHistograms& histograms);

/// Masses of a tree's open nodes by label: n_nodes x all bins x n_labels.
struct TreeHistograms {
  const std::int64_t* masses = nullptr;
  const double* weights = nullptr;  ///< n_nodes x all bins: what the rows weigh, or null
  double least_weight = 0.0;        ///< of a leaf, where there are weights
  std::span<const std::int32_t> n_bins;
  std::int64_t n_nodes = 0;
  int n_labels = 0;
};

struct ScoredSplit {
  GiniSplit split;
  double score = -1.0;  ///< of two splits of a node the larger is the better one; -1: no split
};

/// As StumpShard::best_splits.
std::vector<ScoredSplit> scan_splits(const TreeHistograms& histograms);

/// Sums over some nodes of a vector-leaf tree: n_nodes x all bins x cell.
struct NodeHistograms {
  const std::int32_t* cells = nullptr;
  std::span<const std::int32_t> n_bins;
  std::int64_t n_nodes = 0;
  Slots slots;
};

/// The best split of a node. It gains something where `score` is larger than `here`.
struct NodeChoice {
  int feature = -1;  ///< -1: no split is allowed
  int bin = 0;
  float score = -1.0F;     ///< of both sides together
  float here = 0.0F;       ///< of the node as it is
  std::int64_t count = 0;  ///< rows of the node, and of its left side
  std::int64_t left_count = 0;
};

std::vector<NodeChoice> scan_nodes(const NodeHistograms& histograms, const TreeRules& rules);

}  // namespace marginboost
