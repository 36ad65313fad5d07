// Thresholds: where the bins of every column begin and end.
#include <algorithm>
#include <cstddef>
#include <limits>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "column_groups.hpp"
#include "marginboost/binning.hpp"
#include "marginboost/cuts.hpp"
#include "sort_keys.hpp"

namespace marginboost {
namespace {

/// Keeps (rows in a bin) * (bins) far from the end of a 64-bit integer.
constexpr std::int64_t kMaxTotal = std::int64_t{1} << 46;

/// Less memory than this is not worth saving.
constexpr std::int64_t kSmallScratch = 2 << 20;

/// Beside a byte a bin, what a fit takes for a row later on and not yet: weights of two classes.
constexpr std::int64_t kLaterBytes = 24;

/// The arrays that the threads work in. They are taken by the calling thread, all at once: what a
/// worker takes comes from a heap of its own, which does not give it back.
template <class Cell>
class Scratch {
 public:
  Scratch(int n_threads, std::int64_t n_arrays, std::size_t size)
      : n_arrays_(static_cast<std::size_t>(n_arrays)), size_(size),
        cells_(std::make_unique_for_overwrite<Cell[]>(static_cast<std::size_t>(n_threads) *
                                                      n_arrays_ * size_)) {}
  std::span<Cell> array(int slot, std::int64_t number) const {
    const auto mine = static_cast<std::size_t>(slot) * n_arrays_;
    return {cells_.get() + (mine + static_cast<std::size_t>(number)) * size_, size_};
  }

 private:
  std::size_t n_arrays_, size_;
  std::unique_ptr<Cell[]> cells_;
};

/// The same where a thread needs so many bytes for each of its columns and as many again: in all no
/// more than the bins and weights will take that come after, so that a fit's peak is not here.
template <class T>
Deal deal_within_memory(const MatrixView<T>& x, std::int64_t n_rows, int n_threads,
                        std::int64_t column_bytes) {
  const std::int64_t allowed = std::max(n_rows * (x.n_columns + kLaterBytes), kSmallScratch);
  const std::int64_t columns = allowed / std::max<std::int64_t>(column_bytes, 1);
  const Deal deal = deal_columns(
      x, n_rows, static_cast<int>(std::clamp<std::int64_t>(columns / 2, 1, n_threads)));
  return {deal.n_threads, std::clamp<std::int64_t>(columns / deal.n_threads - 1, 1, deal.width)};
}

/// Cuts a column of distinct values, `cumulative[v]` rows before the v-th and in all; says whether
/// there are more values than bins.
template <class Count, class ValueAt>
bool cut_column(std::span<const Count> cumulative, const ValueAt& value_at, int max_bins,
                std::vector<double>& thresholds) {
  const auto cut_before = [&](std::size_t v) {
    thresholds.push_back(midpoint(value_at(v - 1), value_at(v)));
  };
  const std::size_t n_values = cumulative.size() - 1;
  const bool capped = n_values > static_cast<std::size_t>(max_bins);
  thresholds.reserve(capped ? static_cast<std::size_t>(max_bins) - 1 : n_values);
  if (capped) {
    for (const std::int64_t cut : balanced_cuts(cumulative, max_bins))
      cut_before(static_cast<std::size_t>(cut));
  } else {
    for (std::size_t v = 1; v < n_values; ++v) cut_before(v);
  }
  return capped;
}

/// What the ways to tabulate a column are given.
template <class T>
struct Task {
  const MatrixView<T>& x;
  const RowSelection& selection;
  int max_bins;
  int n_threads;

  std::int64_t n_rows() const { return static_cast<std::int64_t>(selection.rows.size()); }
};

/// The thresholds of each column, and whether it has more values than bins.
struct Cuts {
  std::vector<std::vector<double>> thresholds;
  std::vector<std::uint8_t> capped;

  template <class Count, class ValueAt>
  void set(std::int64_t column, std::span<const Count> cumulative, const ValueAt& value_at,
           int max_bins) {
    const auto c = static_cast<std::size_t>(column);
    capped[c] = cut_column(cumulative, value_at, max_bins, thresholds[c]) ? 1 : 0;
  }
};

/// Counts one-byte values: no sort, and no copy of the column.
template <class T>
void cut_by_counting(const Task<T>& task, Cuts& cuts) {
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
      cuts.set(first + c, std::span<const std::int64_t>(cumulative),
               [&](std::size_t v) { return static_cast<double>(values[v]); }, task.max_bins);
    }
  };
  for_each_group(task.x.n_columns, deal_columns(task.x, task.n_rows(), task.n_threads),
                 count_group);
}

