#include "marginboost/predict/leaf_moves.hpp"

#include <cstddef>
#include <limits>
#include <span>

namespace marginboost {
namespace {

constexpr std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

/// Beyond this many nodes a walk is shorter than asking all of them.
constexpr std::int64_t kMostNodes = 512;

/// One tree of a view.
struct TreeView {
  std::span<const std::int32_t> feature;
  std::span<const double> threshold;
  std::span<const std::int32_t> left;
  std::span<const std::int32_t> right;
  std::int64_t n_leaves;

  TreeView(const EnsembleView& view, std::size_t tree) {
    const auto first = at(view.node_offsets[tree]);
    const auto count = at(view.node_offsets[tree + 1]) - first;
    feature = view.feature.subspan(first, count);
    threshold = view.threshold.subspan(first, count);
    left = view.left.subspan(first, count);
    right = view.right.subspan(first, count);
    n_leaves = view.leaf_offsets[tree + 1] - view.leaf_offsets[tree];
  }

  std::int64_t n_nodes() const { return static_cast<std::int64_t>(feature.size()); }

  bool is_proper() const {
    std::vector<char> node_seen(feature.size()), leaf_seen(at(n_leaves));
    for (std::size_t q = 0; q < feature.size(); ++q)
      for (const std::int32_t child : {left[q], right[q]}) {
        char& seen = child >= 0 ? node_seen[at(child)] : leaf_seen[at(~child)];
        if (seen != 0) return false;
        seen = 1;
      }
    return true;
  }

  /// The column whose ranks are this tree's leaves: it asks for each of one feature's thresholds
  /// once, and counts its leaves from left to right. -1 if there is none.
  std::int32_t ranked_column(const Ranks& ranks) const {
    if (feature.empty()) return -1;
    const std::int32_t column = ranks.column(feature[0]);
    if (n_nodes() != ranks.count(column) || n_leaves != n_nodes() + 1) return -1;
    for (const std::int32_t other : feature)
      if (other != feature[0]) return -1;
    for (std::int32_t rank = 0; rank < n_leaves; ++rank) {
      std::int32_t child = 0;
      while (child >= 0)
        child = rank <= ranks.place(column, threshold[at(child)]) ? left[at(child)]
                                                                  : right[at(child)];
      if (~child != rank) return -1;
    }
    return column;
  }
};

}  // namespace

template <class Rank>
bool LeafMoves<Rank>::can_do(const EnsembleView& view, const Ranks& ranks) {
  constexpr std::int64_t kMost = std::numeric_limits<Rank>::max();
  if (ranks.most() > kMost) return false;
  for (std::size_t tree = 0; tree + 1 < view.node_offsets.size(); ++tree) {
    const TreeView one(view, tree);
    if (one.n_leaves > kMost + 1) return false;
    if (one.n_nodes() > kMostNodes && one.ranked_column(ranks) < 0) return false;
    if (!one.is_proper()) return false;
  }
  return true;
}

template <class Rank>
LeafMoves<Rank>::LeafMoves(const EnsembleView& view, const Ranks& ranks) {
  std::vector<std::int32_t> leftmost;  // leaf below each node
  for (std::size_t tree = 0; tree + 1 < view.node_offsets.size(); ++tree) {
    const TreeView one(view, tree);
    const auto first = static_cast<std::int64_t>(moves_.size());
    const std::int32_t column = one.ranked_column(ranks);
    if (column >= 0 || one.feature.empty()) {
      trees_.push_back({first, 0, column, Rank{0}});
      continue;
    }
    leftmost.assign(one.feature.size(), 0);
    const auto leaf_of = [&](std::int32_t child) {
      return child >= 0 ? leftmost[at(child)] : ~child;
    };
    for (std::size_t q = one.feature.size(); q-- > 0;) leftmost[q] = leaf_of(one.left[q]);
    for (std::size_t q = 0; q < one.feature.size(); ++q) {
      const std::int32_t asked = ranks.column(one.feature[q]);
      moves_.push_back({asked, static_cast<Rank>(ranks.place(asked, one.threshold[q]) + 1),
                        static_cast<Rank>(leftmost[q]), static_cast<Rank>(leaf_of(one.right[q]))});
    }
    trees_.push_back({first, static_cast<std::int32_t>(one.n_nodes()), -1,
                      static_cast<Rank>(leftmost[0])});
  }
}

template <class Rank>
const Rank* LeafMoves<Rank>::find(std::int64_t tree, const Rank* ranks, int n,
                                  Rank* leaves) const {
  const Tree& one = trees_[at(tree)];
  if (one.column >= 0) return ranks + std::int64_t{one.column} * kRowsAtOnce;
  score_kernels().of<Rank>().find_leaves(moves_.data() + one.first, one.n_moves, one.root, ranks, n,
                                         leaves);
  return leaves;
}

template <class Rank>
std::int64_t LeafMoves<Rank>::n_moves(std::int64_t first, std::int64_t last) const {
  std::int64_t sum = 0;
  for (std::int64_t tree = first; tree < last; ++tree) sum += trees_[at(tree)].n_moves;
  return sum;
}

template class LeafMoves<std::uint8_t>;
template class LeafMoves<std::uint16_t>;

}  // namespace marginboost
