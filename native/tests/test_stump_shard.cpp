#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "check.hpp"
#include "marginboost/coefficients/coefficients.hpp"
#include "marginboost/stumps/shard.hpp"

using namespace marginboost;

namespace {

struct Problem {
  std::vector<std::uint8_t> bins;
  std::vector<double> weight;
  std::vector<std::int32_t> multiplicity;
  StumpShardData data;
};

Problem make_problem(std::int64_t rows, int features, int classes, bool weighted) {
  std::mt19937 random(7);
  Problem p;
  p.bins.resize(static_cast<std::size_t>(rows * features));
  for (auto& b : p.bins) b = static_cast<std::uint8_t>(random() % 23);
  p.data.bins = {p.bins.data(), nullptr, rows, features};
  p.data.n_bins.assign(static_cast<std::size_t>(features), 23);
  for (int a = 0; a <= classes; ++a) p.data.class_offsets.push_back(rows * a / classes);
  if (weighted) {
    for (std::int64_t i = 0; i < rows; ++i) {
      p.weight.push_back(0.25 + static_cast<double>(random() % 100));
      p.multiplicity.push_back(1 + static_cast<std::int32_t>(random() % 4));
    }
    p.data.weight = p.weight.data();
    p.data.multiplicity = p.multiplicity.data();
  }
  return p;
}

// A few rounds with made-up coefficients; returns everything that could differ.
std::vector<double> trace(const Problem& p, Loss loss, int threads, std::int64_t block) {
  StumpShard shard(p.data, loss, threads, block);
  const int k = shard.n_classes();
  const auto n = static_cast<std::size_t>(k);
  std::vector<double> up(2 * n, 1.0), down(2 * n, 1.0), out, sums(2 * n * n), bend(2 * n * n);
  for (int round = 0; round < 6; ++round) {
    out.push_back(static_cast<double>(shard.advance({up.data(), down.data(), nullptr}, 4)));
    const StumpChoice stump = shard.best_stump(Criterion::largest);
    for (const Criterion criterion : {Criterion::sum, Criterion::squares}) {
      const StumpChoice other = shard.best_stump(criterion);
      out.insert(out.end(), {double(other.feature), double(other.bin), double(other.edge)});
    }
    for (const StumpChoice& each : shard.best_stumps()) {
      out.insert(out.end(), {double(each.feature), double(each.bin), double(each.edge)});
    }
    out.insert(out.end(), {double(stump.feature), double(stump.bin), double(stump.output),
                           double(stump.edge)});
    shard.place_stump(stump.feature, stump.bin, stump.edge > 0);
    for (std::size_t r = 0; r < n; ++r) {
      up[n + r] = down[r] = 1.0 + 0.1 * static_cast<double>(r % 3);
      up[r] = down[n + r] = 1.0 / up[n + r];
    }
    const bool second = loss == Loss::logistic;
    shard.sums({up.data(), down.data(), nullptr}, 20, sums.data(), second ? bend.data() : nullptr);
    out.insert(out.end(), sums.begin(), sums.end());
    if (second) out.insert(out.end(), bend.begin(), bend.end());
    const NodeSplit root = shard.start_tree(stump.output);
    out.insert(out.end(), {double(root.feature), double(root.bin), double(root.count), root.gain});
    std::vector<std::int32_t> leaf_of_node{0};
    if (root.feature >= 0) {  // a root whose rows all have one label is not cut
      const std::vector<NodeCut> cuts{{0, root.feature, root.bin, true}};
      for (const NodeSplit& node : shard.split(cuts)) {
        out.insert(out.end(),
                   {double(node.feature), double(node.bin), double(node.count), node.gain});
      }
      leaf_of_node = {-1, 0, 1};
    }
    std::vector<std::int64_t> masses(4);
    shard.finish_tree(leaf_of_node, leaf_of_node.size() == 1 ? 1 : 2, masses.data());
    out.insert(out.end(), masses.begin(), masses.end());
    for (const std::int64_t edge : shard.edges()) out.push_back(double(edge));
  }
  return out;
}

}  // namespace

TEST(threads_blocks_and_kernels_give_equal_bits) {
  for (const bool weighted : {false, true}) {
    for (const int k : {2, 3, 4, 5, 8, 9, 17, 33}) {
      for (const Loss loss : {Loss::exponential, Loss::logistic, Loss::softmax}) {
        const Problem p = make_problem(1537, 7, k, weighted);
        CHECK(use_kernels("portable"));
        const std::vector<double> expected = trace(p, loss, 1, 2048);
        for (const char* name : {"portable", "avx2", "avx512", "neon"}) {
          if (!use_kernels(name)) continue;
          for (const int threads : {1, 2, 5}) {
            for (const std::int64_t block : {1, 100, 2048}) {
              CHECK(trace(p, loss, threads, block) == expected);
            }
          }
        }
      }
    }
  }
  use_kernels("auto");
}

TEST(shared_rows_give_equal_bits) {  // one feature, many rows, more threads than features
  const Problem p = make_problem(40000, 1, 3, false);
  CHECK(trace(p, Loss::exponential, 8, 2048) == trace(p, Loss::exponential, 1, 2048));
}

TEST(balancing_two_classes_is_adaboost) {
  // Class 0 right with mass 3, wrong with 1; class 1 likewise: w = log(3) / 2.
  const std::vector<double> sums = {0, 1, 3, 0, 0, 3, 1, 0};
  const Solution s = balance(sums.data(), 2, 0.0, 0.0, 0.0, 1e-12, 100);
  CHECK(std::fabs(s.w[0] - 0.5 * std::log(3.0)) < 1e-12);
  CHECK(s.w[1] == 0.0);
  CHECK(s.optimality_error < 1e-12);
}

TEST(balancing_separable_data_is_finite) {
  const std::vector<double> sums = {0, 0, 5, 0, 0, 5, 0, 0};
  const Solution s = balance(sums.data(), 2, 10.0, 0.0, 1e-12, 1e-9, 1000);
  CHECK(std::isfinite(s.w[0]) && s.w[0] > 10.0);
}
