// Thresholds: where the bins of every column begin and end.
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <limits>
#include <span>
#include <vector>

#include "binning/column_cuts.hpp"
#include "binning/column_groups.hpp"
#include "binning/column_tables.hpp"
#include "binning/key_table.hpp"
#include "marginboost/binning/binning.hpp"
#include "marginboost/binning/value_tables.hpp"
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

/// What the ways to tabulate a column are given. The columns' tables go to a `ColumnCuts`, which finds
/// thresholds, or to a `ColumnTables`, which keeps them.
template <class T>
struct Task {
  const MatrixView<T>& x;
  const RowSelection& selection;
  int n_threads;

  std::int64_t n_rows() const { return static_cast<std::int64_t>(selection.rows.size()); }
};

/// Counts one-byte values: no sort, and no copy of the column.
template <class T, class Columns>
void cut_by_counting(const Task<T>& task, Columns& cuts) {
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

/// Counts the values of the columns that have few; returns for each column whether it has been cut. Tasks
/// take some rows of neighbouring columns.
template <class T, class Columns>
std::vector<std::uint8_t> cut_by_tables(const Task<T>& task, Columns& cuts) {
  using K = Key<T>;
  using Entries = std::vector<typename KeyTable<K>::Entry>;
  constexpr std::int64_t kBlock = 1 << 15, kFewRows = 4096;
  const std::int64_t d = task.x.n_columns, n_rows = task.n_rows();
  std::vector<std::uint8_t> done(static_cast<std::size_t>(d), 0);
  if (n_rows < kFewRows) return done;
  const bool together = std::abs(task.x.row_stride) > std::abs(task.x.column_stride);
  const std::int64_t width = together ? std::min(d, kWideGroup) : 1;
  const std::int64_t n_groups = (d + width - 1) / width;
  const std::int64_t block = std::clamp(n_rows * n_groups / (4 * task.n_threads) + 1, kFewRows, kBlock);
  const std::int64_t n_blocks = (n_rows + block - 1) / block;
  const int threads = n_rows * d < kCellsWorthThreads ? 1 : task.n_threads;
  std::vector<std::atomic<bool>> full(static_cast<std::size_t>(d));
  std::vector<Entries> found(static_cast<std::size_t>(d * n_blocks));
  std::vector<std::vector<KeyTable<K>>> tables(static_cast<std::size_t>(threads));
  // The first rows of all columns come first: of a column of many values no more is counted then.
  parallel_for(n_blocks * n_groups, threads, [&](std::int64_t number, int slot) {
    const std::int64_t first = number % n_groups * width, begin = number / n_groups * block;
    const std::int64_t n = std::min(width, d - first), rows = std::min(block, n_rows - begin);
    std::vector<KeyTable<K>>& mine = tables[static_cast<std::size_t>(slot)];
    while (static_cast<std::int64_t>(mine.size()) < n) mine.emplace_back();
    const auto is_full = [&](std::int64_t c) -> std::atomic<bool>& {
      return full[static_cast<std::size_t>(first + c)];
    };
    bool any = false;
    for (std::int64_t c = 0; c < n; ++c) any = any || !is_full(c).load(std::memory_order_relaxed);
    if (!any) return;
    const RowSelection& selection = task.selection;
    visit_tiles(task.x, selection.rows.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(rows)),
                first, n, key_of<T>,
                [&](std::int64_t c, std::int64_t start, std::span<const K> cells) {
                  if (is_full(c).load(std::memory_order_relaxed)) return;
                  KeyTable<K>& table = mine[static_cast<std::size_t>(c)];
                  const std::int32_t* times = selection.multiplicity.empty()
                                                  ? nullptr
                                                  : selection.multiplicity.data() + begin + start;
                  for (const K cell : cells) {
                    if (table.add(cell, times ? *times++ : 1)) continue;
                    is_full(c).store(true, std::memory_order_relaxed);
                    return;
                  }
                });
    for (std::int64_t c = 0; c < n; ++c) {
      found[static_cast<std::size_t>((first + c) * n_blocks + number / n_groups)] =
          mine[static_cast<std::size_t>(c)].take();
    }
  }, "count values");
  parallel_for(d, threads, [&](std::int64_t column, int slot) {
    if (full[static_cast<std::size_t>(column)]) return;
    std::vector<KeyTable<K>>& mine = tables[static_cast<std::size_t>(slot)];
    if (mine.empty()) mine.emplace_back();
    for (std::int64_t b = 0; b < n_blocks; ++b) {
      for (const auto& [key, count] : found[static_cast<std::size_t>(column * n_blocks + b)]) {
        if (mine[0].add(key, count)) continue;
        mine[0].take();
        return;
      }
    }
    Entries entries = mine[0].take();
    std::sort(entries.begin(), entries.end(),
              [](const auto& a, const auto& b) { return a.key < b.key; });
    std::vector<std::int64_t> cumulative(1, 0);
    for (const auto& entry : entries) cumulative.push_back(cumulative.back() + entry.count);
    cuts.set(column, std::span<std::int64_t>(cumulative),
             [&](std::size_t v) { return value_of<T>(entries[v].key); },
             [&](std::size_t to, std::size_t from) { entries[to].key = entries[from].key; });
    done[static_cast<std::size_t>(column)] = 1;
  }, "cut counted values");
  return done;
}

