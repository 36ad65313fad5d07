// The rows of a fit of vector-leaf trees: their exponentials, the tree that grows over them, and the
// sums of its leaves.
//
// Rows are grouped by class. A tree grows a batch of nodes at a time: nodes are numbered from the
// root, 0, in the order in which they are made, the left one of two first.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "marginboost/node_split.hpp"
#include "marginboost/trees/kernels.hpp"

namespace marginboost {

struct TreeShardData {
  std::vector<std::int64_t> class_offsets;     ///< n_classes + 1
  std::vector<float> weight;                   ///< per row, or empty: all 1
  const std::int32_t* multiplicity = nullptr;  ///< per row, or null: all 1
  const std::uint64_t* hashes = nullptr;       ///< per row, or null: no rows can be sampled
  /// Copies of each row, those that are held out included, or null: one. Copy j of row i has the hash
  /// hashes[i] + j * kCopyStep; those below the bound of their class are held out.
  const std::int32_t* copies = nullptr;
  std::vector<std::uint64_t> bounds;  ///< per class, where `copies` is given
  /// What a pair counts, by class of the row and other class; or empty: 1.
  std::vector<float> pair_weights;
};

/// 2^64 over the golden ratio.
constexpr std::uint64_t kCopyStep = 0x9E3779B97F4A7C15U;

/// What a search sees: the copies of rows whose hash, mixed with the seed, is at most `limit`. Rows of no
/// weight are never seen.
struct RowSample {
  std::uint64_t seed = 0;
  std::uint64_t limit = ~std::uint64_t{0};
};

/// What a tree's splits must hold to.
struct TreeRules {
  std::int32_t least_count = 1;  ///< rows on either side of a split, with their multiplicity
  float smoothing = 1.0F;        ///< added to the mass of a side, in units of the mass
};

/// When a tree stops growing.
struct GrowthRules {
  int max_leaf_nodes = 31;
  int max_depth = 1 << 30;
};

/// A tree: divided nodes in the order in which they were divided; a child below 0 is leaf ~child.
struct GrownTree {
  std::vector<std::int32_t> feature, bin, left, right;
  std::vector<double> gain;
  std::vector<std::int32_t> leaf_of_node;  ///< -1 where the node was divided
  std::vector<std::int64_t> counts;        ///< rows of each leaf that the search saw
};

class TreeShard {
 public:
  virtual ~TreeShard() = default;

  virtual const Slots& slots() const = 0;
  virtual std::int64_t n_rows() const = 0;
  virtual int n_classes() const = 0;
  virtual int n_features() const = 0;

  /// All margins back to zero, all rows in leaf 0.
  virtual void restart() = 0;
  /// e[i, r] *= up[q, r] * down[q, y_i], q the row's leaf (n_leaves x n_classes each); then the
  /// direction anew: classes added up with these signs, in units of 2^-exponent, masses in units of
  /// 2^-mass_exponent, and the sum of losses in units of 2^-(mass_exponent + kLossBits).
  virtual TreeAdvance advance(const float* up, const float* down, int n_leaves,
                                const float* signs, int exponent, int mass_exponent) = 0;
  /// Starts a tree over some features, ascending, and finds the root's best split.
  virtual NodeSplit start_tree(std::span<const std::int32_t> features, const RowSample& sample,
                                 const TreeRules& rules) = 0;
  /// Divides nodes, and finds the best splits of the new ones. `allowed`, one row per cut and one byte per
  /// feature of the tree, says which features the two new nodes may split: none that was not allowed
  /// above them. Null: all.
  virtual std::vector<NodeSplit> split(std::span<const NodeCut> cuts,
                                       const std::uint8_t* allowed = nullptr) = 0;
  /// The same with no search, for rows that are a part of the whole: nodes of a tree that was begun
  /// like this cannot be split, only moved.
  virtual void begin_tree(std::span<const std::int32_t> features, const RowSample& sample) = 0;
  virtual void move_rows(std::span<const NodeCut> cuts) = 0;
  /// What a search sums over the rows of some nodes, each at most once and none that was divided: the
  /// bins of the tree's features, one feature after the other, x cell.
  virtual void node_histograms(std::span<const std::int32_t> nodes, std::int32_t* out) = 0;
  virtual std::int64_t n_tree_bins() const = 0;
  /// Starts a tree and divides nodes until the rules say stop: each time the better half of those
  /// whose splits gain anything. What a host could do by start_tree and split, without the messages.
  GrownTree grow_tree(std::span<const std::int32_t> features, const RowSample& sample,
                      const TreeRules& rules, const GrowthRules& growth);
  /// Ends the tree: the rows of node q are in leaf leaf_of_node[q] (-1: it was divided). Sums by leaf
  /// and class, in units of 2^-exponent: `own` of the masses of the class's rows, `against` of the
  /// other rows' weights for the class; n_leaves x n_classes each.
  virtual void finish_tree(std::span<const std::int32_t> leaf_of_node, int n_leaves, int exponent,
                           double* own, double* against) = 0;
  /// Copies of e of some rows (n x n_classes).
  virtual void exponentials(std::span<const std::int64_t> rows, float* out) const = 0;
  /// Copies of e (n_rows x n_classes) and the direction (n_rows x cell), for tests.
  virtual void state(float* exponentials, std::int32_t* direction) const = 0;
};

std::unique_ptr<TreeShard> make_tree_shard(TreeShardData data, const std::uint8_t* bins,
                                               std::vector<std::int32_t> n_bins, Loss loss,
                                               int n_threads);
std::unique_ptr<TreeShard> make_tree_shard(TreeShardData data, const std::uint16_t* bins,
                                               std::vector<std::int32_t> n_bins, Loss loss,
                                               int n_threads);

/// Lists of entries, as in BinColumns.
template <class Bin>
struct SparseBins {
  const std::int64_t* offsets = nullptr;
  const std::int32_t* rows = nullptr;
  const Bin* bins = nullptr;
  const std::int32_t* default_bins = nullptr;
};
std::unique_ptr<TreeShard> make_tree_shard(TreeShardData data,
                                               const SparseBins<std::uint8_t>& bins,
                                               std::vector<std::int32_t> n_bins, Loss loss,
                                               int n_threads);
std::unique_ptr<TreeShard> make_tree_shard(TreeShardData data,
                                               const SparseBins<std::uint16_t>& bins,
                                               std::vector<std::int32_t> n_bins, Loss loss,
                                               int n_threads);

}  // namespace marginboost
