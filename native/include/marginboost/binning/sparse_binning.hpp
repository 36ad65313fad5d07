// Binning of a matrix that stores only some of its cells; all others are 0.
//
// The thresholds are those of the same matrix with every cell stored: zeros count as often as there
// are rows without an entry. Time and memory go with the entries, the rows and the columns.
#pragma once

#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "marginboost/binning/binning.hpp"

namespace marginboost {

/// The entries of row r are those from offsets[r] to offsets[r + 1]: their columns, in any order but
/// each at most once, and their values, which are the first column of a matrix.
struct SparseRows {
  std::int64_t n_columns;
  std::span<const std::int64_t> offsets;
  std::variant<std::span<const std::int32_t>, std::span<const std::int64_t>> columns;
  AnyMatrix values;
};

/// The entries of column c are those from offsets[c] to offsets[c + 1]: their places in the order of
/// the selected rows, ascending, and their bins. All other rows have the column's zero_bin.
struct SparseBins {
  std::vector<std::int64_t> offsets;
  std::vector<std::int32_t> rows;
  std::variant<std::vector<std::uint8_t>, std::vector<std::uint16_t>> bins;
  std::vector<std::int32_t> zero_bin;
  Thresholds thresholds;
};

/// Bins the selected rows with at most `max_bins` bins a column; see `find_thresholds`. Bins have
/// two bytes where a column has more than 256. At most `most_values` values of a column, 2 or more, are
/// told apart. Throws std::invalid_argument when x is not as it should be.
SparseBins bin_sparse(const SparseRows& x, const RowSelection& selection, int max_bins,
                      int n_threads, std::int64_t most_values = kMostValues);

}  // namespace marginboost
