// What the sanitizers should see of partial sums and their scans; tests/engine/test_partial.py says
// what is right.
#include "marginboost/scans.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>
#include <random>
#include <vector>

#include "check.hpp"
#include "marginboost/binning/binning.hpp"

using namespace marginboost;

namespace {

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

constexpr int kFeatures = 9;
constexpr int kClasses = 5;
// A feature of one bin, one that is mostly one bin, and others.
const std::vector<std::int32_t> kNBins{23, 1, 4, 40, 2, 7, 23, 16, 30};

int all_bins() { return std::accumulate(kNBins.begin(), kNBins.end(), 0); }

/// Every n-th row of a problem, from a first one on; the rows of class a are those from offsets[a] on.
struct Part {
  std::vector<std::uint8_t> bins;
  std::vector<std::int64_t> offsets{0};

  std::int64_t n_rows() const { return offsets.back(); }
};

Part make_part(std::int64_t n_rows, std::int64_t first, std::int64_t step) {
  std::mt19937 random(3);
  std::vector<std::vector<std::uint8_t>> columns(at(kFeatures));
  Part part;
  for (int label = 0; label < kClasses; ++label) {
    for (std::int64_t i = n_rows * label / kClasses; i < n_rows * (label + 1) / kClasses; ++i) {
      for (int f = 0; f < kFeatures; ++f) {
        const auto spread = (random() + static_cast<unsigned>(label)) % static_cast<unsigned>(kNBins[at(f)]);
        const auto bin = static_cast<std::uint8_t>(f == 2 && i % 30 != 0 ? 1 : spread);
        if (i % step == first) columns[at(f)].push_back(bin);
      }
    }
    part.offsets.push_back(static_cast<std::int64_t>(columns[0].size()));
  }
  for (const auto& column : columns) part.bins.insert(part.bins.end(), column.begin(), column.end());
  return part;
}

constexpr std::int64_t kRows = 3000;

std::vector<Part> make_parts() {
  return {make_part(kRows, 0, 3), make_part(kRows, 1, 3), make_part(kRows, 2, 3), make_part(0, 0, 1)};
}

std::unique_ptr<StumpShard> make_stump_shard(const Part& part, int n_threads) {
  StumpShardData data;
  data.bins = {part.bins.data(), nullptr, part.n_rows(), kFeatures};
  data.n_bins = kNBins;
  data.class_offsets = part.offsets;
  auto shard = std::make_unique<StumpShard>(data, Loss::exponential, n_threads, 100);
  std::vector<double> up(2 * kClasses, 1.0), down(2 * kClasses, 1.0);
  for (std::size_t c = 0; c < up.size(); ++c) up[c] = 1.0 + 0.2 * static_cast<double>(c % 3);
  shard->advance({up.data(), down.data(), nullptr}, 8);
  return shard;
}

template <class T>
void add_to(std::vector<T>& sums, const std::vector<T>& more) {
  std::transform(sums.begin(), sums.end(), more.begin(), sums.begin(), std::plus<>());
}

bool same(const StumpChoice& a, const StumpChoice& b) {
  return a.feature == b.feature && a.bin == b.bin && a.output == b.output && a.edge == b.edge;
}

std::unique_ptr<TreeShard> make_vector(const Part& part, int n_threads) {
  TreeShardData data;
  data.class_offsets = part.offsets;
  auto shard = make_tree_shard(data, part.bins.data(), kNBins, Loss::logistic, n_threads);
  const std::vector<float> ones(at(kClasses), 1.0F);
  shard->advance(ones.data(), ones.data(), 1, ones.data(), 8, 8);
  return shard;
}

}  // namespace

TEST(stumps_of_parts_are_those_of_the_whole) {
  const Part whole_rows = make_part(kRows, 0, 1);
  const std::vector<Part> parts = make_parts();
  for (const int n_threads : {1, 4, 30}) {
    const auto whole = make_stump_shard(whole_rows, n_threads);
    std::vector<std::int32_t> sums(at(all_bins() * kClasses), 0), more(sums.size());
    for (const Part& part : parts) {
      make_stump_shard(part, n_threads)->histograms(more.data());
      add_to(sums, more);
    }
    const StumpHistograms histograms{sums.data(), kNBins, kClasses};
    for (const Criterion criterion : {Criterion::largest, Criterion::sum, Criterion::squares}) {
      CHECK(same(scan_stump(histograms, criterion), whole->best_stump(criterion)));
    }
  }
}

