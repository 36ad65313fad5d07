// Classification trees. A row has a label and a mass; for a tree with -1/+1 leaves those are the sign and
// the size of an output of the direction, for a tree of classes the row's class and weight. A histogram
// entry costs one add.
#include <vector>

#include "stumps/gini_scan.hpp"
#include "stumps/shard_parts.hpp"

namespace marginboost {
namespace {

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

}  // namespace

NodeSplit StumpShard::start_tree(int output) {
  const std::int64_t m = rows_.n_rows;
  if (!node_) {
    node_ = allocate<std::int32_t>(m);
    label_ = allocate<std::int32_t>(m);
    mass_ = allocate<std::int32_t>(m);
  }
  class_tree_ = output < 0;
  n_labels_ = class_tree_ ? n_classes() : 2;
  const Direction from = direction();
  const int lanes = from.lanes.lanes;
  const int source = class_tree_ ? 0 : output;
  const std::int32_t* g = from.values + (source / lanes) * m * lanes + source % lanes;
  for_class_spans(0, m, [&](RowSpan span) {
    for (std::int64_t i = span.begin; i < span.end; ++i) {
      const std::int32_t value = g[i * lanes];
      label_[at(i)] = class_tree_ ? span.label : value < 0 ? 1 : 0;
      mass_[at(i)] = value < 0 ? -value : value;
      node_[at(i)] = 0;
    }
  });
  n_nodes_ = 1;
  return search_nodes(0, {true})[0];
}

std::vector<NodeSplit> StumpShard::split(std::span<const NodeCut> cuts) {
  const std::int64_t m = rows_.n_rows;
  const int first = n_nodes_;
  std::vector<std::int32_t> cut_of_node(at(n_nodes_), -1);
  std::vector<bool> wanted;
  for (const NodeCut& cut : cuts) {
    cut_of_node[at(cut.node)] = (n_nodes_ - first) / 2;
    n_nodes_ += 2;
    wanted.insert(wanted.end(), 2, cut.search);
  }
  std::int32_t* node = node_.get();
  const auto is_above = [&](const auto* matrix, std::int64_t i, const NodeCut& cut) {
    return matrix[cut.feature * m + i] > cut.bin;
  };
  const std::int64_t chunk = std::int64_t{1} << 16;
  parallel_for((m + chunk - 1) / chunk, n_threads_, [&](std::int64_t task, int) {
    const std::int64_t end = std::min(m, (task + 1) * chunk);
    for (std::int64_t i = task * chunk; i < end; ++i) {
      const std::int32_t c = cut_of_node[at(node[i])];
      if (c < 0) continue;
      const bool above = data_.bins.narrow ? is_above(data_.bins.narrow, i, cuts[at(c)])
                                           : is_above(data_.bins.wide, i, cuts[at(c)]);
      node[i] = first + 2 * c + (above ? 1 : 0);
    }
  });
  return search_nodes(first, wanted);
}

void StumpShard::fill_masses(int feature, std::int64_t first, std::int64_t count,
                             std::uint32_t* masses, double* weights) const {
  // Copies: a store may alias what is not local, and it would be read again for every row.
  const std::int64_t m = rows_.n_rows, n_labels = n_labels_, bins = n_bins(feature);
  const std::int32_t *nodes = node_.get(), *labels = label_.get(), *sizes = mass_.get();
  const double* leaf_weight = data_.leaf_weight;
  visit_column(data_.bins, feature, [=](auto* column) {
    for (std::int64_t i = 0; i < m; ++i) {
      const std::int64_t node = nodes[i] - first;
      if (node < 0 || node >= count) continue;
      const std::int64_t cell = node * bins + column[i];
      masses[cell * n_labels + labels[i]] += static_cast<std::uint32_t>(sizes[i]);
      if (leaf_weight) weights[cell] += leaf_weight[i];
    }
  });
}

std::vector<NodeSplit> StumpShard::search_nodes(int first, const std::vector<bool>& wanted) const {
  constexpr std::int64_t kScratchCells = (16 << 20) / sizeof(std::uint32_t);
  const std::int64_t m = rows_.n_rows, n_nodes = n_nodes_ - first;
  std::vector<NodeSplit> nodes(at(n_nodes));
  for (std::int64_t i = 0; i < m; ++i) {
    if (node_[at(i)] < first) continue;
    nodes[at(node_[at(i)] - first)].count += data_.multiplicity ? data_.multiplicity[i] : 1;
  }
  if (std::find(wanted.begin(), wanted.end(), true) == wanted.end()) return nodes;
  const int d = data_.bins.n_features;
  const int threads = threads_for(m * d);
  std::vector<std::vector<ScoredBin>> found(at(d));
  std::vector<std::vector<std::uint32_t>> mass_scratch(at(threads));
  std::vector<std::vector<double>> weight_scratch(at(threads));
  parallel_for(d, threads, [&](std::int64_t task, int slot) {
    const auto feature = static_cast<int>(task);
    const std::int64_t n_bins = data_.n_bins[at(task)];
    auto& masses = mass_scratch[at(slot)];
    auto& weights = weight_scratch[at(slot)];
    auto& best = found[at(task)];
    best.resize(at(n_nodes));
    GiniScan scan(n_labels_);
    // Many nodes of many bins are taken in batches, so that the scratch memory stays small.
    const std::int64_t batch =
        std::clamp<std::int64_t>(kScratchCells / (n_bins * n_labels_), 1, n_nodes);
    for (std::int64_t begin = 0; begin < n_nodes; begin += batch) {
      const std::int64_t count = std::min(batch, n_nodes - begin);
      masses.assign(at(count * n_bins * n_labels_), 0);
      if (data_.leaf_weight) weights.assign(at(count * n_bins), 0.0);
      fill_masses(feature, first + begin, count, masses.data(), weights.data());
      for (std::int64_t q = 0; q < count; ++q) {
        scan.scan(masses.data() + q * n_bins * n_labels_,
                  data_.leaf_weight ? weights.data() + q * n_bins : nullptr,
                  data_.least_leaf_weight, n_bins, feature, best[at(begin + q)]);
      }
    }
  });
  for (std::size_t q = 0; q < nodes.size(); ++q) {
    ScoredBin best;
    for (const auto& of_feature : found) {
      if (wanted[q] && of_feature[q].score > best.score) best = of_feature[q];
    }
    nodes[q] = {best.feature, best.bin, nodes[q].count, best.gain};
  }
  return nodes;
}

void StumpShard::finish_tree(std::span<const std::int32_t> leaf_of_node, std::int64_t n_leaves,
                             std::int64_t* masses) {
  std::fill_n(masses, n_leaves * n_labels_, std::int64_t{0});
  const auto leaf_of = [&](std::int64_t i) { return leaf_of_node[at(node_[at(i)])]; };
  for (std::int64_t i = 0; i < rows_.n_rows; ++i) {
    masses[std::int64_t{leaf_of(i)} * n_labels_ + label_[at(i)]] += mass_[at(i)];
  }
  std::vector<std::int32_t> said;
  for (std::int64_t leaf = 0; leaf < n_leaves; ++leaf) {
    const std::int64_t* begin = masses + leaf * n_labels_;
    said.push_back(static_cast<std::int32_t>(std::max_element(begin, begin + n_labels_) - begin));
  }
  for (std::int64_t i = 0; i < rows_.n_rows; ++i) {
    const std::int32_t right = class_tree_ ? label_[at(i)] : 0;
    side_[at(i)] = said[at(leaf_of(i))] == right ? 1 : 0;
  }
}

}  // namespace marginboost
