#include "marginboost/predict.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <stdexcept>
#include <string>

#include "marginboost/thread_pool.hpp"

namespace marginboost {
namespace {

/// Rows that go through all trees together: their scores stay in a near cache.
constexpr std::int64_t kBlockRows = 64;

/// Fewer where rows are long: scores of this many classes and rows fit in the nearest cache.
constexpr std::int64_t kBlockScores = 4096;
constexpr std::int64_t kFewestBlockRows = 8;

/// Trees that are added before a score goes back to memory.
constexpr std::int64_t kTreesAtOnce = 4;

/// Fewer additions than this are not worth waking a second thread for.
constexpr double kAdditionsWorthThreads = 1 << 18;

constexpr std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

template <class T>
std::int64_t length(std::span<const T> values) {
  return static_cast<std::int64_t>(values.size());
}

[[noreturn]] void fail(const std::string& must, std::int64_t got) {
  throw std::invalid_argument(must + ", got " + std::to_string(got) + ".");
}

/// `n_parts` parts, one after the other, hold `n_entries` entries between them.
void check_offsets(std::span<const std::int64_t> offsets, std::int64_t n_parts,
                   std::int64_t n_entries, const std::string& name, const std::string& part) {
  if (length(offsets) != n_parts + 1)
    fail(name + " must have one entry a " + part + " and one more, " + std::to_string(n_parts + 1),
         length(offsets));
  if (offsets.front() != 0) fail(name + " must begin with 0", offsets.front());
  for (std::size_t j = 1; j < offsets.size(); ++j)
    if (offsets[j] < offsets[j - 1])
      fail(name + " must not descend below " + std::to_string(offsets[j - 1]), offsets[j]);
  if (offsets.back() != n_entries)
    fail(name + " must end with the number of entries, " + std::to_string(n_entries),
         offsets.back());
}

void check_sizes(const EnsembleView& view) {
  const std::int64_t n_nodes = length(view.feature);
  if (length(view.threshold) != n_nodes || length(view.left) != n_nodes ||
      length(view.right) != n_nodes)
    throw std::invalid_argument("feature, threshold, left and right must have the same length.");
  const std::int64_t n_leaves = length(view.leaf_value);
  if (length(view.leaf_vector) != n_leaves)
    throw std::invalid_argument("leaf_vector and leaf_value must have the same length.");
  if (view.n_features < 0) fail("n_features must not be negative", view.n_features);
  if (view.n_classes < 1) fail("vectors must have at least one column", view.n_classes);
  if (length(view.vectors) % view.n_classes != 0)
    fail("vectors must hold whole rows of " + std::to_string(view.n_classes),
         length(view.vectors));
  if (view.round_offsets.empty()) fail("round_offsets must have at least one entry", 0);
  if (view.node_offsets.empty()) fail("node_offsets must have at least one entry", 0);
  const std::int64_t n_trees = length(view.node_offsets) - 1;
  check_offsets(view.round_offsets, length(view.round_offsets) - 1, n_trees, "round_offsets",
                "round");
  check_offsets(view.node_offsets, n_trees, n_nodes, "node_offsets", "tree");
  check_offsets(view.leaf_offsets, n_trees, n_leaves, "leaf_offsets", "tree");
}

void check_indices(std::span<const std::int32_t> indices, std::int64_t end,
                   const std::string& name) {
  for (const std::int32_t index : indices)
    if (index < 0 || index >= end)
      fail(name + " must be at least 0 and below " + std::to_string(end), index);
}

void check_finite(std::span<const double> values, const std::string& name) {
  if (!std::all_of(values.begin(), values.end(), [](double value) { return std::isfinite(value); }))
    throw std::invalid_argument(name + " must be finite, got inf or nan.");
}

void check_values(const EnsembleView& view) {
  check_indices(view.feature, view.n_features, "feature");
  check_indices(view.leaf_vector, length(view.vectors) / view.n_classes, "leaf_vector");
  check_finite(view.threshold, "threshold");
  check_finite(view.vectors, "vectors");
  check_finite(view.leaf_value, "leaf_value");
}

/// A child comes after its parent, so every walk ends.
void check_children(const EnsembleView& view) {
  for (std::size_t j = 1; j < view.node_offsets.size(); ++j) {
    const std::int64_t first = view.node_offsets[j - 1];
    const std::int64_t n_nodes = view.node_offsets[j] - first;
    const std::int64_t n_leaves = view.leaf_offsets[j] - view.leaf_offsets[j - 1];
    if (n_leaves < 1) fail("every tree must have at least one leaf", n_leaves);
    for (std::int64_t node = 0; node < n_nodes; ++node)
      for (const std::int32_t child : {view.left[at(first + node)], view.right[at(first + node)]})
        if (child >= 0 ? child <= node || child >= n_nodes : ~child >= n_leaves)
          fail("a child of node " + std::to_string(node) + " of tree " +
                   std::to_string(j - 1) + " must be a later one of its " +
                   std::to_string(n_nodes) + " nodes, or ~leaf for one of its " +
                   std::to_string(n_leaves) + " leaves",
               child);
  }
}

}  // namespace

Predictor::Predictor(const EnsembleView& view) {
  check_sizes(view);
  check_values(view);
  check_children(view);
  n_classes_ = view.n_classes;
  n_features_ = view.n_features;
  vectors_.assign(view.vectors.begin(), view.vectors.end());
  round_offsets_.assign(view.round_offsets.begin(), view.round_offsets.end());
  node_offsets_.assign(view.node_offsets.begin(), view.node_offsets.end());
  leaf_vector_.assign(view.leaf_vector.begin(), view.leaf_vector.end());
  leaf_value_.assign(view.leaf_value.begin(), view.leaf_value.end());
  leaf_offsets_.assign(view.leaf_offsets.begin(), view.leaf_offsets.end());
  nodes_.reserve(view.feature.size());
  for (std::size_t q = 0; q < view.feature.size(); ++q)
    nodes_.push_back({view.threshold[q], view.feature[q], view.left[q], view.right[q]});

  const std::int64_t n_vectors = length(view.vectors) / n_classes_;
  supports_.reserve(at(n_vectors));
  for (std::int64_t v = 0; v < n_vectors; ++v) {
    const double* vector = vectors_.data() + v * n_classes_;
    Support support{0, n_classes_};
    while (support.end > 0 && vector[support.end - 1] == 0.0) --support.end;
    while (support.begin < support.end && vector[support.begin] == 0.0) ++support.begin;
    supports_.push_back(support);
  }
  is_shared_.reserve(view.node_offsets.size() - 1);
  for (std::size_t j = 1; j < leaf_offsets_.size(); ++j) {
    const auto first = leaf_vector_.begin() + leaf_offsets_[j - 1];
    const auto last = leaf_vector_.begin() + leaf_offsets_[j];
    is_shared_.push_back(std::all_of(first, last, [&](std::int32_t v) { return v == *first; }));
  }
}

template <class T, class Of, class Out>
void Predictor::walk(const Rows<T>& rows, std::int64_t tree, Of of, Out* out) const {
  const Node* nodes = nodes_.data() + node_offsets_[at(tree)];
  const std::int64_t n_nodes = node_offsets_[at(tree + 1)] - node_offsets_[at(tree)];
  if (n_nodes == 0) {
    std::fill(out, out + rows.count, of(0));
    return;
  }
  if (n_nodes == 1) {  // a stump: both children are leaves
    const T* column = rows.data + nodes->feature * rows.column_stride;
    const double threshold = nodes->threshold;
    const Out left = of(~nodes->left);
    const Out right = of(~nodes->right);
    for (std::int64_t i = 0; i < rows.count; ++i)
      out[i] = static_cast<double>(column[i * rows.row_stride]) <= threshold ? left : right;
    return;
  }
  for (std::int64_t i = 0; i < rows.count; ++i) {
    const T* row = rows.data + i * rows.row_stride;
    std::int32_t child = 0;
    while (child >= 0) {
      const Node& node = nodes[child];
      const auto value = static_cast<double>(row[node.feature * rows.column_stride]);
      child = value <= node.threshold ? node.left : node.right;
    }
    out[i] = of(~child);
  }
}

/// Neighbouring rows are neighbours in memory: the processor's vectors run over i.
template <std::int64_t N, class T>
void Predictor::add_shared(const Rows<T>& rows, std::int64_t tree, double* block) const {
  std::array<double, at(N * kBlockRows)> h;
  std::array<const double*, at(N)> vectors;
  Support all{n_classes_, 0};
  for (std::int64_t q = 0; q < N; ++q) {
    const std::int64_t first_leaf = leaf_offsets_[at(tree + q)];
    const double* values = leaf_value_.data() + first_leaf;
    walk(rows, tree + q, [&](std::int32_t leaf) { return values[leaf]; },
         h.data() + q * kBlockRows);
    const std::int64_t vector = leaf_vector_[at(first_leaf)];
    vectors[at(q)] = vectors_.data() + vector * n_classes_;
    all.begin = std::min(all.begin, supports_[at(vector)].begin);
    all.end = std::max(all.end, supports_[at(vector)].end);
  }
  for (std::int64_t r = all.begin; r < all.end; ++r) {
    std::array<double, at(N)> w;
    for (std::int64_t q = 0; q < N; ++q) w[at(q)] = vectors[at(q)][r];
    double* scores = block + r * kBlockRows;
    for (std::int64_t i = 0; i < rows.count; ++i) {
      double score = scores[i];
      for (std::int64_t q = 0; q < N; ++q) score += h[at(q * kBlockRows + i)] * w[at(q)];
      scores[i] = score;
    }
  }
}

/// Neighbouring classes are neighbours in memory, since neighbouring rows have other vectors.
template <class T>
void Predictor::add_any(const Rows<T>& rows, std::int64_t tree, double* scores) const {
  std::array<std::int64_t, at(kBlockRows)> leaves;
  const std::int64_t first_leaf = leaf_offsets_[at(tree)];
  walk(rows, tree, [&](std::int32_t leaf) { return first_leaf + leaf; }, leaves.data());
  for (std::int64_t i = 0; i < rows.count; ++i) {
    const double value = leaf_value_[at(leaves[at(i)])];
    const std::int64_t v = leaf_vector_[at(leaves[at(i)])];
    const Support support = supports_[at(v)];
    const double* vector = vectors_.data() + v * n_classes_;
    double* row = scores + i * n_classes_;
    for (std::int64_t r = support.begin; r < support.end; ++r) row[r] += value * vector[r];
  }
}

template <class T>
void Predictor::add_scores(const MatrixView<T>& x, std::int64_t first_round,
                           std::int64_t last_round, int n_threads,
                           std::span<double> scores) const {
  if (x.n_columns != n_features_)
    fail("X must have " + std::to_string(n_features_) + " columns", x.n_columns);
  if (first_round < 0 || first_round > last_round || last_round > n_rounds())
    throw std::invalid_argument("rounds must lie between 0 and " + std::to_string(n_rounds()) +
                                ", got " + std::to_string(first_round) + " to " +
                                std::to_string(last_round) + ".");
  if (scores.size() != at(x.n_rows * n_classes_))
    throw std::invalid_argument("scores must have one entry a row of X and class.");

  const std::int64_t first = round_offsets_[at(first_round)];
  const std::int64_t last = round_offsets_[at(last_round)];
  const bool all_shared = std::all_of(is_shared_.begin() + first, is_shared_.begin() + last,
                                      [](char shared) { return shared != 0; });
  const std::int64_t block_rows =
      all_shared ? kBlockRows
                 : std::clamp(kBlockScores / n_classes_, kFewestBlockRows, kBlockRows);
  const std::int64_t n_blocks = (x.n_rows + block_rows - 1) / block_rows;
  const double additions = static_cast<double>(scores.size()) * static_cast<double>(last - first);
  const std::int64_t worth = additions < kAdditionsWorthThreads ? 1 : n_blocks;
  const int threads = static_cast<int>(std::min<std::int64_t>(n_threads, worth));
  std::vector<double> blocks(all_shared ? at(threads * n_classes_ * kBlockRows) : 0);
  parallel_for(n_blocks, threads, [&](std::int64_t task, int slot) {
    const std::int64_t first_row = task * block_rows;
    const Rows<T> rows{x.data + first_row * x.row_stride,
                       std::min(block_rows, x.n_rows - first_row), x.row_stride, x.column_stride};
    double* out = scores.data() + first_row * n_classes_;
    if (!all_shared) {
      for (std::int64_t tree = first; tree < last; ++tree) add_any(rows, tree, out);
      return;
    }
    double* block = blocks.data() + slot * n_classes_ * kBlockRows;
    for (std::int64_t i = 0; i < rows.count; ++i)
      for (std::int64_t r = 0; r < n_classes_; ++r)
        block[r * kBlockRows + i] = out[i * n_classes_ + r];
    std::int64_t tree = first;
    for (; tree + kTreesAtOnce <= last; tree += kTreesAtOnce)
      add_shared<kTreesAtOnce>(rows, tree, block);
    for (; tree < last; ++tree) add_shared<1>(rows, tree, block);
    for (std::int64_t i = 0; i < rows.count; ++i)
      for (std::int64_t r = 0; r < n_classes_; ++r)
        out[i * n_classes_ + r] = block[r * kBlockRows + i];
  });
}

template void Predictor::add_scores(const MatrixView<float>&, std::int64_t, std::int64_t, int,
                                    std::span<double>) const;
template void Predictor::add_scores(const MatrixView<double>&, std::int64_t, std::int64_t, int,
                                    std::span<double>) const;

}  // namespace marginboost
