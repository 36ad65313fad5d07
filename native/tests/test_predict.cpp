// What the sanitizers should see of prediction; tests/model/test_ensemble.py says what is right.
#include "marginboost/predict/predict.hpp"

#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <stdexcept>
#include <vector>

#include "check.hpp"
#include "marginboost/predict/decision.hpp"
#include "marginboost/stumps/kernels.hpp"

using namespace marginboost;

namespace {

constexpr std::int64_t kColumns = 5;

constexpr std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

/// Constants, stumps and trees of three nodes in turn, two trees a round, with random leaves.
struct Arrays {
  std::int64_t n_classes;
  std::vector<double> vectors;
  std::vector<std::int64_t> round_offsets{0};
  std::vector<std::int64_t> node_offsets{0};
  std::vector<std::int32_t> feature;
  std::vector<double> threshold;
  std::vector<std::int32_t> left;
  std::vector<std::int32_t> right;
  std::vector<std::int64_t> leaf_offsets{0};
  std::vector<std::int32_t> leaf_vector;
  std::vector<double> leaf_value;

  Arrays(std::int64_t classes, int n_trees, bool shared) : n_classes(classes) {
    std::mt19937 random(1);
    const auto below = [&](int end) {
      return static_cast<std::int32_t>(random() % static_cast<unsigned>(end));
    };
    for (std::int64_t q = 0; q < n_trees * n_classes; ++q)
      vectors.push_back(below(3) == 0 ? 0.0 : 0.1 * below(100));
    for (int tree = 0; tree < n_trees; ++tree) {
      const int n_nodes = tree % 3 == 2 ? 3 : tree % 3;
      for (int node = 0; node < n_nodes; ++node) {
        feature.push_back(below(kColumns));
        threshold.push_back(below(20));
        left.push_back(node + 1 < n_nodes ? node + 1 : ~0);  // a chain to the left
        right.push_back(~(node + 1));
      }
      for (int leaf = 0; leaf <= n_nodes; ++leaf) {
        leaf_vector.push_back(shared ? tree : below(n_trees));
        leaf_value.push_back(0.3 * below(9) - 1.0);
      }
      node_offsets.push_back(static_cast<std::int64_t>(feature.size()));
      leaf_offsets.push_back(static_cast<std::int64_t>(leaf_value.size()));
      if (tree % 2 == 1 || tree + 1 == n_trees) round_offsets.push_back(tree + 1);
    }
  }

  void give_every_leaf_a_vector() {
    std::mt19937 random(3);
    vectors.clear();
    for (std::size_t leaf = 0; leaf < leaf_vector.size(); ++leaf) {
      leaf_vector[leaf] = static_cast<std::int32_t>(leaf);
      for (std::int64_t r = 0; r < n_classes; ++r)
        vectors.push_back(0.1 * static_cast<double>(random() % 100));
    }
  }

  EnsembleView view() const {
    return {vectors, n_classes, round_offsets, node_offsets, feature,    threshold,
            left,    right,     leaf_offsets,  leaf_vector,  leaf_value, kColumns};
  }

  std::vector<double> plain_scores(const MatrixView<float>& x) const {
    std::vector<double> scores(at(x.n_rows * n_classes));
    for (std::size_t j = 0; j + 1 < node_offsets.size(); ++j)
      for (std::int64_t i = 0; i < x.n_rows; ++i) {
        std::int32_t child = node_offsets[j] < node_offsets[j + 1] ? 0 : ~0;
        while (child >= 0) {
          const std::size_t node = at(node_offsets[j] + child);
          const float value = x.data[i * x.row_stride + feature[node] * x.column_stride];
          child = static_cast<double>(value) <= threshold[node] ? left[node] : right[node];
        }
        const std::size_t leaf = at(leaf_offsets[j] + ~child);
        for (std::int64_t r = 0; r < n_classes; ++r)
          scores[at(i * n_classes + r)] +=
              leaf_value[leaf] * vectors[at(leaf_vector[leaf] * n_classes + r)];
      }
    return scores;
  }
};

std::vector<float> random_values(std::int64_t count) {
  std::vector<float> values(at(count));
  std::mt19937 random(2);
  for (float& value : values) value = static_cast<float>(random() % 20);
  return values;
}

template <class Change>
bool refused(Change change) {
  Arrays arrays(3, 6, false);
  change(arrays);
  try {
    Predictor{arrays.view()};
  } catch (const std::invalid_argument&) {
    return true;
  }
  return false;
}

}  // namespace

TEST(scores_are_the_same_sums_on_any_number_of_threads) {
  constexpr std::int64_t n_rows = 700;
  const std::vector<float> values = random_values(n_rows * kColumns);
  for (const std::int64_t n_classes : {1, 3, 90, 600})
    for (const bool shared : {false, true}) {
      const Arrays arrays(n_classes, 13, shared);
      const Predictor predictor(arrays.view());
      CHECK(predictor.n_rounds() == 7);
      for (const MatrixView<float>& x :
           {MatrixView<float>{values.data(), n_rows, kColumns, kColumns, 1},
            MatrixView<float>{values.data(), n_rows, kColumns, 1, n_rows},
            MatrixView<float>{&values.back(), n_rows, kColumns, -kColumns, -1}}) {
        const std::vector<double> expected = arrays.plain_scores(x);
        for (const int n_threads : {1, 4}) {
          std::vector<double> scores(expected.size());
          predictor.add_scores(x, 0, 3, n_threads, std::span<double>(scores));
          predictor.add_scores(x, 3, 7, n_threads, std::span<double>(scores));
          CHECK(scores == expected);
        }
      }
    }
}

