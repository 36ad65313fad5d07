#include "marginboost/binning/sparse_binning.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>

#include "binning/bin_of.hpp"
#include "binning/column_cuts.hpp"
#include "binning/column_groups.hpp"
#include "binning/row_selection.hpp"
#include "binning/scratch.hpp"
#include "binning/sort_keys.hpp"

namespace marginboost {
namespace {

/// The most columns that a thread takes at a time: a short one is done sooner than asked for.
constexpr std::int64_t kColumnsAtOnce = 64;

/// Times that each thread asks for columns, at least: some of them are longer than others.
constexpr std::int64_t kShares = 8;

/// The entries of the selected rows that are not 0, column by column, rows ascending.
struct Entries {
  std::vector<std::int64_t> offsets;
  std::vector<std::int32_t> rows;
  std::vector<double> values;

  std::int64_t n_columns() const { return static_cast<std::int64_t>(offsets.size()) - 1; }
  std::size_t begin(std::int64_t column) const {
    return static_cast<std::size_t>(offsets[static_cast<std::size_t>(column)]);
  }
  std::size_t end(std::int64_t column) const { return begin(column + 1); }
  Deal deal(int n_threads) const {
    const int threads = static_cast<std::int64_t>(rows.size()) < kCellsWorthThreads ? 1 : n_threads;
    const std::int64_t share = n_columns() / (kShares * threads);
    return {threads, std::clamp<std::int64_t>(share, 1, kColumnsAtOnce)};
  }
};

template <class Index, class T>
void check_entries(const SparseRows& x, std::span<const Index> columns,
                   const MatrixView<T>& values) {
  if (x.offsets.empty() || x.offsets.front() != 0 ||
      !std::is_sorted(x.offsets.begin(), x.offsets.end()) ||
      x.offsets.back() > static_cast<std::int64_t>(columns.size()) ||
      x.offsets.back() > values.n_rows || values.n_columns != 1)
    throw std::invalid_argument(
        "The row pointers of X must ascend from 0 to at most its number of entries.");
  for (const Index column : columns.first(static_cast<std::size_t>(x.offsets.back())))
    if (column < 0 || column >= x.n_columns)
      throw std::invalid_argument("X must have entries in columns 0 to " +
                                  std::to_string(x.n_columns - 1) + ", got one in column " +
                                  std::to_string(column) + ".");
}

/// Calls `visit(i, column, value)` for the entries of the i-th selected row, for all i in turn.
/// An explicit zero is none.
template <class Index, class T, class Visit>
void visit_entries(const SparseRows& x, std::span<const Index> columns,
                   const MatrixView<T>& values, std::span<const std::int64_t> rows,
                   const Visit& visit) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto row = static_cast<std::size_t>(rows[i]);
    for (std::int64_t e = x.offsets[row]; e < x.offsets[row + 1]; ++e) {
      // Compared as doubles, which is how prediction compares them.
      const auto value = static_cast<double>(values.data[e * values.row_stride]);
      const auto column = static_cast<std::size_t>(columns[static_cast<std::size_t>(e)]);
      if (value != 0.0) visit(i, column, value);
    }
  }
}

template <class Index, class T>
Entries gather(const SparseRows& x, std::span<const Index> columns, const MatrixView<T>& values,
               std::span<const std::int64_t> rows) {
  check_rows(static_cast<std::int64_t>(x.offsets.size()) - 1, rows);
  Entries entries;
  entries.offsets.assign(static_cast<std::size_t>(x.n_columns) + 1, 0);
  visit_entries(x, columns, values, rows,
                [&](std::size_t, std::size_t column, double) { ++entries.offsets[column + 1]; });
  std::partial_sum(entries.offsets.begin(), entries.offsets.end(), entries.offsets.begin());
  entries.rows.resize(static_cast<std::size_t>(entries.offsets.back()));
  entries.values.resize(entries.rows.size());
  std::vector<std::int64_t> next(entries.offsets.begin(), entries.offsets.end() - 1);
  visit_entries(x, columns, values, rows, [&](std::size_t i, std::size_t column, double value) {
    const auto to = static_cast<std::size_t>(next[column]++);
    entries.rows[to] = static_cast<std::int32_t>(i);
    entries.values[to] = value;
  });
  return entries;
}

Entries gather(const SparseRows& x, std::span<const std::int64_t> rows) {
  if (rows.size() > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()))
    throw std::invalid_argument("order must have fewer than 2**31 rows where X is sparse, got " +
                                std::to_string(rows.size()) + ".");
  return std::visit(
      [&](const auto& columns, const auto& values) {
        check_entries(x, columns, values);
        return gather(x, columns, values, rows);
      },
      x.columns, x.values);
}

void check_column(const Entries& entries, std::int64_t column) {
  for (std::size_t e = entries.begin(column) + 1; e < entries.end(column); ++e)
    if (entries.rows[e] == entries.rows[e - 1])
      throw std::invalid_argument("X must have at most one entry a cell, got two in column " +
                                  std::to_string(column) + ".");
}

