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

/// Rows that go through all rounds together: their scores stay in the nearest cache.
constexpr std::int64_t kBlockRows = 64;

/// Rounds that are added before a score goes back to memory.
constexpr std::int64_t kRoundsAtOnce = 4;

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

void check_offsets(std::span<const std::int64_t> offsets, std::int64_t n_rounds,
                   std::int64_t n_entries, const std::string& name) {
  if (length(offsets) != n_rounds + 1)
    fail(name + " must have one entry a round and one more, " + std::to_string(n_rounds + 1),
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
  if (view.n_features < 0) fail("n_features must not be negative", view.n_features);
  if (view.n_classes < 1) fail("coef must have at least one column", view.n_classes);
  if (length(view.coef) % view.n_classes != 0)
    fail("coef must hold whole rows of " + std::to_string(view.n_classes), length(view.coef));
  const std::int64_t n_rounds = length(view.coef) / view.n_classes;
  check_offsets(view.node_offsets, n_rounds, n_nodes, "node_offsets");
  check_offsets(view.leaf_offsets, n_rounds, length(view.leaf_value), "leaf_offsets");
}

void check_values(const EnsembleView& view) {
  for (const std::int32_t feature : view.feature)
    if (feature < 0 || feature >= view.n_features)
      fail("feature must be at least 0 and below " + std::to_string(view.n_features), feature);
  const auto finite = [](double value) { return std::isfinite(value); };
  if (!std::all_of(view.threshold.begin(), view.threshold.end(), finite))
    throw std::invalid_argument("threshold must be finite, got inf or nan.");
  if (!std::all_of(view.coef.begin(), view.coef.end(), finite))
    throw std::invalid_argument("coef must be finite, got inf or nan.");
  for (const double value : view.leaf_value)
    if (value != -1.0 && value != 1.0)
      throw std::invalid_argument("leaf_value must be -1 or +1, got " + std::to_string(value) +
                                  ".");
}

/// A child comes after its parent, so every walk ends.
void check_children(const EnsembleView& view) {
  for (std::size_t j = 1; j < view.node_offsets.size(); ++j) {
    const std::int64_t first = view.node_offsets[j - 1];
    const std::int64_t n_nodes = view.node_offsets[j] - first;
    const std::int64_t n_leaves = view.leaf_offsets[j] - view.leaf_offsets[j - 1];
    if (n_leaves < 1) fail("every weak classifier must have at least one leaf", n_leaves);
    for (std::int64_t node = 0; node < n_nodes; ++node)
      for (const std::int32_t child : {view.left[at(first + node)], view.right[at(first + node)]})
        if (child >= 0 ? child <= node || child >= n_nodes : ~child >= n_leaves)
          fail("a child of node " + std::to_string(node) + " of weak classifier " +
                   std::to_string(j - 1) + " must be a later one of its " +
                   std::to_string(n_nodes) + " nodes, or ~leaf for one of its " +
                   std::to_string(n_leaves) + " leaves",
               child);
  }
}

/// block[r][i] += h[0][i] * w[0][r], then h[1][i] * w[1][r], and so on; h is -1 or +1, so the
/// products are exact. Neighbouring rows are neighbours in memory: the vectors run over i.
template <std::int64_t N>
void add_rounds(const double* h, const double* coef, std::int64_t n_classes, std::int64_t n_rows,
                double* block) {
  for (std::int64_t r = 0; r < n_classes; ++r) {
    std::array<double, at(N)> w;
    for (std::int64_t q = 0; q < N; ++q) w[at(q)] = coef[q * n_classes + r];
    double* scores = block + r * kBlockRows;
    for (std::int64_t i = 0; i < n_rows; ++i) {
      double score = scores[i];
      for (std::int64_t q = 0; q < N; ++q) score += h[q * kBlockRows + i] * w[at(q)];
      scores[i] = score;
    }
  }
}

}  // namespace

Predictor::Predictor(const EnsembleView& view) {
  check_sizes(view);
  check_values(view);
  check_children(view);
  n_classes_ = view.n_classes;
  n_rounds_ = length(view.coef) / view.n_classes;
  n_features_ = view.n_features;
  coef_.assign(view.coef.begin(), view.coef.end());
  node_offsets_.assign(view.node_offsets.begin(), view.node_offsets.end());
  leaf_value_.assign(view.leaf_value.begin(), view.leaf_value.end());
  leaf_offsets_.assign(view.leaf_offsets.begin(), view.leaf_offsets.end());
  nodes_.reserve(view.feature.size());
  for (std::size_t q = 0; q < view.feature.size(); ++q)
    nodes_.push_back({view.threshold[q], view.feature[q], view.left[q], view.right[q]});
}

