// What the bindings check about the nodes of a growing tree.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "bindings.hpp"
#include "marginboost/node_split.hpp"

namespace marginboost {

class GrowingNodes {
 public:
  static constexpr const char* kEachOnce =
      "nodes must be leaves of the tree so far, each named once.";

  /// A tree of one node.
  void start() { is_leaf_.assign(1, true); }

  /// The nodes of a whole tree.
  void set(std::span<const std::int32_t> leaf_of_node) {
    is_leaf_.resize(leaf_of_node.size());
    for (std::size_t q = 0; q < is_leaf_.size(); ++q) is_leaf_[q] = leaf_of_node[q] >= 0;
  }

  std::size_t size() const { return is_leaf_.size(); }
  bool is_leaf(std::int32_t node) const {
    return node >= 0 && static_cast<std::size_t>(node) < is_leaf_.size() &&
           is_leaf_[static_cast<std::size_t>(node)];
  }

  /// Divides nodes; nothing has changed where a cut is refused.
  std::vector<NodeCut> cut(const std::vector<std::int32_t>& nodes,
                           const std::vector<std::int32_t>& features,
                           const std::vector<std::int32_t>& bins, const std::vector<bool>& search,
                           int n_features) {
    require(nodes.size() == features.size() && nodes.size() == bins.size() &&
                nodes.size() == search.size(),
            "nodes, features, bins and search must have the same length.");
    std::vector<NodeCut> cuts;
    std::vector<bool> leaves = is_leaf_;
    for (std::size_t c = 0; c < nodes.size(); ++c) {
      require(is_leaf(nodes[c]) && leaves[static_cast<std::size_t>(nodes[c])], kEachOnce);
      require(features[c] >= 0 && features[c] < n_features, "features must be below n_features.");
      leaves[static_cast<std::size_t>(nodes[c])] = false;
      cuts.push_back({nodes[c], features[c], bins[c], search[c]});
    }
    is_leaf_ = std::move(leaves);
    is_leaf_.resize(is_leaf_.size() + 2 * cuts.size(), true);
    return cuts;
  }

  /// The number of leaves, of which `leaf_of_node` must name one for every node that was not divided.
  int count_leaves(std::span<const std::int32_t> leaf_of_node) const {
    require(leaf_of_node.size() == is_leaf_.size(), "leaf_of_node must have one entry per node.");
    int n_leaves = 0;
    for (std::size_t q = 0; q < is_leaf_.size(); ++q) {
      require((leaf_of_node[q] >= 0) == is_leaf_[q] &&
                  leaf_of_node[q] < static_cast<std::int32_t>(is_leaf_.size()),
              "leaf_of_node must name a leaf, below the number of nodes, for every node that was not "
              "divided.");
      n_leaves = std::max(n_leaves, leaf_of_node[q] + 1);
    }
    return n_leaves;
  }

 private:
  std::vector<bool> is_leaf_;  // of each node, so far
};

inline nb::tuple record_of(const NodeSplit& node) {
  return nb::make_tuple(node.feature, node.bin, node.count, node.gain);
}

inline nb::list records_of(const std::vector<NodeSplit>& nodes) {
  nb::list records;
  for (const NodeSplit& node : nodes) records.append(record_of(node));
  return records;
}

}  // namespace marginboost
