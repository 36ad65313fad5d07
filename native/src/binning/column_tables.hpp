// The tables of columns, set one by one in any order, by several threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "binning/coarse_values.hpp"
#include "marginboost/binning/value_tables.hpp"

namespace marginboost {

/// How often each value of one column occurs.
struct ColumnTable {
  std::vector<double> values;
  std::vector<std::int64_t> counts;
  int shift = 0;
  std::int64_t below = 0, above = 0;
};

class ColumnTables {
 public:
  ColumnTables(std::int64_t n_columns, std::int64_t most_values)
      : most_values_(most_values), columns_(static_cast<std::size_t>(n_columns)) {}

  /// The same as in `ColumnCuts`: the v-th distinct value, with cumulative[v] rows before it.
  template <class Count, class ValueAt, class Move>
  void set(std::int64_t column, std::span<Count> cumulative, const ValueAt& value_at,
           const Move& move) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    ColumnTable& table = columns_[static_cast<std::size_t>(column)];
    const std::size_t n_values = cumulative.size() - 1;
    const std::size_t below = n_values > 0 && value_at(0) == -kInfinity ? 1 : 0;
    const std::size_t above = n_values > below && value_at(n_values - 1) == kInfinity ? 1 : 0;
    const auto rows_between = [](Count from, Count to) { return static_cast<std::int64_t>(to - from); };
    if (below > 0) table.below = rows_between(cumulative[0], cumulative[1]);
    if (above > 0) table.above = rows_between(cumulative[n_values - 1], cumulative[n_values]);
    std::span<Count> before = cumulative.subspan(below, cumulative.size() - below - above);
    const auto number_at = [&](std::size_t v) { return value_at(v + below); };
    std::size_t n_left = before.size() - 1;
    if (n_left > static_cast<std::size_t>(most_values_)) {
      table.shift = coarse_shift(n_left, number_at, most_values_);
      n_left = join_values(before, number_at,
                           [&](std::size_t to, std::size_t from) { move(to + below, from + below); },
                           table.shift);
    }
    table.values.reserve(n_left);
    table.counts.reserve(n_left);
    for (std::size_t v = 0; v < n_left; ++v) {
      table.values.push_back(table.shift > 0 ? coarse_value(number_at(v), table.shift)
                                             : number_at(v));
      table.counts.push_back(rows_between(before[v], before[v + 1]));
    }
  }

  void set(std::int64_t column, ColumnTable table) {
    columns_[static_cast<std::size_t>(column)] = std::move(table);
  }

  /// All of them, one after the other. Nothing is left here.
  ValueTables take() {
    ValueTables result;
    result.offsets.reserve(columns_.size() + 1);
    result.offsets.push_back(0);
    for (const ColumnTable& table : columns_) {
      result.offsets.push_back(result.offsets.back() +
                               static_cast<std::int64_t>(table.values.size()));
      result.shifts.push_back(table.shift);
      result.infinite.push_back(table.below);
      result.infinite.push_back(table.above);
    }
    const auto n_values = static_cast<std::size_t>(result.offsets.back());
    result.values.reserve(n_values);
    result.counts.reserve(n_values);
    for (ColumnTable& table : columns_) {
      result.values.insert(result.values.end(), table.values.begin(), table.values.end());
      result.counts.insert(result.counts.end(), table.counts.begin(), table.counts.end());
      table = {};
    }
    return result;
  }

 private:
  std::int64_t most_values_;
  std::vector<ColumnTable> columns_;
};

}  // namespace marginboost