/// Whether all columns of a group have been cut.
inline bool all_done(const std::vector<std::uint8_t>& done, std::int64_t first, std::int64_t width) {
  return std::all_of(done.begin() + first, done.begin() + first + width,
                     [](std::uint8_t flag) { return flag != 0; });
}

/// Sorts a copy of each column. Of its two arrays one ends with the distinct keys, the other with
/// the numbers of rows before them: nothing else is as long as the column.
template <class T, class Columns>
void cut_by_sorting(const Task<T>& task, const std::vector<std::uint8_t>& done, Columns& cuts) {
  const auto n_rows = task.selection.rows.size();
  const std::size_t size = n_rows + 1;  // of an array: one count more than values
  const auto bytes = static_cast<std::int64_t>(size * sizeof(Key<T>));
  const Deal deal = deal_within_memory(task.x, task.n_rows(), task.n_threads, bytes);
  const Scratch<Key<T>> scratch(deal.n_threads, deal.width + 1, size);
  for_each_group(task.x.n_columns, deal, [&](std::int64_t first, std::int64_t width, int slot) {
    if (all_done(done, first, width)) return;
    visit_tiles(task.x, task.selection.rows, first, width, key_of<T>,
                [&](std::int64_t c, std::int64_t start, std::span<const Key<T>> cells) {
                  if (all_done(done, first + c, 1)) return;
                  std::copy(cells.begin(), cells.end(), scratch.array(slot, c).begin() + start);
                });
    for (std::int64_t c = 0; c < width; ++c) {
      if (all_done(done, first + c, 1)) continue;
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
template <class T, class Columns>
void cut_by_sorting_counted(const Task<T>& task, const std::vector<std::uint8_t>& done,
                            Columns& cuts) {
  using Entry = Counted<Key<T>, std::int32_t>;
  const auto n_rows = task.selection.rows.size();
  const auto bytes = static_cast<std::int64_t>(n_rows * sizeof(Entry));
  const Deal deal = deal_within_memory(task.x, task.n_rows(), task.n_threads, bytes);
  const Scratch<Entry> scratch(deal.n_threads, deal.width, n_rows);
  for_each_group(task.x.n_columns, deal, [&](std::int64_t first, std::int64_t width, int slot) {
    if (all_done(done, first, width)) return;
    visit_tiles(task.x, task.selection.rows, first, width, key_of<T>,
                [&](std::int64_t c, std::int64_t start, std::span<const Key<T>> cells) {
                  if (all_done(done, first + c, 1)) return;
                  Entry* to = scratch.array(slot, c).data() + start;
                  const std::int32_t* times = task.selection.multiplicity.data() + start;
                  for (const Key<T> key : cells) *to++ = {key, *times++};
                });
    for (std::int64_t c = 0; c < width; ++c) {
      if (all_done(done, first + c, 1)) continue;
      const std::span<Entry> entries = scratch.array(slot, c);
      std::vector<std::int64_t> cumulative = tabulate(entries);
      cuts.set(first + c, std::span<std::int64_t>(cumulative),
               [&](std::size_t v) { return value_of<T>(entries[v].key); },
               [&](std::size_t to, std::size_t from) { entries[to].key = entries[from].key; });
    }
  }, "thresholds");
}

template <class T, class Columns>
void cut_all(const Task<T>& task, Columns& cuts) {
  check_rows(task.x.n_rows, task.selection.rows);
  check_multiplicity(task.selection);
  if constexpr (sizeof(T) == 1) {
    cut_by_counting(task, cuts);
  } else {
    const std::vector<std::uint8_t> done = cut_by_tables(task, cuts);
    if (all_done(done, 0, task.x.n_columns)) return;
    if (task.selection.multiplicity.empty()) {
      cut_by_sorting(task, done, cuts);
    } else {
      cut_by_sorting_counted(task, done, cuts);
    }
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

ValueTables tabulate_columns(const AnyMatrix& x, const RowSelection& selection, int n_threads,
                             std::int64_t most_values) {
  return std::visit(
      [&]<class T>(const MatrixView<T>& view) {
        ColumnTables tables(view.n_columns, most_values);
        cut_all(Task<T>{view, selection, n_threads}, tables);
        return tables.take();
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
