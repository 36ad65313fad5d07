#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <random>
#include <stdexcept>
#include <utility>
#include <vector>

#include "trees/row_partition.hpp"
#include "check.hpp"
#include "marginboost/binning/bin_columns.hpp"
#include "marginboost/stumps/kernels.hpp"
#include "marginboost/trees/shard.hpp"

using namespace marginboost;

namespace {

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

constexpr int kBins = 23;

// Feature 1 is mostly one bin, feature 2 all of it; the others are spread.
struct Problem {
  std::int64_t rows;
  int features, classes;
  std::vector<std::uint8_t> narrow;
  std::vector<std::uint16_t> wide;
  std::vector<std::int64_t> offsets;
  std::vector<float> weight;
  std::vector<std::int32_t> multiplicity;
  std::vector<std::uint64_t> hashes;

  TreeShardData data() const {
    TreeShardData made;
    made.class_offsets = offsets;
    made.weight = weight;
    made.multiplicity = multiplicity.empty() ? nullptr : multiplicity.data();
    made.hashes = hashes.data();
    return made;
  }
  std::vector<std::int32_t> n_bins() const { return std::vector(at(features), kBins); }
  int bin(std::int64_t row, int feature) const { return narrow[at(feature * rows + row)]; }
};

Problem make_problem(std::int64_t rows, int features, int classes, bool weighted) {
  std::mt19937_64 random(7);
  Problem p{rows, features, classes, {}, {}, {}, {}, {}, {}};
  for (int f = 0; f < features; ++f) {
    for (std::int64_t i = 0; i < rows; ++i) {
      const auto spread = static_cast<std::uint8_t>((random() + at(i * classes / rows)) % kBins);
      const bool usual = f == 2 || (f == 1 && random() % 20 != 0);
      p.narrow.push_back(usual ? 4 : spread);
    }
  }
  p.wide.assign(p.narrow.begin(), p.narrow.end());
  for (int a = 0; a <= classes; ++a) p.offsets.push_back(rows * a / classes);
  for (std::int64_t i = 0; i < rows; ++i) {
    p.hashes.push_back(random());
    if (!weighted) continue;
    p.weight.push_back(i % 11 == 0 ? 0.0F : 0.25F + static_cast<float>(random() % 4));
    p.multiplicity.push_back(1 + static_cast<std::int32_t>(random() % 4));
  }
  return p;
}

// The entries of a matrix that are not in bin 4.
struct Lists {
  std::vector<std::int64_t> offsets{0};
  std::vector<std::int32_t> rows;
  std::vector<std::uint8_t> bins;
  std::vector<std::int32_t> usual;
};

Lists lists_of(const Problem& p) {
  Lists lists;
  for (int f = 0; f < p.features; ++f) {
    for (std::int64_t i = 0; i < p.rows; ++i) {
      if (p.bin(i, f) == 4) continue;
      lists.rows.push_back(static_cast<std::int32_t>(i));
      lists.bins.push_back(static_cast<std::uint8_t>(p.bin(i, f)));
    }
    lists.offsets.push_back(static_cast<std::int64_t>(lists.rows.size()));
    lists.usual.push_back(4);
  }
  return lists;
}

std::vector<std::int32_t> all_features(int n) {
  std::vector<std::int32_t> features;
  for (int f = 0; f < n; ++f) features.push_back(f);
  return features;
}

RowSample half_of_the_rows() { return {99, ~std::uint64_t{0} / 2}; }

// A few rounds with made-up coefficients; returns everything that could differ.
std::vector<double> trace(TreeShard& shard, const RowSample& sample, int n_rounds = 3) {
  const int k = shard.n_classes();
  std::vector<float> up(at(k), 1.0F), down(at(k), 1.0F), signs(at(k), 1.0F);
  for (int c = 0; c < k; ++c) signs[at(c)] = c % 3 == 0 ? -1.0F : 1.0F;
  std::vector<double> out;
  int n_leaves = 1;
  for (int round = 0; round < n_rounds; ++round) {
    const auto found = shard.advance(up.data(), down.data(), n_leaves, signs.data(), 8, 8);
    out.push_back(static_cast<double>(found.wrong));
    out.push_back(static_cast<double>(found.loss));
    const GrownTree tree =
        shard.grow_tree(all_features(shard.n_features()), sample, {3, 50.0F}, {9, 5});
    n_leaves = static_cast<int>(tree.counts.size());
    for (const auto& part : {tree.feature, tree.bin, tree.left, tree.right, tree.leaf_of_node}) {
      out.insert(out.end(), part.begin(), part.end());
    }
    out.insert(out.end(), tree.gain.begin(), tree.gain.end());
    for (const std::int64_t count : tree.counts) out.push_back(static_cast<double>(count));
    const auto size = at(std::int64_t{n_leaves} * k);
    std::vector<double> own(size), against(size);
    shard.finish_tree(tree.leaf_of_node, n_leaves, 6, own.data(), against.data());
    out.insert(out.end(), own.begin(), own.end());
    out.insert(out.end(), against.begin(), against.end());
    up.assign(size, 1.0F);
    down.assign(size, 1.0F);
    for (std::size_t j = 0; j < size; ++j) {
      up[j] = 1.0F + 0.125F * static_cast<float>(j % 5);
      down[j] = 1.0F / up[j];
    }
  }
  std::vector<float> e(at(shard.n_rows() * k));
  std::vector<std::int32_t> g(at(shard.n_rows() * shard.slots().lanes));
  shard.state(e.data(), g.data());
  out.insert(out.end(), e.begin(), e.end());
  out.insert(out.end(), g.begin(), g.end());
  return out;
}

}  // namespace

