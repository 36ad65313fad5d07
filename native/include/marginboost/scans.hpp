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

/// Sums of the direction: all bins x n_outputs.
struct StumpHistograms {
  const std::int32_t* cells = nullptr;
  std::span<const std::int32_t> n_bins;
  int n_outputs = 0;
};

/// As StumpShard::best_stump.
StumpChoice scan_stump(const StumpHistograms& histograms, Criterion criterion);

/// Sums over some nodes of a vector-leaf tree: n_nodes x all bins x cell.
struct NodeHistograms {
  const std::int32_t* cells = nullptr;
  std::span<const std::int32_t> n_bins;
  std::int64_t n_nodes = 0;
  Slots slots;
  const std::uint8_t* allowed = nullptr;  ///< n_nodes x features: whether to search it; null: all
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

/// Sums over some nodes, each of which is kept in a place of its own: n_places x all bins x cell.
struct KeptHistograms {
  std::int32_t* cells = nullptr;
  std::span<const std::int32_t> n_bins;
  Slots slots;
  const std::uint8_t* allowed = nullptr;  ///< as in NodeHistograms: of all nodes that are scanned
};

/// Adds up the parts of nodes, each n_nodes x all bins x cell, in their places; subtracts the first of them
/// from what is kept in `rests`. Scans those nodes, and after them the rests.
std::vector<NodeChoice> search_parts(const KeptHistograms& kept,
                                     std::span<const std::int32_t* const> parts,
                                     std::span<const std::int64_t> places,
                                     std::span<const std::int64_t> rests, const TreeRules& rules);

}  // namespace marginboost
