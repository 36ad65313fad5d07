#include <cstddef>
#include <stdexcept>
#include <string>

#include "predict/ensemble_checks.hpp"
#include "marginboost/explain/explain.hpp"
#include "marginboost/threads/thread_pool.hpp"

namespace marginboost {
namespace {

constexpr std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

/// Fewer walks than this are not worth waking a second thread for.
constexpr std::int64_t kWalksWorthThreads = 1 << 14;

std::int64_t leaf_of(const EnsembleView& view, std::int64_t tree, const MatrixView<double>& x,
                     std::int64_t row) {
  const std::int64_t first = view.node_offsets[at(tree)];
  std::int32_t child = first < view.node_offsets[at(tree + 1)] ? 0 : ~0;
  while (child >= 0) {
    const std::size_t node = at(first + child);
    const double value = x.data[row * x.row_stride + view.feature[node] * x.column_stride];
    child = value <= view.threshold[node] ? view.left[node] : view.right[node];
  }
  return view.leaf_offsets[at(tree)] + ~child;
}

}  // namespace

void add_leaf_cover(const EnsembleView& view, const MatrixView<double>& x,
                    std::span<const double> weights, int n_threads, std::span<double> cover) {
  check(view);
  if (x.n_columns != view.n_features)
    fail("X must have " + std::to_string(view.n_features) + " columns", x.n_columns);
  if (weights.size() != at(x.n_rows) || cover.size() != view.leaf_value.size())
    throw std::invalid_argument("There must be a weight per row and a cover per leaf.");
  const auto n_trees = static_cast<std::int64_t>(view.node_offsets.size()) - 1;
  const int threads = n_trees * x.n_rows < kWalksWorthThreads ? 1 : n_threads;
  parallel_for(n_trees, threads, [&](std::int64_t tree, int) {
    for (std::int64_t i = 0; i < x.n_rows; ++i)
      cover[at(leaf_of(view, tree, x, i))] += weights[at(i)];
  });
}

}  // namespace marginboost