template <class T>
void Predictor::weak_outputs(const MatrixView<T>& x, std::int64_t first_row, std::int64_t n_rows,
                             std::int64_t round, double* h) const {
  const Node* nodes = nodes_.data() + node_offsets_[at(round)];
  const double* leaves = leaf_value_.data() + leaf_offsets_[at(round)];
  const std::int64_t n_nodes = node_offsets_[at(round + 1)] - node_offsets_[at(round)];
  const T* rows = x.data + first_row * x.row_stride;
  if (n_nodes == 0) {
    std::fill(h, h + n_rows, leaves[0]);
    return;
  }
  if (n_nodes == 1) {  // a stump: both children are leaves
    const T* column = rows + nodes->feature * x.column_stride;
    const double threshold = nodes->threshold;
    const double left = leaves[~nodes->left];
    const double right = leaves[~nodes->right];
    for (std::int64_t i = 0; i < n_rows; ++i)
      h[i] = static_cast<double>(column[i * x.row_stride]) <= threshold ? left : right;
    return;
  }
  for (std::int64_t i = 0; i < n_rows; ++i) {
    const T* row = rows + i * x.row_stride;
    std::int32_t child = 0;
    while (child >= 0) {
      const Node& node = nodes[child];
      const auto value = static_cast<double>(row[node.feature * x.column_stride]);
      child = value <= node.threshold ? node.left : node.right;
    }
    h[i] = leaves[~child];
  }
}

template <class T>
void Predictor::add_block(const MatrixView<T>& x, std::int64_t first_row, std::int64_t n_rows,
                          std::int64_t first_round, std::int64_t last_round, double* block) const {
  std::array<double, at(kBlockRows * kRoundsAtOnce)> h;
  std::int64_t round = first_round;
  for (; round + kRoundsAtOnce <= last_round; round += kRoundsAtOnce) {
    for (std::int64_t q = 0; q < kRoundsAtOnce; ++q)
      weak_outputs(x, first_row, n_rows, round + q, h.data() + q * kBlockRows);
    add_rounds<kRoundsAtOnce>(h.data(), coef_.data() + round * n_classes_, n_classes_, n_rows,
                              block);
  }
  for (; round < last_round; ++round) {
    weak_outputs(x, first_row, n_rows, round, h.data());
    add_rounds<1>(h.data(), coef_.data() + round * n_classes_, n_classes_, n_rows, block);
  }
}

template <class T>
void Predictor::add_scores(const MatrixView<T>& x, std::int64_t first_round,
                           std::int64_t last_round, int n_threads,
                           std::span<double> scores) const {
  if (x.n_columns != n_features_)
    fail("X must have " + std::to_string(n_features_) + " columns", x.n_columns);
  if (first_round < 0 || first_round > last_round || last_round > n_rounds_)
    throw std::invalid_argument("rounds must lie between 0 and " + std::to_string(n_rounds_) +
                                ", got " + std::to_string(first_round) + " to " +
                                std::to_string(last_round) + ".");
  if (scores.size() != at(x.n_rows * n_classes_))
    throw std::invalid_argument("scores must have one entry a row of X and class.");

  const double additions = static_cast<double>(scores.size()) *
                           static_cast<double>(last_round - first_round);
  const std::int64_t n_blocks = (x.n_rows + kBlockRows - 1) / kBlockRows;
  const std::int64_t worth = additions < kAdditionsWorthThreads ? 1 : n_blocks;
  const int threads = static_cast<int>(std::min<std::int64_t>(n_threads, worth));
  std::vector<double> blocks(at(threads * n_classes_ * kBlockRows));
  parallel_for(n_blocks, threads, [&](std::int64_t task, int slot) {
    const std::int64_t first_row = task * kBlockRows;
    const std::int64_t n_rows = std::min(kBlockRows, x.n_rows - first_row);
    double* block = blocks.data() + slot * n_classes_ * kBlockRows;
    double* out = scores.data() + first_row * n_classes_;
    for (std::int64_t i = 0; i < n_rows; ++i)
      for (std::int64_t r = 0; r < n_classes_; ++r)
        block[r * kBlockRows + i] = out[i * n_classes_ + r];
    add_block(x, first_row, n_rows, first_round, last_round, block);
    for (std::int64_t i = 0; i < n_rows; ++i)
      for (std::int64_t r = 0; r < n_classes_; ++r)
        out[i * n_classes_ + r] = block[r * kBlockRows + i];
  });
}

template void Predictor::add_scores(const MatrixView<float>&, std::int64_t, std::int64_t, int,
                                    std::span<double>) const;
template void Predictor::add_scores(const MatrixView<double>&, std::int64_t, std::int64_t, int,
                                    std::span<double>) const;

}  // namespace marginboost
