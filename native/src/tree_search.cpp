// Classification trees, a level at a time. A row has a label and a mass; for a tree with -1/+1 leaves
// those are the sign and the size of a column of the direction, for a tree of classes the row's class
// and weight. A histogram entry costs one add.
#include <vector>

#include "shard_parts.hpp"

namespace marginboost {
namespace {

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

// What weighted Gini impurity is the complement of: sum of squares over sum; larger is purer. The same
// operations in the same order as the reference engine's.
double purity(const std::int64_t* masses, int n_labels, std::int64_t total) {
  double squares = 0.0;
  for (int label = 0; label < n_labels; ++label) {
    const auto mass = static_cast<double>(masses[label]);
    squares += mass * mass;
  }
  return squares / static_cast<double>(total);
}

// The best split so far of one node.
struct Scored {
  int feature = -1;
  int bin = 0;
  double score = -1.0;
};

class NodeScan {
 public:
  explicit NodeScan(int n_labels) : n_labels_(n_labels), whole_(at(n_labels)), left_(at(n_labels)), right_(at(n_labels)) {}

  // hist: n_bins x n_labels of one node and feature. weights: what the rows of each bin weigh, of which
  // both sides must hold `least`; or null.
  void scan(const std::uint32_t* hist, const double* weights, double least, std::int64_t n_bins,
            int feature, Scored& best) {
    const std::int64_t total = sum_up(hist, n_bins, whole_);
    if (is_pure()) return;
    double heavy_left = 0.0, heavy_right = 0.0;
    for (std::int64_t b = 0; weights && b < n_bins; ++b) heavy_right += weights[b];
    std::fill(left_.begin(), left_.end(), 0);
    right_ = whole_;
    std::int64_t left_total = 0;
    for (std::int64_t b = 0; b + 1 < n_bins; ++b) {
      std::int64_t moved = 0;
      for (int label = 0; label < n_labels_; ++label) {
        const std::int64_t mass = hist[b * n_labels_ + label];
        left_[at(label)] += mass;
        right_[at(label)] -= mass;
        moved += mass;
      }
      left_total += moved;
      if (weights) {
        heavy_left += weights[b];
        heavy_right -= weights[b];
      }
      if (left_total == 0) continue;
      if (left_total == total) break;
      if (weights && std::min(heavy_left, heavy_right) < least) continue;
      const double score = purity(left_.data(), n_labels_, left_total) +
                           purity(right_.data(), n_labels_, total - left_total);
      if (score > best.score) best = {feature, static_cast<int>(b), score};
    }
  }

 private:
  std::int64_t sum_up(const std::uint32_t* hist, std::int64_t n_bins, std::vector<std::int64_t>& into) const {
    std::fill(into.begin(), into.end(), 0);
    std::int64_t total = 0;
    for (std::int64_t cell = 0; cell < n_bins * n_labels_; ++cell) {
      into[at(cell % n_labels_)] += hist[cell];
      total += hist[cell];
    }
    return total;
  }

  bool is_pure() const {
    return std::count_if(whole_.begin(), whole_.end(), [](std::int64_t m) { return m > 0; }) < 2;
  }

