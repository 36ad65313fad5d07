// Thresholds: where the bins of every column begin and end.
#include <algorithm>
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include "binning/column_cuts.hpp"
#include "binning/column_groups.hpp"
#include "marginboost/binning/binning.hpp"
#include "binning/row_selection.hpp"
#include "binning/scratch.hpp"
#include "binning/sort_keys.hpp"

namespace marginboost {
namespace {

/// Deals columns out where a thread needs so many bytes for each of its columns and as many again:
/// in all no more than the bins and weights will take that come after, so that a fit's peak is not
/// here.
template <class T>
Deal deal_within_memory(const MatrixView<T>& x, std::int64_t n_rows, int n_threads,
                        std::int64_t column_bytes) {
  const std::int64_t allowed = std::max(n_rows * (x.n_columns + kLaterBytes), kSmallScratch);
  const std::int64_t columns = allowed / std::max<std::int64_t>(column_bytes, 1);
  const Deal deal = deal_columns(
      x, n_rows, static_cast<int>(std::clamp<std::int64_t>(columns / 2, 1, n_threads)));
  return {deal.n_threads, std::clamp<std::int64_t>(columns / deal.n_threads - 1, 1, deal.width)};
}

/// What the ways to tabulate a column are given.
template <class T>
struct Task {
  const MatrixView<T>& x;
  const RowSelection& selection;
  int n_threads;

