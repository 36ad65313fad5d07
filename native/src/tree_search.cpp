// Trees with -1/+1 leaves, a level at a time: the class's direction splits into a positive and a
// negative mass a row, both held in one 64-bit number, so a histogram entry costs one add.
#include <vector>

#include "shard_parts.hpp"

namespace marginboost {
namespace {

struct Masses {
  std::int64_t positive, negative;
};

Masses unpack(std::uint64_t packed) {
  return {static_cast<std::int64_t>(packed >> 32), static_cast<std::int64_t>(packed & 0xFFFFFFFFu)};
}

// What weighted Gini impurity is the complement of; larger is purer. The same operations in the same
// order as the reference engine's.
double purity(std::int64_t positive, std::int64_t negative) {
  const auto p = static_cast<double>(positive), n = static_cast<double>(negative);
  return (p * p + n * n) / (p + n);
}

struct Scored {
  NodeSplit split;
  double score = -1.0;
};

void scan_node(const std::uint64_t* hist, std::int64_t n_bins, int feature, Scored& best) {
  std::uint64_t total = 0;
  for (std::int64_t b = 0; b < n_bins; ++b) total += hist[b];
  const Masses whole = unpack(total);
  best.split.positive = whole.positive;
  best.split.negative = whole.negative;
  if (whole.positive == 0 || whole.negative == 0) return;
  std::uint64_t prefix = 0;
  for (std::int64_t b = 0; b + 1 < n_bins; ++b) {
    prefix += hist[b];
    const Masses left = unpack(prefix);
    const Masses right = unpack(total - prefix);
    if (left.positive + left.negative == 0) continue;
    if (right.positive + right.negative == 0) break;
    const double score =
        purity(left.positive, left.negative) + purity(right.positive, right.negative);
    if (score > best.score) {
      best.score = score;
      best.split.feature = feature;
      best.split.bin = static_cast<int>(b);
      best.split.left_positive = left.positive;
      best.split.left_negative = left.negative;
    }
  }
}

}  // namespace

void Shard::start_tree(int column) {
  const std::int64_t m = rows_.n_rows;
  if (!node_) {
    node_ = allocate<std::int32_t>(m);
    masses_ = allocate<std::uint64_t>(m);
  }
  const int lanes = rows_.lanes.lanes;
  const std::int32_t* g = rows_.direction + (column / lanes) * m * lanes + column % lanes;
  for (std::int64_t i = 0; i < m; ++i) {
    const std::int64_t value = g[i * lanes];
    masses_[static_cast<std::size_t>(i)] =
        value > 0 ? static_cast<std::uint64_t>(value) << 32 : static_cast<std::uint64_t>(-value);
    node_[static_cast<std::size_t>(i)] = 0;
  }
}

std::vector<NodeSplit> Shard::best_splits(int n_nodes) const {
  constexpr std::int64_t kScratchCells = (16 << 20) / sizeof(std::uint64_t);
  const std::int64_t m = rows_.n_rows;
  const int d = data_.bins.n_features;
  const int threads = threads_for(m * d);
  std::vector<std::vector<Scored>> found(static_cast<std::size_t>(d));
  std::vector<std::vector<std::uint64_t>> scratch(static_cast<std::size_t>(threads));
  parallel_for(d, threads, [&](std::int64_t task, int slot) {
    const auto feature = static_cast<int>(task);
    const std::int64_t n_bins = data_.n_bins[static_cast<std::size_t>(task)];
    auto& mine = scratch[static_cast<std::size_t>(slot)];
    auto& best = found[static_cast<std::size_t>(task)];
    best.resize(static_cast<std::size_t>(n_nodes));
    // Many nodes of many bins are taken in batches, so that the scratch memory stays small.
    const std::int64_t batch = std::clamp<std::int64_t>(kScratchCells / n_bins, 1, n_nodes);
    for (std::int64_t first = 0; first < n_nodes; first += batch) {
      const std::int64_t count = std::min(batch, n_nodes - first);
      mine.assign(static_cast<std::size_t>(count * n_bins), 0);
      visit_column(data_.bins, feature, [&](auto* column) {
        for (std::int64_t i = 0; i < m; ++i) {
          const std::int64_t node = node_[static_cast<std::size_t>(i)] - first;
          if (node >= 0 && node < count) {
            mine[static_cast<std::size_t>(node * n_bins + column[i])] +=
                masses_[static_cast<std::size_t>(i)];
          }
        }
      });
      for (std::int64_t node = 0; node < count; ++node) {
        scan_node(mine.data() + node * n_bins, n_bins, feature,
                  best[static_cast<std::size_t>(first + node)]);
      }
    }
  });
  std::vector<NodeSplit> splits(static_cast<std::size_t>(n_nodes));
  for (std::size_t node = 0; node < splits.size(); ++node) {
    Scored best = found[0][node];
    for (const auto& of_feature : found) {
      if (of_feature[node].score > best.score) best = of_feature[node];
    }
    splits[node] = best.split;
  }
  return splits;
}

void Shard::apply_splits(const std::vector<NodeSplit>& splits,
                         const std::vector<std::int32_t>& left,
                         const std::vector<std::int32_t>& right) {
  const std::int64_t m = rows_.n_rows;
  std::int32_t* node = node_.get();
  const auto goes_left = [&](const auto* bins, std::int64_t i, const NodeSplit& split) {
    return split.feature < 0 || bins[split.feature * m + i] <= split.bin;
  };
  const std::int64_t chunk = std::int64_t{1} << 16;
  parallel_for((m + chunk - 1) / chunk, n_threads_, [&](std::int64_t task, int) {
    const std::int64_t end = std::min(m, (task + 1) * chunk);
    for (std::int64_t i = task * chunk; i < end; ++i) {
      if (node[i] < 0) continue;
      const auto q = static_cast<std::size_t>(node[i]);
      const bool to_left = data_.bins.narrow ? goes_left(data_.bins.narrow, i, splits[q])
                                             : goes_left(data_.bins.wide, i, splits[q]);
      node[i] = to_left ? left[q] : right[q];
    }
  });
}

void Shard::finish_tree(const std::vector<std::uint8_t>& leaf_side) {
  for (std::int64_t i = 0; i < rows_.n_rows; ++i) {
    side_[static_cast<std::size_t>(i)] =
        leaf_side[static_cast<std::size_t>(~node_[static_cast<std::size_t>(i)])];
  }
}

}  // namespace marginboost
