#include "marginboost/trees/shard.hpp"

#include <algorithm>
#include <utility>

#include "marginboost/binning/bin_columns.hpp"
#include "marginboost/threads/thread_pool.hpp"
#include "trees/node_search.hpp"
#include "trees/row_partition.hpp"
#include "trees/margins.hpp"

namespace marginboost {
namespace {

template <class Bin>
class TreeShardOf final : public TreeShard {
 public:
  TreeShardOf(TreeShardData data, BinColumns<Bin> columns, Loss loss, int n_threads)
      : n_threads_(n_threads),
        columns_(std::move(columns)),
        margins_(std::move(data), loss, n_threads),
        partition_(columns_, n_threads),
        search_(columns_, partition_, margins_.slots(),
                margins_.data().multiplicity != nullptr, n_threads) {}

  const Slots& slots() const override { return margins_.slots(); }
  std::int64_t n_rows() const override { return margins_.n_rows(); }
  int n_classes() const override { return margins_.n_classes(); }
  int n_features() const override { return columns_.n_features(); }

  void restart() override { margins_.restart(); }

  TreeAdvance advance(const float* up, const float* down, int n_leaves, const float* signs,
                        int exponent, int mass_exponent) override {
    return margins_.advance(up, down, n_leaves, signs, exponent, mass_exponent);
  }

  NodeSplit start_tree(std::span<const std::int32_t> features, const RowSample& sample,
                         const TreeRules& rules) override {
    restart_tree(features, sample, rules);
    const NodePair root;
    splits_.clear();
    search_.search({&root, 1}, direction(), splits_);
    return splits_[0];
  }

  std::vector<NodeSplit> split(std::span<const NodeCut> cuts,
                               const std::uint8_t* allowed) override {
    const int first = partition_.n_nodes();
    partition_.divide(cuts);
    std::vector<NodePair> pairs;
    for (std::size_t c = 0; c < cuts.size(); ++c) {
      const int left = first + 2 * static_cast<int>(c);
      const bool left_is_small = partition_.node(left).n_rows() <= partition_.node(left + 1).n_rows();
      pairs.push_back({left_is_small ? left : left + 1, left_is_small ? left + 1 : left,
                       cuts[c].node, cuts[c].search,
                       allowed == nullptr ? nullptr : allowed + c * n_tree_features_});
    }
    search_.search(pairs, direction(), splits_);
    return {splits_.begin() + first, splits_.end()};
  }

  void begin_tree(std::span<const std::int32_t> features, const RowSample& sample) override {
    restart_tree(features, sample, {});
  }

  void move_rows(std::span<const NodeCut> cuts) override { partition_.divide(cuts); }

  void node_histograms(std::span<const std::int32_t> nodes, std::int32_t* out) override {
    search_.histograms(nodes, direction(), out);
  }
  std::int64_t n_tree_bins() const override { return search_.n_tree_bins(); }

  void finish_tree(std::span<const std::int32_t> leaf_of_node, int n_leaves, int exponent,
                   double* own, double* against) override {
    margins_.leaf_sums(
        partition_.n_leaf_ranges(),
        [&](std::int64_t begin, std::int64_t end) {
          partition_.write_leaves(leaf_of_node, begin, end, margins_.leaves());
        },
        n_leaves, exponent, own, against);
  }

  void exponentials(std::span<const std::int64_t> rows, float* out) const override {
    margins_.exponentials(rows, out);
  }

  void state(float* exponentials, std::int32_t* direction) const override {
    margins_.state(exponentials, direction);
  }

 private:
  void restart_tree(std::span<const std::int32_t> features, const RowSample& sample,
                    const TreeRules& rules) {
    n_tree_features_ = features.size();
    partition_.restart(sample, margins_.data());
    search_.start_tree(features, rules);
    if (partition_.drawn() != nullptr) draw_direction();
  }

  /// What the search sums over its rows: where it sees some of a row's copies, so much of the direction.
  const std::int32_t* direction() const {
    return partition_.drawn() == nullptr ? margins_.direction() : drawn_.data();
  }

  void draw_direction() {
    const std::int64_t cell = slots().lanes, m = n_rows();
    drawn_.resize(static_cast<std::size_t>(m * cell));
    const std::int32_t* copies = margins_.data().multiplicity;
    constexpr std::int64_t kRowsATask = 1 << 12;
    parallel_for((m + kRowsATask - 1) / kRowsATask, n_threads_, [&](std::int64_t task, int) {
      const std::int64_t end = std::min(m, (task + 1) * kRowsATask);
      for (std::int64_t i = task * kRowsATask; i < end; ++i) {
        const std::int32_t count = partition_.drawn()[i];
        if (count == 0) continue;  // never read
        const std::int32_t* from = margins_.direction() + i * cell;
        std::int32_t* to = drawn_.data() + i * cell;
        for (std::int64_t j = 0; j < cell; ++j) to[j] = from[j] / copies[i] * count;
      }
    }, "draw direction");
  }

  int n_threads_;
  BinColumns<Bin> columns_;
  TreeMargins margins_;
  RowPartition<Bin> partition_;
  NodeSearch<Bin> search_;
  std::vector<NodeSplit> splits_;
  std::size_t n_tree_features_ = 0;
  std::vector<std::int32_t> drawn_;  ///< the direction of the drawn copies; empty where all are seen
};

template <class Bin>
std::unique_ptr<TreeShard> make_dense(TreeShardData data, const Bin* bins,
                                        std::vector<std::int32_t> n_bins, Loss loss, int n_threads) {
  const std::int64_t m = data.class_offsets.back();
  return std::make_unique<TreeShardOf<Bin>>(std::move(data),
                                              BinColumns<Bin>(bins, m, std::move(n_bins), n_threads),
                                              loss, n_threads);
}

template <class Bin>
std::unique_ptr<TreeShard> make_sparse(TreeShardData data, const SparseBins<Bin>& bins,
                                         std::vector<std::int32_t> n_bins, Loss loss,
                                         int n_threads) {
  const std::int64_t m = data.class_offsets.back();
  return std::make_unique<TreeShardOf<Bin>>(
      std::move(data),
      BinColumns<Bin>(bins.offsets, bins.rows, bins.bins, bins.default_bins, m, std::move(n_bins)),
      loss, n_threads);
}

}  // namespace

std::unique_ptr<TreeShard> make_tree_shard(TreeShardData data, const std::uint8_t* bins,
                                               std::vector<std::int32_t> n_bins, Loss loss,
                                               int n_threads) {
  return make_dense(std::move(data), bins, std::move(n_bins), loss, n_threads);
}
std::unique_ptr<TreeShard> make_tree_shard(TreeShardData data, const std::uint16_t* bins,
                                               std::vector<std::int32_t> n_bins, Loss loss,
                                               int n_threads) {
  return make_dense(std::move(data), bins, std::move(n_bins), loss, n_threads);
}
std::unique_ptr<TreeShard> make_tree_shard(TreeShardData data,
                                               const SparseBins<std::uint8_t>& bins,
                                               std::vector<std::int32_t> n_bins, Loss loss,
                                               int n_threads) {
  return make_sparse(std::move(data), bins, std::move(n_bins), loss, n_threads);
}
std::unique_ptr<TreeShard> make_tree_shard(TreeShardData data,
                                               const SparseBins<std::uint16_t>& bins,
                                               std::vector<std::int32_t> n_bins, Loss loss,
                                               int n_threads) {
  return make_sparse(std::move(data), bins, std::move(n_bins), loss, n_threads);
}

}  // namespace marginboost