  std::int64_t n_rows() const { return static_cast<std::int64_t>(selection.rows.size()); }
};

/// Counts one-byte values: no sort, and no copy of the column.
template <class T>
void cut_by_counting(const Task<T>& task, ColumnCuts& cuts) {
  const RowSelection& selection = task.selection;
  const auto count_group = [&](std::int64_t first, std::int64_t width, int) {
    std::vector<std::int64_t> counts(static_cast<std::size_t>(width * 256));
    const auto as_it_is = [](T value) { return value; };
    visit_tiles(task.x, selection.rows, first, width, as_it_is,
                [&](std::int64_t c, std::int64_t start, std::span<const T> cells) {
                  std::int64_t* of_column = counts.data() + c * 256;
                  if (selection.multiplicity.empty()) {
                    for (const T cell : cells) ++of_column[static_cast<std::uint8_t>(cell)];
                    return;
                  }
                  const std::int32_t* times = selection.multiplicity.data() + start;
                  for (const T cell : cells) of_column[static_cast<std::uint8_t>(cell)] += *times++;
                });
    for (std::int64_t c = 0; c < width; ++c) {
      std::vector<int> values;
      std::vector<std::int64_t> cumulative(1, 0);
      for (int v = std::numeric_limits<T>::min(); v <= std::numeric_limits<T>::max(); ++v) {
        const auto cell = static_cast<std::size_t>(c * 256 + static_cast<std::uint8_t>(v));
        if (counts[cell] == 0) continue;
        values.push_back(v);
        cumulative.push_back(cumulative.back() + counts[cell]);
      }
      cuts.set(first + c, std::span<std::int64_t>(cumulative),
               [&](std::size_t v) { return static_cast<double>(values[v]); },
               [&](std::size_t to, std::size_t from) { values[to] = values[from]; });
    }
  };
  for_each_group(task.x.n_columns, deal_columns(task.x, task.n_rows(), task.n_threads),
                 count_group, "thresholds");
}

/// Sorts a copy of each column. Of its two arrays one ends with the distinct keys, the other with
/// the numbers of rows before them: nothing else is as long as the column.
template <class T>
void cut_by_sorting(const Task<T>& task, ColumnCuts& cuts) {
  const auto n_rows = task.selection.rows.size();
  const std::size_t size = n_rows + 1;  // of an array: one count more than values
  const auto bytes = static_cast<std::int64_t>(size * sizeof(Key<T>));
  const Deal deal = deal_within_memory(task.x, task.n_rows(), task.n_threads, bytes);
  const Scratch<Key<T>> scratch(deal.n_threads, deal.width + 1, size);
  for_each_group(task.x.n_columns, deal, [&](std::int64_t first, std::int64_t width, int slot) {
    visit_tiles(task.x, task.selection.rows, first, width, key_of<T>,
                [&](std::int64_t c, std::int64_t start, std::span<const Key<T>> cells) {
                  std::copy(cells.begin(), cells.end(), scratch.array(slot, c).begin() + start);
                });
    for (std::int64_t c = 0; c < width; ++c) {
      const std::span<Key<T>> keys = scratch.array(slot, c);
      const std::span<Key<T>> spare = scratch.array(slot, deal.width);
      const std::span<Key<T>> sorted = sort_keys(keys.first(n_rows), spare.first(n_rows));
      const std::span<Key<T>> cumulative = sorted.data() == keys.data() ? spare : keys;
      std::size_t n_values = 0;
      cumulative[0] = 0;
      for (std::size_t i = 0; i < n_rows; ++i) {
        if (n_values == 0 || sorted[n_values - 1] != sorted[i]) sorted[n_values++] = sorted[i];
        cumulative[n_values] = static_cast<Key<T>>(i + 1);
      }
      cuts.set(first + c, cumulative.first(n_values + 1),
               [&](std::size_t v) { return value_of<T>(sorted[v]); },
               [&](std::size_t to, std::size_t from) { sorted[to] = sorted[from]; });
    }
  }, "thresholds");
}

/// The same where rows count more than once.
template <class T>
void cut_by_sorting_counted(const Task<T>& task, ColumnCuts& cuts) {
  using Entry = Counted<Key<T>, std::int32_t>;
  const auto n_rows = task.selection.rows.size();
  const auto bytes = static_cast<std::int64_t>(n_rows * sizeof(Entry));
  const Deal deal = deal_within_memory(task.x, task.n_rows(), task.n_threads, bytes);
  const Scratch<Entry> scratch(deal.n_threads, deal.width, n_rows);
  for_each_group(task.x.n_columns, deal, [&](std::int64_t first, std::int64_t width, int slot) {
    visit_tiles(task.x, task.selection.rows, first, width, key_of<T>,
                [&](std::int64_t c, std::int64_t start, std::span<const Key<T>> cells) {
                  Entry* to = scratch.array(slot, c).data() + start;
                  const std::int32_t* times = task.selection.multiplicity.data() + start;
                  for (const Key<T> key : cells) *to++ = {key, *times++};
                });
    for (std::int64_t c = 0; c < width; ++c) {
      const std::span<Entry> entries = scratch.array(slot, c);
      std::vector<std::int64_t> cumulative = tabulate(entries);
      cuts.set(first + c, std::span<std::int64_t>(cumulative),
               [&](std::size_t v) { return value_of<T>(entries[v].key); },
               [&](std::size_t to, std::size_t from) { entries[to].key = entries[from].key; });
    }
  }, "thresholds");
}

template <class T>
void cut_all(const Task<T>& task, ColumnCuts& cuts) {
  check_rows(task.x.n_rows, task.selection.rows);
  check_multiplicity(task.selection);
  if constexpr (sizeof(T) == 1) {
    cut_by_counting(task, cuts);
  } else if (task.selection.multiplicity.empty()) {
    cut_by_sorting(task, cuts);
  } else {
    cut_by_sorting_counted(task, cuts);
  }
}

}  // namespace

Thresholds find_thresholds(const AnyMatrix& x, const RowSelection& selection, int max_bins,
                           int n_threads, std::int64_t most_values) {
  return std::visit(
      [&]<class T>(const MatrixView<T>& view) {
        ColumnCuts cuts(view.n_columns, max_bins, most_values);
        cut_all(Task<T>{view, selection, n_threads}, cuts);
        return cuts.take();
      },
      x);
}

Thresholds cut_values(std::span<const double> values, std::span<const std::int64_t> counts,
                      int max_bins, std::int64_t most_values) {
  ColumnCuts cuts(1, max_bins, most_values);
  std::vector<double> distinct(values.begin(), values.end());
  std::vector<std::int64_t> cumulative(1, 0);
  cumulative.reserve(counts.size() + 1);
  for (const std::int64_t count : counts) cumulative.push_back(cumulative.back() + count);
  cuts.set(0, std::span<std::int64_t>(cumulative), [&](std::size_t v) { return distinct[v]; },
           [&](std::size_t to, std::size_t from) { distinct[to] = distinct[from]; });
  return cuts.take();
}

}  // namespace marginboost