  int n_labels_;
  std::vector<std::int64_t> whole_, left_, right_;
};

}  // namespace

void Shard::start_tree(int column) {
  const std::int64_t m = rows_.n_rows;
  if (!node_) {
    node_ = allocate<std::int32_t>(m);
    label_ = allocate<std::int32_t>(m);
    mass_ = allocate<std::int32_t>(m);
  }
  class_tree_ = column < 0;
  n_labels_ = class_tree_ ? n_classes() : 2;
  const Direction from = direction();
  const int lanes = from.lanes.lanes;
  const int source = class_tree_ ? 0 : column;
  const std::int32_t* g = from.values + (source / lanes) * m * lanes + source % lanes;
  for_class_spans(0, m, [&](RowSpan span) {
    for (std::int64_t i = span.begin; i < span.end; ++i) {
      const std::int32_t value = g[i * lanes];
      label_[at(i)] = class_tree_ ? span.label : value < 0 ? 1 : 0;
      mass_[at(i)] = value < 0 ? -value : value;
      node_[at(i)] = 0;
    }
  });
}

std::vector<NodeSplit> Shard::best_splits(int n_nodes) const {
  constexpr std::int64_t kScratchCells = (16 << 20) / sizeof(std::uint32_t);
  const std::int64_t m = rows_.n_rows;
  const int d = data_.bins.n_features;
  const int threads = threads_for(m * d);
  std::vector<std::vector<Scored>> found(at(d));
  std::vector<std::vector<std::uint32_t>> scratch(at(threads));
  std::vector<std::vector<double>> weight_scratch(at(threads));
  parallel_for(d, threads, [&](std::int64_t task, int slot) {
    const auto feature = static_cast<int>(task);
    const std::int64_t n_bins = data_.n_bins[at(task)];
    auto& hist = scratch[at(slot)];
    auto& best = found[at(task)];
    best.resize(at(n_nodes));
    NodeScan node_scan(n_labels_);
    // Many nodes of many bins are taken in batches, so that the scratch memory stays small.
    const std::int64_t batch = std::clamp<std::int64_t>(kScratchCells / (n_bins * n_labels_), 1, n_nodes);
    for (std::int64_t first = 0; first < n_nodes; first += batch) {
      const std::int64_t count = std::min(batch, n_nodes - first);
      hist.assign(at(count * n_bins * n_labels_), 0);
      auto& weights = weight_scratch[at(slot)];
      if (data_.leaf_weight) weights.assign(at(count * n_bins), 0.0);
      visit_column(data_.bins, feature, [&](auto* column) {
        for (std::int64_t i = 0; i < m; ++i) {
          const std::int64_t node = node_[at(i)] - first;
          if (node < 0 || node >= count) continue;
          hist[at((node * n_bins + column[i]) * n_labels_ + label_[at(i)])] +=
              static_cast<std::uint32_t>(mass_[at(i)]);
          if (data_.leaf_weight) weights[at(node * n_bins + column[i])] += data_.leaf_weight[i];
        }
      });
      for (std::int64_t node = 0; node < count; ++node) {
        node_scan.scan(hist.data() + node * n_bins * n_labels_,
                       data_.leaf_weight ? weights.data() + node * n_bins : nullptr,
                       data_.least_leaf_weight, n_bins, feature, best[at(first + node)]);
      }
    }
  });
  std::vector<NodeSplit> splits(at(n_nodes));
  for (std::size_t q = 0; q < splits.size(); ++q) {
    Scored best;
    for (const auto& of_feature : found) {
      if (of_feature[q].score > best.score) best = of_feature[q];
    }
    splits[q].feature = best.feature;
    splits[q].bin = best.bin;
    splits[q].masses.assign(at(n_labels_), 0);
    splits[q].left_masses.assign(at(n_labels_), 0);
  }
  const auto is_left = [&](std::int64_t i, const NodeSplit& split) {
    if (split.feature < 0) return false;
    bool left = false;
    visit_column(data_.bins, split.feature, [&](auto* column) { left = column[i] <= split.bin; });
    return left;
  };
  for (std::int64_t i = 0; i < m; ++i) {
    if (node_[at(i)] < 0) continue;
    NodeSplit& split = splits[at(node_[at(i)])];
    split.masses[at(label_[at(i)])] += mass_[at(i)];
    if (is_left(i, split)) split.left_masses[at(label_[at(i)])] += mass_[at(i)];
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
      const std::size_t q = at(node[i]);
      const bool to_left = data_.bins.narrow ? goes_left(data_.bins.narrow, i, splits[q])
                                             : goes_left(data_.bins.wide, i, splits[q]);
      node[i] = to_left ? left[q] : right[q];
    }
  });
}

void Shard::finish_tree(const std::vector<std::int32_t>& leaf_value) {
  for (std::int64_t i = 0; i < rows_.n_rows; ++i) {
    const std::int32_t value = leaf_value[at(~node_[at(i)])];
    side_[at(i)] = static_cast<std::uint8_t>(class_tree_ ? value == label_[at(i)] : value);
  }
}

}  // namespace marginboost
