#include "marginboost/predict/predict.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <stdexcept>
#include <string>

#include "predict/ensemble_checks.hpp"
#include "marginboost/threads/thread_pool.hpp"
#include "predict/predict_types.hpp"
#include "binning/sparse_rows.hpp"

namespace marginboost {
namespace {

/// Rows that are walked through all trees together: their scores stay in a near cache.
constexpr std::int64_t kBlockRows = 64;

/// Fewer where rows are long: scores of this many classes and rows fit in the nearest cache.
constexpr std::int64_t kBlockScores = 4096;
constexpr std::int64_t kFewestBlockRows = 8;

/// Trees that are added before a score goes back to memory.
constexpr std::int64_t kTreesAtOnce = 4;

/// Fewer additions than this are not worth waking a second thread for.
constexpr double kAdditionsWorthThreads = 1 << 18;

constexpr std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

}  // namespace

Predictor::Predictor(const EnsembleView& view)
    : n_classes_((check(view), view.n_classes)),
      n_features_(view.n_features),
      ranks_(view.feature, view.threshold, view.n_features) {
  round_offsets_.assign(view.round_offsets.begin(), view.round_offsets.end());
  node_offsets_.assign(view.node_offsets.begin(), view.node_offsets.end());
  leaf_offsets_.assign(view.leaf_offsets.begin(), view.leaf_offsets.end());
  nodes_.reserve(view.feature.size());
  for (std::size_t q = 0; q < view.feature.size(); ++q)
    nodes_.push_back({view.threshold[q], view.feature[q], ranks_.column(view.feature[q]),
                      view.left[q], view.right[q]});
  is_shared_.reserve(view.node_offsets.size() - 1);
  for (std::size_t j = 1; j < leaf_offsets_.size(); ++j) {
    const auto first = view.leaf_vector.begin() + leaf_offsets_[j - 1];
    const auto last = view.leaf_vector.begin() + leaf_offsets_[j];
    is_shared_.push_back(std::all_of(first, last, [&](std::int32_t v) { return v == *first; }));
  }
  if (!all_shared({0, static_cast<std::int64_t>(is_shared_.size())})) {
    if (LeafMoves<std::uint8_t>::can_do(view, ranks_)) {
      narrow_moves_.emplace(view, ranks_);
    } else if (LeafMoves<std::uint16_t>::can_do(view, ranks_)) {
      wide_moves_.emplace(view, ranks_);
    }
    if (LeafPanels::worth(view)) {
      panels_.emplace(view);
      return;
    }
  }
  vectors_.assign(view.vectors.begin(), view.vectors.end());
  leaf_vector_.assign(view.leaf_vector.begin(), view.leaf_vector.end());
  leaf_value_.assign(view.leaf_value.begin(), view.leaf_value.end());
  const auto n_vectors = static_cast<std::int64_t>(view.vectors.size()) / n_classes_;
  supports_.reserve(at(n_vectors));
  for (std::int64_t v = 0; v < n_vectors; ++v) {
    const double* vector = vectors_.data() + v * n_classes_;
    Support support{0, n_classes_};
    while (support.end > 0 && vector[support.end - 1] == 0.0) --support.end;
    while (support.begin < support.end && vector[support.begin] == 0.0) ++support.begin;
    supports_.push_back(support);
  }
}

bool Predictor::all_shared(Trees trees) const {
  return !panels_ && std::all_of(is_shared_.begin() + trees.first, is_shared_.begin() + trees.last,
                                 [](char shared) { return shared != 0; });
}

/// Four walks at a time: while one waits for its values, the others go on.
template <class T>
void Predictor::walk_four(const Rows<T>& rows, const std::int64_t* row, const std::int64_t* tree,
                          std::int64_t* leaf) const {
  std::array<const Node*, 4> nodes;
  std::array<std::int32_t, 4> child;
  for (std::size_t q = 0; q < 4; ++q) {
    const std::int64_t first = node_offsets_[at(tree[q])];
    const bool any = first < node_offsets_[at(tree[q] + 1)];
    nodes[q] = any ? nodes_.data() + first : nodes_.data();
    child[q] = any ? 0 : ~0;
  }
  while ((child[0] & child[1] & child[2] & child[3]) >= 0)
    for (std::size_t q = 0; q < 4; ++q) {
      const std::int32_t here = child[q];
      const Node& node = nodes[q][here < 0 ? 0 : here];
      const auto value = static_cast<double>(rows.value(row[q], node));
      const std::int32_t next = value <= node.threshold ? node.left : node.right;
      child[q] = here < 0 ? here : next;
    }
  for (std::size_t q = 0; q < 4; ++q) leaf[q] = ~child[q];
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
    const T* column = rows.data + (rows.compact ? nodes->column : nodes->feature) * rows.column_stride;
    const double threshold = nodes->threshold;
    const Out left = of(~nodes->left);
    const Out right = of(~nodes->right);
    for (std::int64_t i = 0; i < rows.count; ++i)
      out[i] = static_cast<double>(column[i * rows.row_stride]) <= threshold ? left : right;
    return;
  }
  for (std::int64_t i = 0; i < rows.count; i += 4) {
    const std::int64_t here[4] = {tree, tree, tree, tree};
    const std::int64_t last = rows.count - 1;
    const std::int64_t row[4] = {i, std::min(i + 1, last), std::min(i + 2, last),
                                 std::min(i + 3, last)};
    std::int64_t leaf[4];
    walk_four(rows, row, here, leaf);
    for (int q = 0; q < 4 && i + q < rows.count; ++q) out[i + q] = of(leaf[q]);
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
    walk(rows, tree + q, [&](std::int64_t leaf) { return values[leaf]; },
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

template <class T>
void Predictor::add_all_shared(const Rows<T>& rows, Trees trees, double* block,
                               double* scores) const {
  for (std::int64_t i = 0; i < rows.count; ++i)
    for (std::int64_t r = 0; r < n_classes_; ++r)
      block[r * kBlockRows + i] = scores[i * n_classes_ + r];
  std::int64_t tree = trees.first;
  for (; tree + kTreesAtOnce <= trees.last; tree += kTreesAtOnce)
    add_shared<kTreesAtOnce>(rows, tree, block);
  for (; tree < trees.last; ++tree) add_shared<1>(rows, tree, block);
  for (std::int64_t i = 0; i < rows.count; ++i)
    for (std::int64_t r = 0; r < n_classes_; ++r)
      scores[i * n_classes_ + r] = block[r * kBlockRows + i];
}

void Predictor::add_leaf(std::int64_t leaf, double* scores) const {
  if (panels_) {
    panels_->add(leaf, scores);
    return;
  }
  const double value = leaf_value_[at(leaf)];
  const std::int64_t v = leaf_vector_[at(leaf)];
  const Support support = supports_[at(v)];
  const double* vector = vectors_.data() + v * n_classes_;
  for (std::int64_t r = support.begin; r < support.end; ++r) scores[r] += value * vector[r];
}

/// Neighbouring classes are neighbours in memory, since neighbouring rows have other vectors.
template <class T>
void Predictor::add_any(const Rows<T>& rows, std::int64_t tree, double* scores) const {
  std::array<std::int64_t, at(kBlockRows)> leaves;
  const std::int64_t first_leaf = leaf_offsets_[at(tree)];
  walk(rows, tree, [&](std::int64_t leaf) { return first_leaf + leaf; }, leaves.data());
  for (std::int64_t i = 0; i < rows.count; ++i)
    add_leaf(leaves[at(i)], scores + i * n_classes_);
}

template <class T>
void Predictor::add_walked(const Rows<T>& rows, Trees trees, bool shared, double* block,
                           double* scores) const {
  if (shared) {
    add_all_shared(rows, trees, block, scores);
    return;
  }
  std::int64_t tree = trees.first;
  // Four trees at a time, since there are no other rows. A leaf's vector lies anywhere in the model: it
  // is called for when the leaf is found, and added when those of many more trees are.
  while (rows.count == 1 && !nodes_.empty() && tree + 4 <= trees.last) {
    std::array<std::int64_t, 64> leaves;
    std::size_t n = 0;
    for (; n < leaves.size() && tree + 4 <= trees.last; tree += 4) {
      const std::int64_t row[4] = {0, 0, 0, 0};
      const std::int64_t four[4] = {tree, tree + 1, tree + 2, tree + 3};
      std::int64_t leaf[4];
      walk_four(rows, row, four, leaf);
      for (int q = 0; q < 4; ++q, ++n) {
        leaves[n] = leaf_offsets_[at(four[q])] + leaf[q];
        if (panels_) panels_->prefetch(leaves[n]);
      }
    }
    for (std::size_t j = 0; j < n; ++j) add_leaf(leaves[j], scores);
  }
  for (; tree < trees.last; ++tree) add_any(rows, tree, scores);
}

std::int64_t Predictor::walked_rows(Trees trees) const {
  if (all_shared(trees)) return kBlockRows;
  return std::clamp(kBlockScores / n_classes_, kFewestBlockRows, kBlockRows);
}

Predictor::Trees Predictor::trees_of(std::int64_t n_rows, std::int64_t n_columns,
                                     std::int64_t first_round, std::int64_t last_round,
                                     std::span<double> scores) const {
  if (n_columns != n_features_)
    fail("X must have " + std::to_string(n_features_) + " columns", n_columns);
  if (first_round < 0 || first_round > last_round || last_round > n_rounds())
    throw std::invalid_argument("rounds must lie between 0 and " + std::to_string(n_rounds()) +
                                ", got " + std::to_string(first_round) + " to " +
                                std::to_string(last_round) + ".");
  if (scores.size() != at(n_rows * n_classes_))
    throw std::invalid_argument("scores must have one entry per row of X and class.");
  return {round_offsets_[at(first_round)], round_offsets_[at(last_round)]};
}

int Predictor::threads_for(std::int64_t n_rows, Trees trees, int n_threads) const {
  const double additions = static_cast<double>(n_rows) * static_cast<double>(n_classes_) *
                           static_cast<double>(trees.count());
  return additions < kAdditionsWorthThreads ? 1 : n_threads;
}

template <class T>
void Predictor::add_scores(const MatrixView<T>& x, std::int64_t first_round,
                           std::int64_t last_round, int n_threads,
                           std::span<double> scores) const {
  const Trees trees = trees_of(x.n_rows, x.n_columns, first_round, last_round, scores);
  const int wanted = threads_for(x.n_rows, trees, n_threads);
  if (add_ranked<std::uint8_t>(x, trees, wanted, scores)) return;
  if (add_ranked<std::uint16_t>(x, trees, wanted, scores)) return;
  const bool shared = all_shared(trees);
  const std::int64_t block_rows = walked_rows(trees);
  const std::int64_t n_blocks = (x.n_rows + block_rows - 1) / block_rows;
  const int threads = static_cast<int>(std::clamp<std::int64_t>(n_blocks, 1, wanted));
  std::vector<double> blocks(shared ? at(threads * n_classes_ * kBlockRows) : 0);
  parallel_for(n_blocks, threads, [&](std::int64_t task, int slot) {
    const std::int64_t first_row = task * block_rows;
    const Rows<T> rows{x.data + first_row * x.row_stride,
                       std::min(block_rows, x.n_rows - first_row), x.row_stride, x.column_stride};
    double* block = shared ? blocks.data() + slot * n_classes_ * kBlockRows : nullptr;
    add_walked(rows, trees, shared, block, scores.data() + first_row * n_classes_);
  });
}

/// Rows become dense a block at a time, in the columns that are used.
template <class T, class Index>
void Predictor::add_scores(const SparseView<T, Index>& x, std::int64_t first_round,
                           std::int64_t last_round, int n_threads,
                           std::span<double> scores) const {
  check(x);
  const Trees trees = trees_of(x.n_rows, x.n_columns, first_round, last_round, scores);
  const int wanted = threads_for(x.n_rows, trees, n_threads);
  if (add_ranked<std::uint8_t>(x, trees, wanted, scores)) return;
  if (add_ranked<std::uint16_t>(x, trees, wanted, scores)) return;
  const bool shared = all_shared(trees);
  const std::int64_t block_rows = walked_rows(trees);
  const std::int64_t n_blocks = (x.n_rows + block_rows - 1) / block_rows;
  const int threads = static_cast<int>(std::clamp<std::int64_t>(n_blocks, 1, wanted));
  const std::int64_t width = ranks_.n_used();
  std::vector<double> blocks(shared ? at(threads * n_classes_ * kBlockRows) : 0);
  std::vector<T> dense(at(threads * block_rows * width));
  parallel_for(n_blocks, threads, [&](std::int64_t task, int slot) {
    const std::int64_t first_row = task * block_rows;
    const std::int64_t count = std::min(block_rows, x.n_rows - first_row);
    T* values = dense.data() + slot * block_rows * width;
    for_each_value(x, first_row, count, [&](std::int64_t i, std::int64_t feature, T value) {
      const std::int32_t column = ranks_.column(feature);
      if (column >= 0) values[i * width + column] = value;
    });
    const Rows<T> rows{values, count, width, 1, true};
    double* block = shared ? blocks.data() + slot * n_classes_ * kBlockRows : nullptr;
    add_walked(rows, trees, shared, block, scores.data() + first_row * n_classes_);
    for_each_value(x, first_row, count, [&](std::int64_t i, std::int64_t feature, T) {
      const std::int32_t column = ranks_.column(feature);
      if (column >= 0) values[i * width + column] = T{0};
    });
  });
}

#define MARGINBOOST_INSTANTIATE(T)                                                             \
  template void Predictor::add_scores(const MatrixView<T>&, std::int64_t, std::int64_t, int, \
                                      std::span<double>) const;
MARGINBOOST_DENSE_TYPES(MARGINBOOST_INSTANTIATE)
#undef MARGINBOOST_INSTANTIATE

#define MARGINBOOST_INSTANTIATE(T, Index)                                               \
  template void Predictor::add_scores(const SparseView<T, Index>&, std::int64_t,        \
                                      std::int64_t, int, std::span<double>) const;
MARGINBOOST_SPARSE_TYPES(MARGINBOOST_INSTANTIATE)
#undef MARGINBOOST_INSTANTIATE

}  // namespace marginboost