TEST(nodes_of_parts_are_those_of_the_whole) {
  const Part whole_rows = make_part(kRows, 0, 1);
  const std::vector<Part> parts = make_parts();
  const std::vector<std::int32_t> features{0, 1, 2, 3, 5, 8};
  std::vector<std::int32_t> n_bins;
  for (const std::int32_t f : features) n_bins.push_back(kNBins[at(f)]);
  const TreeRules rules{5, 10.0F};
  for (const int n_threads : {1, 4}) {
    const auto whole = make_vector(whole_rows, n_threads);
    std::vector<NodeSplit> right{whole->start_tree(features, {}, rules)};
    std::vector<std::unique_ptr<TreeShard>> shards;
    for (const Part& part : parts) {
      shards.push_back(make_vector(part, n_threads));
      shards.back()->begin_tree(features, {});
    }
    std::vector<std::int32_t> nodes{0};
    for (int level = 0; level < 3; ++level) {
      const auto stride = shards[0]->n_tree_bins() * whole->slots().lanes;
      std::vector<std::int32_t> sums(nodes.size() * at(stride), 0), more(sums.size());
      for (const auto& shard : shards) {
        shard->node_histograms(nodes, more.data());
        add_to(sums, more);
      }
      const auto found = scan_nodes(
          {sums.data(), n_bins, static_cast<std::int64_t>(nodes.size()), whole->slots()}, rules);
      std::vector<NodeCut> cuts;
      for (std::size_t q = 0; q < nodes.size(); ++q) {
        CHECK(found[q].count == right[q].count);
        if (right[q].feature < 0) continue;
        CHECK(features[at(found[q].feature)] == right[q].feature && found[q].bin == right[q].bin);
        CHECK(double{found[q].score} - double{found[q].here} == right[q].gain);
        cuts.push_back({nodes[q], right[q].feature, right[q].bin, true});
      }
      CHECK(!cuts.empty());
      const std::int32_t first = level == 0 ? 1 : nodes.back() + 1;
      right = whole->split(cuts);
      nodes.resize(right.size());
      std::iota(nodes.begin(), nodes.end(), first);
      for (const auto& shard : shards) shard->move_rows(cuts);
    }
  }
}

TEST(columns_of_many_values_are_made_coarse) {
  std::mt19937 random(5);
  std::vector<double> values(6000);
  for (double& value : values) value = static_cast<double>(random() % 4000) / 7.0 - 200.0;
  std::vector<std::int64_t> rows(values.size());
  std::iota(rows.begin(), rows.end(), std::int64_t{0});
  const AnyMatrix x = MatrixView<double>{values.data(), 6000, 1, 1, 6000};
  const std::vector<std::int32_t> ones(values.size(), 1);
  std::vector<double> distinct = values;
  std::sort(distinct.begin(), distinct.end());
  std::vector<std::int64_t> counts;
  std::size_t n = 0;
  for (const double value : distinct) {
    if (n == 0 || distinct[n - 1] != value) {
      distinct[n++] = value;
      counts.push_back(0);
    }
    ++counts.back();
  }
  distinct.resize(n);
  for (const std::int64_t most : {2, 100, 1000, 100000}) {
    for (const int max_bins : {2, 64, 5000}) {
      const Thresholds sorted = find_thresholds(x, {rows, {}}, max_bins, 1, most);
      CHECK(sorted.values == find_thresholds(x, {rows, ones}, max_bins, 1, most).values);
      CHECK(sorted.values == cut_values(distinct, counts, max_bins, most).values);
      CHECK(static_cast<std::int64_t>(sorted.values.size()) < std::min<std::int64_t>(max_bins, most));
    }
  }
}
