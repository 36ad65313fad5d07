#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

#include "explain/node_rows.hpp"
#include "predict/ensemble_checks.hpp"
#include "marginboost/explain/explain.hpp"
#include "marginboost/threads/thread_pool.hpp"

namespace marginboost {
namespace {

constexpr std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

/// Fewer walks than this are not worth waking a second thread for.
constexpr std::int64_t kWalksWorthThreads = 1 << 14;

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
  std::vector<NodeRows> of_thread(at(std::max(threads, 1)));
  parallel_for(n_trees, threads, [&](std::int64_t tree, int thread) {
    double* of_leaf = cover.data() + view.leaf_offsets[at(tree)];
    of_thread[at(thread)].divide(
        view, tree, x, 0, x.n_rows, [](std::int64_t, NodeRows::Rows, NodeRows::Rows) {},
        [&](std::int64_t leaf, NodeRows::Rows rows) {
          for (const std::int32_t row : rows) of_leaf[leaf] += weights[at(row)];
        });
  }, "leaf cover");
}

}  // namespace marginboost
