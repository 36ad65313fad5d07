#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
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

/// Classes that are walked for together.
constexpr std::int64_t kWidth = 32;
/// The largest tree's largest coefficient is this power of two of units, or more.
constexpr int kUnitBits = 24;
/// Moves that are kept at a time, for some rows.
constexpr std::int64_t kBlockNumbers = 1 << 17;
/// Walks down a tree that are worth a second thread.
constexpr std::int64_t kWalksWorthThreads = 1 << 12;

/// The steps of all splits for a few classes: from the mean of a node to those of its children.
class Steps {
 public:
  Steps(const EnsembleView& view, std::span<const double> cover, std::int64_t first_class,
        int n_threads)
      : n_(std::min(kWidth, view.n_classes - first_class)),
        steps_(std::make_unique_for_overwrite<double[]>(2 * view.feature.size() * at(n_))) {
    const std::int64_t k = view.n_classes, n = n_;
    const auto n_trees = static_cast<std::int64_t>(view.node_offsets.size()) - 1;
    parallel_for(n_trees, n_threads, [&](std::int64_t number, int) {
      const std::size_t tree = at(number);
      std::vector<double> mean, weight;
      const std::int64_t first = view.node_offsets[tree], n_nodes = view.node_offsets[tree + 1] - first;
      const std::int64_t first_leaf = view.leaf_offsets[tree];
      mean.assign(at(n_nodes * n), 0.0);
      weight.assign(at(n_nodes), 0.0);
      // Children come after their parents.
      for (std::int64_t node = n_nodes - 1; node >= 0; --node) {
        double* here = mean.data() + node * n;
        double sides[2][kWidth], of_side[2];
        for (int side = 0; side < 2; ++side) {
          const std::int32_t child =
              side == 0 ? view.left[at(first + node)] : view.right[at(first + node)];
          if (child >= 0) {
            of_side[side] = weight[at(child)];
            std::copy_n(mean.data() + child * n, n, sides[side]);
          } else {
            const std::size_t leaf = at(first_leaf + ~child);
            of_side[side] = cover[leaf];
            const double* vector =
                view.vectors.data() + view.leaf_vector[leaf] * k + first_class;
            for (std::int64_t c = 0; c < n; ++c) sides[side][c] = view.leaf_value[leaf] * vector[c];
          }
        }
        const double both = of_side[0] + of_side[1];
        const double share = both > 0.0 ? of_side[0] / both : 0.5;
        weight[at(node)] = both;
        for (std::int64_t c = 0; c < n; ++c) {
          here[c] = share * sides[0][c] + (1.0 - share) * sides[1][c];
          for (int side = 0; side < 2; ++side)
            steps_[at((2 * (first + node) + side) * n + c)] = sides[side][c] - here[c];
        }
      }
    }, "steps");
  }

  std::int64_t n() const { return n_; }
  const double* of(std::int64_t node, bool right) const {
    return steps_.get() + (2 * node + (right ? 1 : 0)) * n_;
  }

 private:
  std::int64_t n_;
  std::unique_ptr<double[]> steps_;
};

/// The largest of all that a leaf adds.
double largest_term(const EnsembleView& view) {
  double largest = 0.0;
  for (std::size_t leaf = 0; leaf < view.leaf_value.size(); ++leaf) {
    const double* vector = view.vectors.data() + view.leaf_vector[leaf] * view.n_classes;
    for (std::int64_t c = 0; c < view.n_classes; ++c)
      largest = std::max(largest, std::abs(view.leaf_value[leaf] * vector[c]));
  }
  return largest;
}

}  // namespace

void add_step_sizes(const EnsembleView& view, std::span<const double> leaf_cover,
                    std::span<const std::int32_t> player, const MatrixView<double>& x,
                    std::span<const double> weights, int n_threads, std::span<double> sizes) {
  check(view);
  if (x.n_columns != view.n_features)
    fail("X must have " + std::to_string(view.n_features) + " columns", x.n_columns);
  if (weights.size() != at(x.n_rows) || leaf_cover.size() != view.leaf_value.size() ||
      player.size() != at(view.n_features))
    throw std::invalid_argument(
        "There must be a weight per row, a cover per leaf and a player per feature.");
  for (const std::int32_t p : player)
    if (p < 0 || at(p) >= sizes.size()) fail("player must name a place of sizes", p);
  const double largest = largest_term(view);
  if (!(largest > 0.0) || sizes.empty()) return;
  const double units = std::ldexp(1.0, kUnitBits - std::ilogb(largest));
  const auto n_trees = static_cast<std::int64_t>(view.node_offsets.size()) - 1;
  const std::int64_t n_groups = (view.n_classes + kWidth - 1) / kWidth;
  const auto n_players = static_cast<std::int64_t>(sizes.size());
  // Threads share groups of classes where there are many, else the rows of one group after the other.
  const bool by_group = n_groups >= n_threads || n_trees * x.n_rows < kWalksWorthThreads;
  const int inner = by_group ? 1 : n_threads;
  const std::int64_t most_rows =
      std::max<std::int64_t>(1, kBlockNumbers / (n_players * std::min(kWidth, view.n_classes)));
  const std::int64_t block = std::clamp<std::int64_t>((x.n_rows + 2 * inner - 1) / (2 * inner), 1, most_rows);
  const std::int64_t n_blocks = (x.n_rows + block - 1) / block;
  std::vector<std::vector<double>> found(at(n_groups * n_blocks));
  parallel_for(n_groups, by_group ? n_threads : 1, [&](std::int64_t group, int) {
    const Steps steps(view, leaf_cover, group * kWidth, inner);
    const std::int64_t n = steps.n();
    parallel_for(n_blocks, inner, [&](std::int64_t number, int) {
      const std::int64_t begin = number * block, end = std::min(x.n_rows, begin + block);
      std::vector<double>& out = found[at(group * n_blocks + number)];
      out.assign(sizes.size(), 0.0);
      // By tree and node, whose steps stay in the cache, and then by row.
      NodeRows node_rows;
      std::vector<double> moved(at((end - begin) * n_players * n), 0.0);
      for (std::int64_t tree = 0; tree < n_trees; ++tree) {
        const std::int64_t first = view.node_offsets[at(tree)];
        if (first == view.node_offsets[at(tree + 1)]) continue;
        const auto move = [&](std::int64_t node, bool right, NodeRows::Rows rows) {
          const double* step = steps.of(node, right);
          double* to = moved.data() + player[at(view.feature[at(node)])] * n;
          for (const std::int32_t row : rows) {
            double* of_row = to + (row - begin) * n_players * n;
            for (std::int64_t c = 0; c < n; ++c) of_row[c] += step[c];
          }
        };
        node_rows.divide(
            view, tree, x, begin, end,
            [&](std::int64_t node, NodeRows::Rows left, NodeRows::Rows right) {
              move(first + node, false, left);
              move(first + node, true, right);
            },
            [](std::int64_t, NodeRows::Rows) {});
      }
      for (std::int64_t i = begin; i < end; ++i) {
        const double* row = moved.data() + (i - begin) * n_players * n;
        for (std::int64_t p = 0; p < n_players; ++p) {
          double size = 0.0;
          for (std::int64_t c = 0; c < n; ++c) size += std::abs(row[p * n + c]);
          out[at(p)] += weights[at(i)] * std::nearbyint(size * units);
        }
      }
    }, "step sizes");
  }, "step sizes");
  for (const std::vector<double>& part : found)
    for (std::size_t p = 0; p < sizes.size(); ++p) sizes[p] += part[p];
}

}  // namespace marginboost
