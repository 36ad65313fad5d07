// What the sanitizers should see of sparse binning; tests/data/test_sparse_binning.py says what is
// right. Here: the same as the binning of all cells, on any number of threads.
#include "marginboost/binning/sparse_binning.hpp"

#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <stdexcept>
#include <vector>

#include "check.hpp"

using namespace marginboost;

namespace {

constexpr std::int64_t kRows = 3000;
constexpr std::int64_t kColumns = 90;  // enough entries for several threads

/// Cells of which about half are 0; every tenth column is empty, every eleventh full.
std::vector<double> random_cells(unsigned n_distinct) {
  std::mt19937 generator(1);
  std::vector<double> cells;
  for (std::int64_t row = 0; row < kRows; ++row)
    for (std::int64_t column = 0; column < kColumns; ++column) {
      const bool stored = column % 11 == 0 || (column % 10 != 0 && generator() % 2 == 0);
      cells.push_back(stored ? static_cast<double>(generator() % n_distinct) - 20.0 : 0.0);
    }
  return cells;
}

template <class Bin>
void check_as_dense(unsigned n_distinct, int max_bins, bool counted) {
  const std::vector<double> cells = random_cells(n_distinct);
  std::vector<std::int64_t> offsets{0};
  std::vector<std::int32_t> columns;
  std::vector<double> values;
  for (std::size_t cell = 0; cell < cells.size(); ++cell) {
    if (cells[cell] != 0.0 || cell % 7 == 0) {  // some zeros are entries too
      columns.push_back(static_cast<std::int32_t>(cell % kColumns));
      values.push_back(cells[cell]);
    }
    if (cell % kColumns == kColumns - 1)
      offsets.push_back(static_cast<std::int64_t>(columns.size()));
  }
  const auto n_entries = static_cast<std::int64_t>(values.size());
  const SparseRows x{kColumns, offsets, std::span<const std::int32_t>(columns),
                     MatrixView<double>{values.data(), n_entries, 1, 1, 1}};
  std::vector<std::int64_t> rows;
  std::vector<std::int32_t> times;
  for (std::int64_t row = kRows - 1; row >= 0; row -= 1 + row % 3) {
    rows.push_back(row);
    if (counted) times.push_back(static_cast<std::int32_t>(1 + row % 4));
  }
  const AnyMatrix dense = MatrixView<double>{cells.data(), kRows, kColumns, kColumns, 1};
  const Thresholds right = find_thresholds(dense, {rows, times}, max_bins, 1);
  std::vector<Bin> right_bins(rows.size() * kColumns);
  fill_bins(dense, rows, right.values, right.offsets, 1, std::span<Bin>(right_bins));
  for (const int n_threads : {1, 4}) {
    const SparseBins found = bin_sparse(x, {rows, times}, max_bins, n_threads);
    CHECK(found.thresholds.values == right.values);
    CHECK(found.thresholds.offsets == right.offsets);
    CHECK(found.thresholds.n_capped == right.n_capped);
    const auto& bins = std::get<std::vector<Bin>>(found.bins);
    std::vector<Bin> all;
    for (std::size_t c = 0; c < kColumns; ++c) {
      std::vector<Bin> column(rows.size(), static_cast<Bin>(found.zero_bin[c]));
      for (auto e = static_cast<std::size_t>(found.offsets[c]);
           e < static_cast<std::size_t>(found.offsets[c + 1]); ++e) {
        CHECK(bins[e] != found.zero_bin[c]);
        column[static_cast<std::size_t>(found.rows[e])] = bins[e];
      }
      all.insert(all.end(), column.begin(), column.end());
    }
    CHECK(all == right_bins);
  }
}

}  // namespace

TEST(sparse_binning_agrees_with_dense) {
  check_as_dense<std::uint8_t>(30, 255, false);
  check_as_dense<std::uint8_t>(300, 16, true);
  check_as_dense<std::uint8_t>(300, 2, false);
  check_as_dense<std::uint16_t>(700, 65535, true);
}

TEST(sparse_binning_refuses_what_is_not_there) {
  const std::vector<double> values(2, 1.0);
  const AnyMatrix entries = MatrixView<double>{values.data(), 2, 1, 1, 1};
  const std::vector<std::int64_t> rows{0, 1};
  const auto refused = [&](const std::vector<std::int64_t>& offsets,
                           const std::vector<std::int64_t>& columns) {
    try {
      bin_sparse({2, offsets, std::span<const std::int64_t>(columns), entries}, {rows, {}}, 9, 1);
    } catch (const std::invalid_argument&) {
      return true;
    }
    return false;
  };
  CHECK(!refused({0, 1, 2}, {0, 1}));
  CHECK(refused({0, 1, 2}, {0, 2}));
  CHECK(refused({0, 1, 2}, {-1, 0}));
  CHECK(refused({0, 1, 3}, {0, 1}));
  CHECK(refused({0, 1}, {0, 1}));
  CHECK(refused({0, 2, 2}, {1, 1}));
}