TEST(prediction_refuses_what_would_lead_it_astray) {
  CHECK(!refused([](Arrays&) {}));
  CHECK(refused([](Arrays& a) { a.vectors.pop_back(); }));
  CHECK(refused([](Arrays& a) { a.round_offsets.clear(); }));
  CHECK(refused([](Arrays& a) { a.round_offsets.back() += 1; }));
  CHECK(refused([](Arrays& a) { a.node_offsets.clear(); }));
  CHECK(refused([](Arrays& a) { a.node_offsets.pop_back(); }));
  CHECK(refused([](Arrays& a) { a.feature[0] = kColumns; }));
  CHECK(refused([](Arrays& a) { a.left[0] = 0; }));
  CHECK(refused([](Arrays& a) { a.right.back() = ~9; }));
  CHECK(refused([](Arrays& a) { a.leaf_offsets[1] = 0; }));
  CHECK(refused([](Arrays& a) { a.leaf_vector[0] = 6; }));
  CHECK(refused([](Arrays& a) { a.leaf_vector[0] = -1; }));
  CHECK(refused([](Arrays& a) { a.leaf_vector.pop_back(); }));
}

TEST(prediction_of_many_rows_gives_the_sums_of_a_plain_walk) {
  constexpr std::int64_t n_rows = 700;
  const std::vector<float> values = random_values(n_rows * kColumns);
  std::vector<std::int16_t> whole(values.begin(), values.end());
  for (const std::int64_t n_classes : {1, 3, 10, 26, 70})
    for (const char* name : {"avx512", "avx2", "neon", "portable"}) {
      if (!use_kernels(name)) continue;
      Arrays arrays(n_classes, 40, false);
      if (n_classes != 10) arrays.give_every_leaf_a_vector();
      const Predictor predictor(arrays.view());
      const MatrixView<float> x{values.data(), n_rows, kColumns, kColumns, 1};
      const std::vector<double> expected = arrays.plain_scores(x);
      const MatrixView<std::int16_t> integers{whole.data(), n_rows, kColumns, kColumns, 1};
      for (const int n_threads : {1, 4}) {
        std::vector<double> scores(expected.size());
        predictor.add_scores(x, 0, predictor.n_rounds(), n_threads, std::span<double>(scores));
        CHECK(scores == expected);
        std::vector<double> others(expected.size());
        predictor.add_scores(integers, 0, predictor.n_rounds(), n_threads,
                             std::span<double>(others));
        CHECK(others == expected);
      }
    }
  use_kernels("auto");
}

TEST(prediction_of_sparse_rows_gives_the_sums_of_dense_ones) {
  for (const std::int64_t n_rows : {5, 300})
    for (const bool shared : {true, false}) {
      std::vector<float> values = random_values(n_rows * kColumns);
      std::vector<float> kept;
      std::vector<std::int32_t> columns;
      std::vector<std::int32_t> offsets{0};
      for (std::int64_t q = 0; q < n_rows * kColumns; ++q) {
        if (q % 3 == 0) {
          values[at(q)] = 0.0f;
        } else {
          kept.push_back(values[at(q)]);
          columns.push_back(static_cast<std::int32_t>(q % kColumns));
        }
        if (q % kColumns == kColumns - 1) offsets.push_back(static_cast<std::int32_t>(kept.size()));
      }
      const Arrays arrays(4, 40, shared);
      const Predictor predictor(arrays.view());
      const std::vector<double> expected =
          arrays.plain_scores(MatrixView<float>{values.data(), n_rows, kColumns, kColumns, 1});
      const SparseView<float, std::int32_t> x{
          kept.data(), columns.data(), offsets.data(), static_cast<std::int64_t>(kept.size()),
          n_rows, kColumns};
      for (const int n_threads : {1, 4}) {
        std::vector<double> scores(expected.size());
        predictor.add_scores(x, 0, predictor.n_rounds(), n_threads, std::span<double>(scores));
        CHECK(scores == expected);
      }
    }
}

TEST(the_decision_is_the_first_class_of_least_expected_cost) {
  const std::vector<double> costs{0, 1, 9, 1, 0, 1, 2, 1, 0};
  const std::vector<double> shares{0.6, 0.1, 0.3, 0.1, 0.1, 0.8, 0.5, 0.5, 0.0};
  for (int threads = 1; threads <= 2; ++threads) {
    std::vector<std::int64_t> best(3, -1);
    least_cost(shares, costs, 3, threads, best);
    CHECK((best == std::vector<std::int64_t>{0, 1, 0}));
  }
  // More rows than a task holds.
  std::vector<double> many;
  for (int i = 0; i < 20000; ++i) many.insert(many.end(), shares.begin(), shares.end());
  std::vector<std::int64_t> best(60000, -1);
  least_cost(many, costs, 3, 2, best);
  for (std::size_t i = 0; i < best.size(); ++i) CHECK(best[i] == (i % 3 == 1 ? 1 : 0));
}