TEST(columns_of_mostly_one_bin_are_listed_by_row) {
  for (const int threads : {1, 4}) {
    const Problem p = make_problem(10000, 4, 3, false);
    const BinColumns<std::uint8_t> dense(p.narrow.data(), p.rows, p.n_bins(), threads);
    CHECK(!dense.any_sparse());
    CHECK(dense.n_features() == 4 && dense.n_rows() == 10000);
    CHECK(!dense[0].is_by_row() && !dense[3].is_by_row());
    CHECK(dense[1].row_cell == 0 && dense[1].default_bin == 4);
    CHECK(dense[2].row_cell == kBins && dense[2].n_entries == 0);
    const RowEntries& entries = dense.row_entries();
    CHECK(entries.n_cells == 2 * kBins);
    CHECK(entries.offsets.size() == 10001 && entries.offsets[0] == 0);
    std::size_t n = 0;
    for (std::int64_t i = 0; i < p.rows; ++i) {
      CHECK(entries.offsets[at(i)] == n);
      if (p.bin(i, 1) != 4) CHECK(entries.cells[n++] == p.bin(i, 1));
    }
    CHECK(entries.cells.size() == n && entries.offsets.back() == n);
    CHECK(dense[1].n_entries == static_cast<std::int64_t>(n));
  }
  // A tenth of the rows is few enough, one more is not.
  for (const int others : {100, 101}) {
    std::vector<std::uint8_t> column(1000, 7);
    for (int i = 0; i < others; ++i) column[at(i * 9)] = 3;
    const BinColumns<std::uint8_t> one(column.data(), 1000, {8});
    CHECK(one[0].is_by_row() == (others == 100));
  }
}

TEST(columns_of_many_bins_are_listed_by_column) {
  const Problem p = make_problem(1000, 4, 3, false);
  std::vector<std::int32_t> n_bins = p.n_bins();
  n_bins[1] = n_bins[2] = 1020;  // no two of them fit
  const Lists lists = lists_of(p);
  const BinColumns<std::uint16_t> dense(p.wide.data(), p.rows, n_bins, 2);
  const BinColumns<std::uint8_t> sparse(lists.offsets.data(), lists.rows.data(), lists.bins.data(),
                                        lists.usual.data(), p.rows, p.n_bins());
  CHECK(dense.any_sparse() && dense[1].is_by_row() && !dense[1].is_sparse());
  CHECK(dense[2].is_sparse() && !dense[2].is_by_row());
  CHECK(dense[2].n_entries == sparse[2].n_entries && dense[2].default_bin == 4);
  n_bins[1] = 1025;
  const BinColumns<std::uint16_t> both(p.wide.data(), p.rows, n_bins, 2);
  CHECK(both[1].is_sparse() && both[2].is_by_row() && both[1].n_entries == sparse[1].n_entries);
  for (std::int64_t j = 0; j < both[1].n_entries; ++j) {
    CHECK(both[1].rows[j] == sparse[1].rows[j] && both[1].bins[j] == sparse[1].bins[j]);
  }
  n_bins[3] = 4;
  bool refused = false;
  try {
    const BinColumns<std::uint16_t> wrong(p.wide.data(), p.rows, n_bins, 2);
  } catch (const std::invalid_argument&) {
    refused = true;
  }
  CHECK(refused);
}

