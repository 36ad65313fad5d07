// Tables of how often each value of a column occurs: of bounded size, and made to be merged.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "marginboost/binning/binning.hpp"

namespace marginboost {

/// The tables of all columns. Column c has values[offsets[c]] to values[offsets[c + 1] - 1], finite and
/// ascending, each as often as `counts` says. Where a column has more than it may, its keys have lost
/// shifts[c] bits, and a value is the least with its key.
struct ValueTables {
  std::vector<double> values;
  std::vector<std::int64_t> counts;
  std::vector<std::int64_t> offsets;
  std::vector<std::int32_t> shifts;
  /// How often -inf and inf occur, two numbers per column.
  std::vector<std::int64_t> infinite;
};

/// The same, somebody else's.
struct ValueTablesView {
  std::span<const double> values;
  std::span<const std::int64_t> counts;
  std::span<const std::int64_t> offsets;
  std::span<const std::int32_t> shifts;
  std::span<const std::int64_t> infinite;
};

/// Counts the values of every column, with at most `most_values` entries each; no value may be NaN.
ValueTables tabulate_columns(const AnyMatrix& x, const RowSelection& selection, int n_threads,
                             std::int64_t most_values = kMostValues);

/// The tables of all rows of both, which have the same columns and were made with the same
/// `most_values`. They do not depend on how the rows were divided, nor on the order of merging.
ValueTables merge_tables(const ValueTablesView& ours, const ValueTablesView& theirs, int n_threads,
                         std::int64_t most_values = kMostValues);

}  // namespace marginboost
