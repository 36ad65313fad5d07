// Classification trees, a level at a time. A row has a label and a mass; for a tree with -1/+1 leaves
// those are the sign and the size of a column of the direction, for a tree of classes the row's class
// and weight. A histogram entry costs one add.
#include <vector>

#include "stumps/gini_scan.hpp"
#include "stumps/shard_parts.hpp"

namespace marginboost {
namespace {

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

}  // namespace

void StumpShard::start_tree(int column) {
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

template <class Mass>
void StumpShard::fill_masses(int feature, std::int64_t first, std::int64_t count, Mass* masses,
                        double* weights) const {
  // Copies: a store may alias what is not local, and it would be read again for every row.
  const std::int64_t m = rows_.n_rows, n_labels = n_labels_, bins = n_bins(feature);
  const std::int32_t *nodes = node_.get(), *labels = label_.get(), *sizes = mass_.get();
  const double* leaf_weight = data_.leaf_weight;
  visit_column(data_.bins, feature, [=](auto* column) {
    for (std::int64_t i = 0; i < m; ++i) {
      const std::int64_t node = nodes[i] - first;
      if (node < 0 || node >= count) continue;
      const std::int64_t cell = node * bins + column[i];
      masses[cell * n_labels + labels[i]] += static_cast<Mass>(sizes[i]);
      if (weights) weights[cell] += leaf_weight[i];
    }
  });
}

std::vector<GiniSplit> StumpShard::best_splits(int n_nodes) const {
  constexpr std::int64_t kScratchCells = (16 << 20) / sizeof(std::uint32_t);
  const std::int64_t m = rows_.n_rows;
  const int d = data_.bins.n_features;
  const int threads = threads_for(m * d);
  std::vector<std::vector<ScoredBin>> found(at(d));
  std::vector<std::vector<std::uint32_t>> scratch(at(threads));
  std::vector<std::vector<double>> weight_scratch(at(threads));
  parallel_for(d, threads, [&](std::int64_t task, int slot) {
    const auto feature = static_cast<int>(task);
    const std::int64_t n_bins = data_.n_bins[at(task)];
    auto& hist = scratch[at(slot)];
    auto& best = found[at(task)];
    best.resize(at(n_nodes));
    GiniScan scan(n_labels_);
    // Many nodes of many bins are taken in batches, so that the scratch memory stays small.
    const std::int64_t batch = std::clamp<std::int64_t>(kScratchCells / (n_bins * n_labels_), 1, n_nodes);
    for (std::int64_t first = 0; first < n_nodes; first += batch) {
      const std::int64_t count = std::min(batch, n_nodes - first);
      hist.assign(at(count * n_bins * n_labels_), 0);
      auto& weights = weight_scratch[at(slot)];
      if (data_.leaf_weight) weights.assign(at(count * n_bins), 0.0);
      fill_masses(feature, first, count, hist.data(), data_.leaf_weight ? weights.data() : nullptr);
      for (std::int64_t node = 0; node < count; ++node) {
        scan.scan(hist.data() + node * n_bins * n_labels_,
                  data_.leaf_weight ? weights.data() + node * n_bins : nullptr,
                  data_.least_leaf_weight, n_bins, feature, best[at(first + node)]);
      }
    }
  });
  std::vector<GiniSplit> splits(at(n_nodes));
  for (std::size_t q = 0; q < splits.size(); ++q) {
    ScoredBin best;
    for (const auto& of_feature : found) {
      if (of_feature[q].score > best.score) best = of_feature[q];
    }
    splits[q].feature = best.feature;
    splits[q].bin = best.bin;
    splits[q].masses.assign(at(n_labels_), 0);
    splits[q].left_masses.assign(at(n_labels_), 0);
  }
  const auto is_left = [&](std::int64_t i, const GiniSplit& split) {
    if (split.feature < 0) return false;
    bool left = false;
    visit_column(data_.bins, split.feature, [&](auto* column) { left = column[i] <= split.bin; });
    return left;
  };
  for (std::int64_t i = 0; i < m; ++i) {
    if (node_[at(i)] < 0) continue;
    GiniSplit& split = splits[at(node_[at(i)])];
    split.masses[at(label_[at(i)])] += mass_[at(i)];
    if (is_left(i, split)) split.left_masses[at(label_[at(i)])] += mass_[at(i)];
  }
  return splits;
}

void StumpShard::tree_histograms(int n_nodes, std::int64_t* masses, double* weights) const {
  const int d = data_.bins.n_features;
  const std::int64_t all_bins = bins_before(d);
  const bool weighs = weights && data_.leaf_weight;
  parallel_for(d, threads_for(rows_.n_rows * d), [&](std::int64_t task, int) {
    const auto feature = static_cast<int>(task);
    const std::int64_t bins = n_bins(feature), cells = bins * n_labels_;
    // Summed apart: features of few bins share a cache line of the result.
    std::vector<std::int64_t> own_masses(at(n_nodes * cells), 0);
    std::vector<double> own_weights(weighs ? at(n_nodes * bins) : 0, 0.0);
    fill_masses(feature, 0, n_nodes, own_masses.data(), weighs ? own_weights.data() : nullptr);
    for (std::int64_t node = 0; node < n_nodes; ++node) {
      const std::int64_t to = node * all_bins + bins_before(feature);
      std::copy_n(own_masses.begin() + node * cells, cells, masses + to * n_labels_);
      if (weighs) std::copy_n(own_weights.begin() + node * bins, bins, weights + to);
    }
  });
}

void StumpShard::move_rows(const std::vector<std::int32_t>& features,
                      const std::vector<std::int32_t>& bins, const std::vector<std::int32_t>& left,
                      const std::vector<std::int32_t>& right) {
  const std::int64_t m = rows_.n_rows;
  std::int32_t* node = node_.get();
  const auto goes_left = [&](const auto* matrix, std::int64_t i, std::size_t q) {
    return features[q] < 0 || matrix[features[q] * m + i] <= bins[q];
  };
  const std::int64_t chunk = std::int64_t{1} << 16;
  parallel_for((m + chunk - 1) / chunk, n_threads_, [&](std::int64_t task, int) {
    const std::int64_t end = std::min(m, (task + 1) * chunk);
    for (std::int64_t i = task * chunk; i < end; ++i) {
      if (node[i] < 0) continue;
      const std::size_t q = at(node[i]);
      const bool to_left = data_.bins.narrow ? goes_left(data_.bins.narrow, i, q)
                                             : goes_left(data_.bins.wide, i, q);
      node[i] = to_left ? left[q] : right[q];
    }
  });
}

void StumpShard::finish_tree(const std::vector<std::int32_t>& leaf_value) {
  for (std::int64_t i = 0; i < rows_.n_rows; ++i) {
    const std::int32_t value = leaf_value[at(~node_[at(i)])];
    side_[at(i)] = static_cast<std::uint8_t>(class_tree_ ? value == label_[at(i)] : value);
  }
}

}  // namespace marginboost