TEST(rows_go_where_their_bins_say) {
  // Enough rows that threads share them.
  const Problem p = make_problem(70000, 4, 3, true);
  const Lists lists = lists_of(p);
  const BinColumns<std::uint8_t> dense(p.narrow.data(), p.rows, p.n_bins());
  const BinColumns<std::uint8_t> sparse(lists.offsets.data(), lists.rows.data(), lists.bins.data(),
                                        lists.usual.data(), p.rows, p.n_bins());
  const TreeShardData data = p.data();
  for (const BinColumns<std::uint8_t>* columns : {&dense, &sparse}) {
    for (const int threads : {1, 4}) {
      RowPartition<std::uint8_t> partition(*columns, threads);
      for (int again = 0; again < 2; ++again) {  // the second tree finds no marks of the first
        partition.restart(half_of_the_rows(), data);
        partition.divide(std::vector<NodeCut>{{0, 0, 11, true}});
        partition.divide(std::vector<NodeCut>{{2, 1, 3, true}, {1, 3, 5, true}});
        CHECK(partition.n_nodes() == 7);
        std::vector<std::uint16_t> leaf(at(p.rows), 77);
        const std::vector<std::int32_t> leaf_of_node{-1, -1, -1, 0, 1, 2, 3};
        const std::int64_t n_ranges = partition.n_leaf_ranges();
        CHECK((n_ranges == 1) == (threads == 1));
        for (std::int64_t r = 0; r < n_ranges; ++r) {
          partition.write_leaves(leaf_of_node, p.rows * r / n_ranges, p.rows * (r + 1) / n_ranges,
                                 leaf.data());
        }
        std::int64_t wrong = 0;
        for (std::int64_t i = 0; i < p.rows; ++i) {
          const int expected = p.bin(i, 0) <= 11 ? (p.bin(i, 3) <= 5 ? 2 : 3)
                                                 : (p.bin(i, 1) <= 3 ? 0 : 1);
          wrong += leaf[at(i)] == expected ? 0 : 1;
        }
        CHECK(wrong == 0);
        // Rows of a node ascend, and none of them is without weight.
        for (int q = 3; q < 7; ++q) {
          const auto& node = partition.node(q);
          const std::uint32_t* rows = partition.rows();
          CHECK(std::is_sorted(rows + node.begin, rows + node.end));
          CHECK(std::all_of(rows + node.begin, rows + node.end,
                            [&](std::uint32_t row) { return p.weight[row] > 0.0F; }));
        }
        const auto& root = partition.node(0);
        CHECK(std::abs(static_cast<double>(root.n_rows()) - 0.5 * 70000 * 10 / 11) < 1000);
      }
    }
  }
}

TEST(a_split_is_the_best_of_all) {
  for (const int k : {2, 6, 7, 30}) {
    const Problem p = make_problem(900, 4, k, true);
    const auto shard = make_tree_shard(p.data(), p.narrow.data(), p.n_bins(), Loss::exponential, 2);
    const std::vector<float> one(at(k), 1.0F);
    shard->advance(one.data(), one.data(), 1, one.data(), 10, 10);
    const Slots& slots = shard->slots();
    const int cell = slots.lanes;
    std::vector<float> e(at(p.rows * k));
    std::vector<std::int32_t> g(at(p.rows * cell));
    shard->state(e.data(), g.data());
    const int least = 200;
    const double smoothing = 64.0;
    const auto score = [&](const std::vector<std::int64_t>& sums) {
      double squares = 0.0;
      for (int c = 0; c < cell; ++c) {
        if (c == slots.mass_lane() || c == slots.count_lane()) continue;
        squares += static_cast<double>(sums[at(c)]) * static_cast<double>(sums[at(c)]);
      }
      return squares / (static_cast<double>(sums[at(slots.mass_lane())]) + smoothing);
    };
    double best = -1.0, found = -2.0;
    const NodeSplit split = shard->start_tree(all_features(4), {}, {least, 64.0F});
    std::int64_t count = 0;
    for (int f = 0; f < 4; ++f) {
      for (int b = 0; b + 1 < kBins; ++b) {
        std::vector<std::int64_t> left(at(cell), 0), right(at(cell), 0);
        for (std::int64_t i = 0; i < p.rows; ++i) {
          if (p.weight[at(i)] == 0.0F) continue;
          for (int c = 0; c < cell; ++c) {
            (p.bin(i, f) <= b ? left : right)[at(c)] += g[at(i * cell + c)];
          }
        }
        count = left[at(slots.count_lane())] + right[at(slots.count_lane())];
        if (std::min(left[at(slots.count_lane())], right[at(slots.count_lane())]) < least) continue;
        const double both = score(left) + score(right);
        best = std::max(best, both);
        if (f == split.feature && b == split.bin) found = both;
      }
    }
    CHECK(split.feature >= 0 && split.count == count);
    CHECK(found >= best * (1.0 - 1e-5));
  }
}