/// Sorts a copy of each column. Of its two arrays one ends with the distinct keys, the other with
/// the numbers of rows before them: nothing else is as long as the column.
template <class T>
void cut_by_sorting(const Task<T>& task, Cuts& cuts) {
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
      cuts.set(first + c, std::span<const Key<T>>(cumulative.first(n_values + 1)),
               [&](std::size_t v) { return value_of<T>(sorted[v]); }, task.max_bins);
    }
  });
}

/// The same where rows count more than once.
template <class T>
void cut_by_sorting_counted(const Task<T>& task, Cuts& cuts) {
  struct Counted {
    Key<T> key;
    std::int32_t times;
  };
  const auto n_rows = task.selection.rows.size();
  const auto bytes = static_cast<std::int64_t>(n_rows * sizeof(Counted));
  const Deal deal = deal_within_memory(task.x, task.n_rows(), task.n_threads, bytes);
  const Scratch<Counted> scratch(deal.n_threads, deal.width, n_rows);
  for_each_group(task.x.n_columns, deal, [&](std::int64_t first, std::int64_t width, int slot) {
    visit_tiles(task.x, task.selection.rows, first, width, key_of<T>,
                [&](std::int64_t c, std::int64_t start, std::span<const Key<T>> cells) {
                  Counted* to = scratch.array(slot, c).data() + start;
                  const std::int32_t* times = task.selection.multiplicity.data() + start;
                  for (const Key<T> key : cells) *to++ = {key, *times++};
                });
    for (std::int64_t c = 0; c < width; ++c) {
      Counted* const begin = scratch.array(slot, c).data();
      Counted* const end = begin + n_rows;
      std::sort(begin, end, [](const Counted& a, const Counted& b) { return a.key < b.key; });
      std::size_t n_values = 0;
      for (const Counted* i = begin; i != end; ++i)
        n_values += i == begin || i[-1].key != i->key ? 1 : 0;
      std::vector<std::int64_t> cumulative(n_values + 1, 0);
      std::size_t v = 0;
      for (const Counted* i = begin; i != end; ++i) {
        if (v == 0 || begin[v - 1].key != i->key) {
          begin[v++].key = i->key;
          cumulative[v] = cumulative[v - 1];
        }
        cumulative[v] += i->times;
      }
      cuts.set(first + c, std::span<const std::int64_t>(cumulative),
               [&](std::size_t value) { return value_of<T>(begin[value].key); }, task.max_bins);
    }
  });
}

void check_multiplicity(const RowSelection& selection) {
  if (selection.multiplicity.empty()) return;
  if (selection.multiplicity.size() != selection.rows.size())
    throw std::invalid_argument("multiplicity must have one entry a row of order, " +
                                std::to_string(selection.rows.size()) + ", got " +
                                std::to_string(selection.multiplicity.size()) + ".");
  std::int64_t total = 0;
  for (const std::int32_t times : selection.multiplicity) {
    if (times < 1)
      throw std::invalid_argument("multiplicity must be at least 1, got " +
                                  std::to_string(times) + ".");
    total += times;
    if (total > kMaxTotal)
      throw std::invalid_argument("multiplicity must add up to at most 2**46.");
  }
}

template <class T>
Thresholds find_in(const MatrixView<T>& x, const RowSelection& selection, int max_bins,
                   int n_threads) {
  check_rows(x, selection.rows);
  check_multiplicity(selection);
  const auto n_columns = static_cast<std::size_t>(x.n_columns);
  Cuts cuts{std::vector<std::vector<double>>(n_columns), std::vector<std::uint8_t>(n_columns, 0)};
  const Task<T> task{x, selection, max_bins, n_threads};
  if constexpr (sizeof(T) == 1) {
    cut_by_counting(task, cuts);
  } else if (selection.multiplicity.empty()) {
    cut_by_sorting(task, cuts);
  } else {
    cut_by_sorting_counted(task, cuts);
  }

  Thresholds result;
  result.offsets.push_back(0);
  for (const std::vector<double>& column : cuts.thresholds)
    result.offsets.push_back(result.offsets.back() + static_cast<std::int64_t>(column.size()));
  result.values.reserve(static_cast<std::size_t>(result.offsets.back()));
  for (std::vector<double>& column : cuts.thresholds) {
    result.values.insert(result.values.end(), column.begin(), column.end());
    column = {};
  }
  for (const std::uint8_t flag : cuts.capped) result.n_capped += flag;
  return result;
}

}  // namespace

Thresholds find_thresholds(const AnyMatrix& x, const RowSelection& selection, int max_bins,
                           int n_threads) {
  return std::visit(
      [&](const auto& view) { return find_in(view, selection, max_bins, n_threads); }, x);
}

}  // namespace marginboost
