// What the sanitizers should see of explanations; tests/model/test_explanation.py says what is right.
#include "marginboost/explain/explain.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <stdexcept>
#include <vector>

#include "check.hpp"

using namespace marginboost;

namespace {

constexpr std::int64_t kClasses = 3;

/// A constant, a stump, and a chain of splits whose leaves each have a vector of their own.
struct Trees {
  std::vector<double> vectors;
  std::vector<std::int64_t> round_offsets{0, 1, 2, 3};
  std::vector<std::int64_t> node_offsets;
  std::vector<std::int32_t> feature;
  std::vector<double> threshold;
  std::vector<std::int32_t> left;
  std::vector<std::int32_t> right;
  std::vector<std::int64_t> leaf_offsets;
  std::vector<std::int32_t> leaf_vector;
  std::vector<double> leaf_value;
  std::vector<std::int32_t> player;

  explicit Trees(std::int32_t depth) : node_offsets{0, 0, 1, 1 + depth} {
    leaf_offsets = {0, 1, 3, 4 + depth};
    for (const std::int32_t n_nodes : {1, depth})
      for (std::int32_t node = 0; node < n_nodes; ++node) {
        feature.push_back(node);
        threshold.push_back(node % 5);
        left.push_back(node + 1 < n_nodes ? node + 1 : ~0);
        right.push_back(~(node + 1));
      }
    for (std::int32_t leaf = 0; leaf < 4 + depth; ++leaf) {
      leaf_vector.push_back(leaf);
      leaf_value.push_back(0.3 * (leaf % 7) - 1.0);
      for (std::int64_t r = 0; r < kClasses; ++r)
        vectors.push_back(0.1 * static_cast<double>((leaf * 5 + r) % 11));
    }
    for (std::int32_t j = 0; j < depth; ++j) player.push_back(j / 2);
  }

  std::int64_t n_features() const { return static_cast<std::int64_t>(player.size()); }
  std::int64_t n_players() const { return (n_features() + 1) / 2; }

  EnsembleView view() const {
    return {vectors, kClasses, round_offsets, node_offsets, feature,    threshold,
            left,    right,    leaf_offsets,  leaf_vector,  leaf_value, n_features()};
  }
};

std::vector<double> rows_of(std::int64_t n_rows, std::int64_t n_columns) {
  std::vector<double> values(static_cast<std::size_t>(n_rows * n_columns));
  for (std::size_t q = 0; q < values.size(); ++q) values[q] = static_cast<double>(q * 7 % 13) / 2.0;
  return values;
}

template <class Does>
bool refused(Does does) {
  try {
    does();
  } catch (const std::invalid_argument&) {
    return true;
  }
  return false;
}

}  // namespace

TEST(contributions_add_up_on_any_number_of_threads) {
  constexpr std::int64_t n_rows = 70;
  for (const std::int32_t depth : {1, 8, 40}) {  // patterns are kept, and too many to keep
    const Trees trees(depth);
    const std::vector<double> values = rows_of(n_rows, depth);
    const MatrixView<double> x{values.data(), n_rows, depth, depth, 1};
    std::vector<double> cover(trees.leaf_value.size());
    add_leaf_cover(trees.view(), x, std::vector<double>(n_rows, 1.0), 2, cover);
    CHECK(std::accumulate(cover.begin(), cover.end(), 0.0) == 3.0 * n_rows);
    const Explainer explainer(trees.view(), cover, trees.player, trees.n_players());
    std::vector<std::int64_t> classes;
    for (std::int64_t i = 0; i < n_rows; ++i)
      for (const std::int64_t r : {2, 0}) classes.push_back(r);
    std::vector<double> first;
    for (const int n_threads : {1, 4}) {
      std::vector<double> found(static_cast<std::size_t>(n_rows * trees.n_players() * 2));
      explainer.add_contributions(x, classes, 2, n_threads, found);
      if (n_threads == 1) first = found;
      CHECK(found == first);
    }
    // The mean of what a column adds is zero over the rows of the cover, for a model of stumps.
    if (depth == 1) CHECK(std::abs(std::accumulate(first.begin(), first.end(), 0.0)) < 1e-9);
    const std::vector<double> scores{1.25, -0.1};
    const std::vector<double> means{0.5, 0.01};
    std::vector<double> base(2);
    const std::span<double> row(first.data(), static_cast<std::size_t>(trees.n_players() * 2));
    make_exact(trees.n_players(), 2, scores, means, row, base);
    double forth = 0.0;
    double back = 0.0;
    for (std::size_t p = 0; p < row.size(); p += 2) {
      forth += row[p];
      back += row[row.size() - 2 - p];
    }
    CHECK(forth == back);
    CHECK(base[0] + forth == scores[0] || std::abs(base[0]) > std::abs(scores[0]));
  }
}

TEST(explaining_refuses_what_would_lead_it_astray) {
  const Trees trees(4);
  const std::vector<double> cover(trees.leaf_value.size(), 1.0);
  const auto with_cover = [&](std::size_t n, double value) {
    return refused([&] { Explainer(trees.view(), std::vector<double>(n, value), trees.player, 2); });
  };
  CHECK(!with_cover(cover.size(), 0.0));
  CHECK(with_cover(cover.size() + 1, 1.0));
  CHECK(with_cover(cover.size(), -1.0));
  CHECK(with_cover(cover.size(), std::nan("")));
  CHECK(refused([&] { Explainer(trees.view(), cover, trees.player, 1); }));
  CHECK(refused([&] { Explainer(trees.view(), cover, std::vector<std::int32_t>(3), 2); }));
  const Explainer explainer(trees.view(), cover, trees.player, 2);
  const std::vector<double> values = rows_of(1, 4);
  std::vector<double> found(2);
  const auto asked = [&](std::int64_t n_columns, std::int64_t of) {
    return refused([&] {
      const MatrixView<double> x{values.data(), 1, n_columns, n_columns, 1};
      explainer.add_contributions(x, std::vector<std::int64_t>{of}, 1, 1, found);
    });
  };
  CHECK(!asked(4, 2));
  CHECK(asked(3, 2));
  CHECK(asked(4, 3));
  CHECK(asked(4, -1));
}

TEST(many_ways_to_a_leaf_end_in_a_sentence) {
  // Every node's children are the next node, twice: 2^40 ways.
  Trees trees(40);
  trees.node_offsets = {0, 0, 1, 41};
  for (std::size_t q = 1; q + 1 < trees.left.size(); ++q)
    trees.right[q] = trees.left[q] = static_cast<std::int32_t>(q);
  const std::vector<double> cover(trees.leaf_value.size(), 1.0);
  CHECK(refused([&] { Explainer(trees.view(), cover, trees.player, trees.n_players()); }));
}
