// Binning: a small integer for every value of the input.
//
// The bin of x is the number of its column's thresholds below x, so x <= thresholds[b] exactly when
// bin <= b. Thresholds lie between neighbouring distinct values and depend on nothing but how often
// each value occurs: not on the order of the rows, not on the number of threads.
#pragma once

#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "marginboost/binning/matrix_view.hpp"

namespace marginboost {

/// The most bins a column may have.
inline constexpr int kMaxBins = 65535;

/// The most that all rows may count: it keeps (rows in a bin) * (bins) far from the end of a 64-bit
/// integer.
inline constexpr std::int64_t kMaxTotal = std::int64_t{1} << 46;

/// The most distinct values of a column that are told apart when its thresholds are looked for. Where
/// there are more, their 64-bit keys (as doubles) lose their lowest bits, as few as will do, and all
/// that are then equal count as one value: the least that has those upper bits.
inline constexpr std::int64_t kMostValues = std::int64_t{1} << 20;

/// A matrix of any type that is read as it lies.
using AnyMatrix =
    std::variant<MatrixView<std::uint8_t>, MatrixView<std::int8_t>, MatrixView<std::uint16_t>,
                 MatrixView<std::int16_t>, MatrixView<std::uint32_t>, MatrixView<std::int32_t>,
                 MatrixView<std::uint64_t>, MatrixView<std::int64_t>, MatrixView<float>,
                 MatrixView<double>>;

/// The rows to bin, in the order of the output, and how often each one counts (empty: once).
struct RowSelection {
  std::span<const std::int64_t> rows;
  std::span<const std::int32_t> multiplicity;
};

/// The thresholds of column c are values[offsets[c]] to values[offsets[c + 1] - 1], ascending.
struct Thresholds {
  std::vector<double> values;
  std::vector<std::int64_t> offsets;
  /// How many columns have more distinct values than bins.
  std::int64_t n_capped = 0;
  /// The lower median of each column's finite numbers; infinite where it has none.
  std::vector<double> medians;
};

/// Thresholds of every column with at most `max_bins` bins each: one bin a distinct value where
/// that is few enough, bins of nearly equal numbers of rows elsewhere. No value may be NaN. -inf and inf
/// (a missing value is given as one of them) have one of the bins each, if need be a third and a fourth.
/// At most `most_values` numbers of a column, 2 or more, are told apart.
Thresholds find_thresholds(const AnyMatrix& x, const RowSelection& selection, int max_bins,
                           int n_threads, std::int64_t most_values = kMostValues);

/// The same for one column, by its distinct values, ascending, and how often each occurs.
Thresholds cut_values(std::span<const double> values, std::span<const std::int64_t> counts,
                      int max_bins, std::int64_t most_values = kMostValues);

/// Writes the bin of x(rows[i], c) to out[c * rows.size() + i]. Throws std::invalid_argument when a
/// column has too many thresholds for the type of the bins.
void fill_bins(const AnyMatrix& x, std::span<const std::int64_t> rows,
               std::span<const double> thresholds, std::span<const std::int64_t> offsets,
               int n_threads, std::span<std::uint8_t> out);
void fill_bins(const AnyMatrix& x, std::span<const std::int64_t> rows,
               std::span<const double> thresholds, std::span<const std::int64_t> offsets,
               int n_threads, std::span<std::uint16_t> out);

}  // namespace marginboost