Thresholds cut_columns(const Entries& entries, const RowSelection& selection, int max_bins,
                       int n_threads, std::int64_t most_values) {
  using Entry = Counted<Key<double>, std::int64_t>;
  const std::int64_t n_counted = check_multiplicity(selection);
  const std::int64_t n_columns = entries.n_columns();
  std::int64_t longest = 0;
  for (std::size_t c = 1; c < entries.offsets.size(); ++c)
    longest = std::max(longest, entries.offsets[c] - entries.offsets[c - 1]);
  const auto size = static_cast<std::size_t>(longest) + 1;  // zeros are one entry more

  // No more than what comes after: rows and bins of the entries, weights of the rows.
  const std::int64_t later = static_cast<std::int64_t>(entries.rows.size() * 5) +
                             static_cast<std::int64_t>(selection.rows.size()) * kLaterBytes;
  const std::int64_t allowed =
      std::max(later, kSmallScratch) / static_cast<std::int64_t>(size * sizeof(Entry));
  const Deal deal = entries.deal(static_cast<int>(std::clamp<std::int64_t>(allowed, 1, n_threads)));
  const Scratch<Entry> scratch(deal.n_threads, 1, size);

  ColumnCuts cuts(n_columns, max_bins, most_values);
  for_each_group(n_columns, deal, [&](std::int64_t first, std::int64_t width, int slot) {
    for (std::int64_t column = first; column < first + width; ++column) {
      check_column(entries, column);
      const std::span<Entry> table = scratch.array(slot, 0);
      std::size_t n = 0;
      std::int64_t n_zeros = n_counted;
      for (std::size_t e = entries.begin(column); e < entries.end(column); ++e) {
        const auto row = static_cast<std::size_t>(entries.rows[e]);
        const std::int64_t times =
            selection.multiplicity.empty() ? 1 : selection.multiplicity[row];
        table[n++] = {key_of(entries.values[e]), times};
        n_zeros -= times;
      }
      if (n_zeros > 0) table[n++] = {key_of(0.0), n_zeros};
      std::vector<std::int64_t> cumulative = tabulate(table.first(n));
      cuts.set(column, std::span<std::int64_t>(cumulative),
               [&](std::size_t v) { return value_of<double>(table[v].key); },
               [&](std::size_t to, std::size_t from) { table[to].key = table[from].key; });
    }
  }, "thresholds");
  return cuts.take();
}

/// Calls `body(column, thresholds)` for every column.
template <class Body>
void for_each_column(const Entries& entries, const Thresholds& thresholds, int n_threads,
                     const Body& body) {
  const auto group = [&](std::int64_t first, std::int64_t width, int) {
    for (std::int64_t column = first; column < first + width; ++column)
      body(column, column_thresholds(thresholds.values, thresholds.offsets, column));
  };
  for_each_group(entries.n_columns(), entries.deal(n_threads), group, "bins");
}

/// Finds the bin of 0 in every column, and how many entries are in another one.
void find_zero_bins(const Entries& entries, int n_threads, SparseBins& result) {
  result.zero_bin.resize(entries.offsets.size() - 1);
  result.offsets.assign(entries.offsets.size(), 0);
  for_each_column(
      entries, result.thresholds, n_threads,
      [&](std::int64_t column, std::span<const double> thresholds) {
        const std::size_t zero = bin_of(thresholds, 0.0);
        const bool has_below = zero > 0;
        const bool has_above = zero < thresholds.size();
        const double low = has_below ? thresholds[zero - 1] : 0.0;
        const double high = has_above ? thresholds[zero] : 0.0;
        std::int64_t n_kept = 0;
        for (std::size_t e = entries.begin(column); e < entries.end(column); ++e) {
          const double value = entries.values[e];
          n_kept += (has_below && value <= low) || (has_above && value > high) ? 1 : 0;
        }
        const auto c = static_cast<std::size_t>(column);
        result.zero_bin[c] = static_cast<std::int32_t>(zero);
        result.offsets[c + 1] = n_kept;
      });
  std::partial_sum(result.offsets.begin(), result.offsets.end(), result.offsets.begin());
}

template <class Bin>
void fill_entries(const Entries& entries, int n_threads, SparseBins& result) {
  const auto n_entries = static_cast<std::size_t>(result.offsets.back());
  result.rows.resize(n_entries);
  std::vector<Bin> bins(n_entries);
  for_each_column(entries, result.thresholds, n_threads,
                  [&](std::int64_t column, std::span<const double> thresholds) {
                    const auto c = static_cast<std::size_t>(column);
                    const auto zero = static_cast<std::size_t>(result.zero_bin[c]);
                    auto to = static_cast<std::size_t>(result.offsets[c]);
                    for (std::size_t e = entries.begin(column); e < entries.end(column); ++e) {
                      const std::size_t bin = bin_of(thresholds, entries.values[e]);
                      if (bin == zero) continue;
                      result.rows[to] = entries.rows[e];
                      bins[to++] = static_cast<Bin>(bin);
                    }
                  });
  result.bins = std::move(bins);
}

}  // namespace

SparseBins bin_sparse(const SparseRows& x, const RowSelection& selection, int max_bins,
                      int n_threads, std::int64_t most_values) {
  const Entries entries = gather(x, selection.rows);
  SparseBins result;
  result.thresholds = cut_columns(entries, selection, max_bins, n_threads, most_values);
  find_zero_bins(entries, n_threads, result);
  const std::vector<std::int64_t>& ends = result.thresholds.offsets;
  bool wide = false;
  for (std::size_t c = 1; c < ends.size(); ++c) wide = wide || ends[c] - ends[c - 1] > 255;
  if (wide)
    fill_entries<std::uint16_t>(entries, n_threads, result);
  else
    fill_entries<std::uint8_t>(entries, n_threads, result);
  return result;
}

}  // namespace marginboost