TEST(threads_kernels_and_lists_give_equal_trees) {
  for (const bool weighted : {false, true}) {
    for (const int k : {2, 6, 7, 15, 30, 60}) {
      for (const Loss loss : {Loss::exponential, Loss::logistic}) {
        const Problem p = make_problem(1537, 5, k, weighted);
        const Lists lists = lists_of(p);
        const SparseBins<std::uint8_t> sparse{lists.offsets.data(), lists.rows.data(),
                                              lists.bins.data(), lists.usual.data()};
        const RowSample sample = weighted ? half_of_the_rows() : RowSample{};
        CHECK(use_kernels("portable"));
        const std::vector<double> expected =
            trace(*make_tree_shard(p.data(), p.narrow.data(), p.n_bins(), loss, 1), sample);
        for (const char* name : {"portable", "avx2", "avx512", "neon"}) {
          if (!use_kernels(name)) continue;
          for (const int threads : {1, 3}) {
            const auto narrow = make_tree_shard(p.data(), p.narrow.data(), p.n_bins(), loss, threads);
            CHECK(trace(*narrow, sample) == expected);
            narrow->restart();
            CHECK(trace(*narrow, sample) == expected);
            CHECK(trace(*make_tree_shard(p.data(), p.wide.data(), p.n_bins(), loss, threads),
                        sample) == expected);
            CHECK(trace(*make_tree_shard(p.data(), sparse, p.n_bins(), loss, threads),
                        sample) == expected);
            // With more bins than rows fill, the columns that are mostly one bin are lists.
            std::vector<std::int32_t> many = p.n_bins();
            many[1] = many[2] = 2000;
            CHECK(trace(*make_tree_shard(p.data(), p.wide.data(), many, loss, threads), sample) ==
                  expected);
          }
        }
      }
    }
  }
  use_kernels("auto");
}

TEST(many_rows_shared_by_threads_give_equal_trees) {  // with histograms that are subtracted
  for (const bool weighted : {false, true}) {
    const Problem p = make_problem(60000, 6, 5, weighted);
    const RowSample sample = weighted ? half_of_the_rows() : RowSample{};
    const auto shard = [&](int threads) {
      return make_tree_shard(p.data(), p.narrow.data(), p.n_bins(), Loss::exponential, threads);
    };
    const std::vector<double> expected = trace(*shard(1), sample, 2);
    for (const int threads : {2, 4, 7, 16}) CHECK(trace(*shard(threads), sample, 2) == expected);
    const Lists lists = lists_of(p);
    const SparseBins<std::uint8_t> sparse{lists.offsets.data(), lists.rows.data(),
                                          lists.bins.data(), lists.usual.data()};
    CHECK(trace(*make_tree_shard(p.data(), sparse, p.n_bins(), Loss::exponential, 5), sample, 2) ==
          expected);
  }
}

TEST(nodes_split_only_features_that_they_may) {
  // As a tree that has only those features, whose sums are its own.
  for (const std::int64_t rows : {400, 9000}) {  // the histograms of many rows are subtracted
    const Problem p = make_problem(rows, 7, 4, false);
    const Lists lists = lists_of(p);
    const SparseBins<std::uint8_t> sparse{lists.offsets.data(), lists.rows.data(),
                                          lists.bins.data(), lists.usual.data()};
    const std::vector<float> ones(4, 1.0F);
    const std::vector<std::int32_t> all{0, 1, 3, 4, 5, 6}, few{1, 4, 6};
    const std::vector<std::uint8_t> allowed{0, 1, 0, 1, 0, 1};
    const std::vector<NodeCut> root{{0, 4, 9, true}}, both{{1, 6, 5, true}, {2, 1, 4, true}};
    for (const bool dense : {true, false}) {
      for (const int threads : {1, 3}) {
        std::vector<std::vector<NodeSplit>> found;
        for (const auto* features : {&all, &few}) {
          const auto shard =
              dense ? make_tree_shard(p.data(), p.narrow.data(), p.n_bins(), Loss::logistic, threads)
                    : make_tree_shard(p.data(), sparse, p.n_bins(), Loss::logistic, threads);
          shard->advance(ones.data(), ones.data(), 1, ones.data(), 8, 8);
          shard->start_tree(*features, {}, {3, 50.0F});
          std::vector<std::uint8_t> masks = allowed;
          masks.insert(masks.end(), allowed.begin(), allowed.end());
          const std::uint8_t* mask = features == &all ? masks.data() : nullptr;
          found.push_back(shard->split(root, mask));
          const std::vector<NodeSplit> below = shard->split(both, mask);
          found.back().insert(found.back().end(), below.begin(), below.end());
        }
        CHECK(found[0].size() == 6 && found[1].size() == 6);
        for (std::size_t q = 0; q < 6; ++q) {
          CHECK(found[0][q].feature == found[1][q].feature && found[0][q].bin == found[1][q].bin);
          CHECK(found[0][q].gain == found[1][q].gain && found[0][q].count == found[1][q].count);
        }
        CHECK(std::any_of(found[0].begin(), found[0].end(),
                          [](const NodeSplit& split) { return split.feature >= 0; }));
      }
    }
  }
}
