// Best-first growth in batches.
#include <algorithm>
#include <iterator>
#include <vector>

#include "marginboost/trees/shard.hpp"

namespace marginboost {
namespace {

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

// A node that may be divided; the best come first.
struct OpenNode {
  double gain;
  int node;
  bool operator<(const OpenNode& other) const {
    return gain != other.gain ? gain > other.gain : node < other.node;
  }
};

// Leaves get their numbers in the order of the nodes.
GrownTree number_leaves(const std::vector<NodeSplit>& nodes, const std::vector<int>& divided) {
  GrownTree tree;
  for (auto* of_splits : {&tree.feature, &tree.bin, &tree.left, &tree.right}) {
    of_splits->reserve(divided.size());
  }
  tree.gain.reserve(divided.size());
  tree.counts.reserve(divided.size() + 1);
  tree.leaf_of_node.assign(nodes.size(), 0);
  std::vector<std::int32_t> child(nodes.size());
  for (std::size_t q = 0; q < divided.size(); ++q) {
    tree.leaf_of_node[at(divided[q])] = -1;
    child[at(divided[q])] = static_cast<std::int32_t>(q);
  }
  for (std::size_t node = 0; node < nodes.size(); ++node) {
    if (tree.leaf_of_node[node] < 0) continue;
    const auto leaf = static_cast<std::int32_t>(tree.counts.size());
    tree.leaf_of_node[node] = leaf;
    child[node] = ~leaf;
    tree.counts.push_back(nodes[node].count);
  }
  for (std::size_t q = 0; q < divided.size(); ++q) {
    const NodeSplit& split = nodes[at(divided[q])];
    tree.feature.push_back(split.feature);
    tree.bin.push_back(split.bin);
    tree.gain.push_back(split.gain);
    tree.left.push_back(child[2 * q + 1]);
    tree.right.push_back(child[2 * q + 2]);
  }
  return tree;
}

}  // namespace

GrownTree TreeShard::grow_tree(std::span<const std::int32_t> features, const RowSample& sample,
                                 const TreeRules& rules, const GrowthRules& growth) {
  std::vector<NodeSplit> nodes{start_tree(features, sample, rules)};
  std::vector<int> depth{0}, divided;
  std::vector<OpenNode> open, found_open, merged;
  std::vector<NodeCut> cuts;
  if (nodes[0].feature >= 0) open.push_back({nodes[0].gain, 0});
  int n_leaves = 1;
  while (!open.empty() && n_leaves < growth.max_leaf_nodes) {
    const int n = std::min((static_cast<int>(open.size()) + 1) / 2, growth.max_leaf_nodes - n_leaves);
    const bool full = n_leaves + n >= growth.max_leaf_nodes;
    cuts.clear();
    for (int c = 0; c < n; ++c) {
      const int node = open[at(c)].node;
      const NodeSplit& split = nodes[at(node)];
      cuts.push_back({node, split.feature, split.bin,
                      !full && depth[at(node)] + 2 <= growth.max_depth});
      divided.push_back(node);
      depth.insert(depth.end(), 2, depth[at(node)] + 1);
    }
    const auto first = static_cast<int>(nodes.size());
    const std::vector<NodeSplit> found = split(cuts);
    nodes.insert(nodes.end(), found.begin(), found.end());
    found_open.clear();
    for (std::size_t j = 0; j < found.size(); ++j) {
      if (found[j].feature >= 0) found_open.push_back({found[j].gain, first + static_cast<int>(j)});
    }
    std::sort(found_open.begin(), found_open.end());
    merged.clear();
    std::merge(open.begin() + n, open.end(), found_open.begin(), found_open.end(),
               std::back_inserter(merged));
    open.swap(merged);
    n_leaves += n;
  }
  return number_leaves(nodes, divided);
}

}  // namespace marginboost
