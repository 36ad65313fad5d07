#include "marginboost/binning.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdlib>
#include <limits>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include "marginboost/cuts.hpp"
#include "marginboost/thread_pool.hpp"
#include "sort_doubles.hpp"

namespace marginboost {
namespace {

/// Keeps (rows in a bin) * (bins) far from the end of a 64-bit integer.
constexpr std::int64_t kMaxTotal = std::int64_t{1} << 46;

/// Fewer cells than this are not worth waking a second thread for.
constexpr std::int64_t kCellsWorthThreads = 1 << 16;

constexpr std::int64_t kTileRows = 64;

/// One-byte values are counted as they are; all others are compared as doubles, which is how
/// prediction compares them.
template <class T>
using Cell = std::conditional_t<sizeof(T) == 1, T, double>;

/// Columns that are read together: a cache line of cells, so that a matrix which lies row by row
/// is not fetched from memory once for every column.
template <class T>
constexpr std::int64_t kGroup = 64 / static_cast<std::int64_t>(sizeof(Cell<T>));

/// The distinct values of a column, ascending, and the number of rows before each (and in all).
struct ValueTable {
  std::vector<double> values;
  std::vector<std::int64_t> cumulative;

  void clear() {
    values.clear();
    cumulative.assign(1, 0);
  }
  /// Values must come in ascending order.
  void add(double value, std::int64_t count) {
    if (values.empty() || values.back() != value) {
      values.push_back(value);
      cumulative.push_back(cumulative.back());
    }
    cumulative.back() += count;
  }
};

/// The memory one thread works in.
template <class T>
struct Scratch {
  std::vector<Cell<T>> columns;
  std::vector<std::int64_t> counts;
  std::vector<std::pair<double, std::int32_t>> pairs;
  SortScratch sort;
  ValueTable table;
};

template <class T>
std::int64_t group_width(const MatrixView<T>& x, int n_threads) {
  if (std::abs(x.row_stride) <= std::abs(x.column_stride)) return 1;  // a column lies together
  const std::int64_t share = (x.n_columns + n_threads - 1) / n_threads;
  return std::clamp<std::int64_t>(share, 1, kGroup<T>);
}

/// Calls `body(first, width, slot)` for groups of neighbouring columns.
template <class T, class Body>
void for_each_group(const MatrixView<T>& x, std::int64_t n_rows, int n_threads, const Body& body) {
  const int threads = n_rows * x.n_columns < kCellsWorthThreads ? 1 : n_threads;
  const std::int64_t width = group_width(x, threads);
  const std::int64_t n_groups = (x.n_columns + width - 1) / width;
  parallel_for(n_groups, threads, [&](std::int64_t group, int slot) {
    const std::int64_t first = group * width;
    body(first, std::min(width, x.n_columns - first), slot);
  });
}

/// Calls `visit(c, start, cells)` for all columns c < width of a group and all short runs of rows.
template <class T, class Visit>
void visit_tiles(const MatrixView<T>& x, std::span<const std::int64_t> rows, std::int64_t first,
                 std::int64_t width, const Visit& visit) {
  std::array<Cell<T>, static_cast<std::size_t>(kTileRows * kGroup<T>)> tile;  // by column
  const auto n_rows = static_cast<std::int64_t>(rows.size());
  for (std::int64_t start = 0; start < n_rows; start += kTileRows) {
    const std::int64_t n = std::min(kTileRows, n_rows - start);
    for (std::int64_t r = 0; r < n; ++r) {
      const std::int64_t row = rows[static_cast<std::size_t>(start + r)];
      const T* cells = x.data + (row * x.row_stride + first * x.column_stride);
      Cell<T>* out = tile.data() + r;
      for (std::int64_t c = 0; c < width; ++c)
        out[c * kTileRows] = static_cast<Cell<T>>(cells[c * x.column_stride]);
    }
    for (std::int64_t c = 0; c < width; ++c)
      visit(c, start,
            std::span<const Cell<T>>(tile.data() + c * kTileRows, static_cast<std::size_t>(n)));
  }
}

/// Cuts the table in `table`; says whether it had more values than bins.
bool cut_table(const ValueTable& table, int max_bins, std::vector<double>& thresholds) {
  const std::vector<double>& values = table.values;
  if (values.size() <= static_cast<std::size_t>(max_bins)) {
    for (std::size_t v = 1; v < values.size(); ++v)
      thresholds.push_back(midpoint(values[v - 1], values[v]));
    return false;
  }
  for (const std::int64_t cut : balanced_cuts(table.cumulative, max_bins)) {
    const auto v = static_cast<std::size_t>(cut);
    thresholds.push_back(midpoint(values[v - 1], values[v]));
  }
  return true;
}

/// Counts one-byte values: no sort, and no copy of the column.
template <class T, class Use>
void tabulate_by_counting(const MatrixView<T>& x, const RowSelection& selection, std::int64_t first,
                          std::int64_t width, Scratch<T>& scratch, const Use& use) {
  scratch.counts.assign(static_cast<std::size_t>(width * 256), 0);
  visit_tiles(x, selection.rows, first, width,
              [&](std::int64_t c, std::int64_t start, std::span<const T> cells) {
                std::int64_t* counts = scratch.counts.data() + c * 256;
                if (selection.multiplicity.empty()) {
                  for (const T cell : cells) ++counts[static_cast<std::uint8_t>(cell)];
                  return;
                }
                const std::int32_t* times = selection.multiplicity.data() + start;
                for (const T cell : cells) counts[static_cast<std::uint8_t>(cell)] += *times++;
              });
  for (std::int64_t c = 0; c < width; ++c) {
    scratch.table.clear();
    for (int v = std::numeric_limits<T>::min(); v <= std::numeric_limits<T>::max(); ++v) {
      const std::int64_t count =
          scratch.counts[static_cast<std::size_t>(c * 256 + static_cast<std::uint8_t>(v))];
      if (count > 0) scratch.table.add(v, count);
    }
    use(c, scratch.table);
  }
}

template <class T, class Use>
void tabulate_by_sorting(const MatrixView<T>& x, const RowSelection& selection, std::int64_t first,
                         std::int64_t width, Scratch<T>& scratch, const Use& use) {
  const auto n_rows = static_cast<std::int64_t>(selection.rows.size());
  scratch.columns.resize(static_cast<std::size_t>(width * n_rows));
  visit_tiles(x, selection.rows, first, width,
              [&](std::int64_t c, std::int64_t start, std::span<const double> cells) {
                std::copy(cells.begin(), cells.end(), scratch.columns.data() + c * n_rows + start);
              });
  for (std::int64_t c = 0; c < width; ++c) {
    double* column = scratch.columns.data() + c * n_rows;
    scratch.table.clear();
    if (selection.multiplicity.empty()) {
      sort_doubles(std::span<double>(column, selection.rows.size()), scratch.sort);
      for (std::int64_t i = 0; i < n_rows; ++i) scratch.table.add(column[i], 1);
    } else {
      scratch.pairs.clear();
      for (const std::int32_t times : selection.multiplicity)
        scratch.pairs.emplace_back(*column++, times);
      std::sort(scratch.pairs.begin(), scratch.pairs.end(),
                [](const auto& a, const auto& b) { return a.first < b.first; });
      for (const auto& [value, times] : scratch.pairs) scratch.table.add(value, times);
    }
    use(c, scratch.table);
  }
}

template <class T>
void check_rows(const MatrixView<T>& x, std::span<const std::int64_t> rows) {
  for (const std::int64_t row : rows)
    if (row < 0 || row >= x.n_rows)
      throw std::invalid_argument("order must hold row numbers of X, below " +
                                  std::to_string(x.n_rows) + ", got " + std::to_string(row) + ".");
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
  std::vector<std::vector<double>> by_column(static_cast<std::size_t>(x.n_columns));
  std::vector<std::uint8_t> capped(static_cast<std::size_t>(x.n_columns), 0);
  std::vector<Scratch<T>> scratches(static_cast<std::size_t>(n_threads));
  const auto n_rows = static_cast<std::int64_t>(selection.rows.size());
  for_each_group(x, n_rows, n_threads, [&](std::int64_t first, std::int64_t width, int slot) {
    Scratch<T>& scratch = scratches[static_cast<std::size_t>(slot)];
    const auto use = [&](std::int64_t c, const ValueTable& table) {
      const auto column = static_cast<std::size_t>(first + c);
      capped[column] = cut_table(table, max_bins, by_column[column]) ? 1 : 0;
    };
    if constexpr (sizeof(T) == 1)
      tabulate_by_counting(x, selection, first, width, scratch, use);
    else
      tabulate_by_sorting(x, selection, first, width, scratch, use);
  });

  Thresholds result;
  result.offsets.push_back(0);
  for (const std::vector<double>& column : by_column) {
    result.values.insert(result.values.end(), column.begin(), column.end());
    result.offsets.push_back(static_cast<std::int64_t>(result.values.size()));
  }
  for (const std::uint8_t flag : capped) result.n_capped += flag;
  return result;
}

/// The number of thresholds below x, without a branch that the processor could guess wrong.
inline std::size_t bin_of(std::span<const double> thresholds, double x) {
  const double* base = thresholds.data();
  std::size_t n = thresholds.size();
  std::size_t below = 0;
  while (n > 0) {
    const std::size_t half = (n + 1) / 2;
    below += base[below + half - 1] < x ? half : 0;
    n -= half;
  }
  return below;
}

template <class Bin>
void check_thresholds(std::int64_t n_columns, std::span<const double> thresholds,
                      std::span<const std::int64_t> offsets) {
  if (static_cast<std::int64_t>(offsets.size()) != n_columns + 1 || offsets.front() != 0 ||
      offsets.back() != static_cast<std::int64_t>(thresholds.size()))
    throw std::invalid_argument(
        "offsets must have one entry a column and one more, and run from 0 to the number of "
        "thresholds.");
  for (std::size_t c = 1; c < offsets.size(); ++c)
    if (const std::int64_t n = offsets[c] - offsets[c - 1];
        n < 0 || n > std::numeric_limits<Bin>::max())
      throw std::invalid_argument("a column must have at most " +
                                  std::to_string(std::numeric_limits<Bin>::max()) +
                                  " thresholds for bins of this type, got " +
                                  std::to_string(n) + ".");
}

template <class T, class Bin>
void fill_in(const MatrixView<T>& x, std::span<const std::int64_t> rows,
             std::span<const double> thresholds, std::span<const std::int64_t> offsets,
             int n_threads, std::span<Bin> out) {
  check_rows(x, rows);
  check_thresholds<Bin>(x.n_columns, thresholds, offsets);
  const auto n_rows = static_cast<std::int64_t>(rows.size());
  if (static_cast<std::int64_t>(out.size()) != x.n_columns * n_rows)
    throw std::invalid_argument("out must have one entry a column and row.");
  const auto of_column = [&](std::int64_t column) {
    const auto c = static_cast<std::size_t>(column);
    return thresholds.subspan(static_cast<std::size_t>(offsets[c]),
                              static_cast<std::size_t>(offsets[c + 1] - offsets[c]));
  };
  for_each_group(x, n_rows, n_threads, [&](std::int64_t first, std::int64_t width, int) {
    if constexpr (sizeof(T) == 1) {
      std::vector<Bin> bins(static_cast<std::size_t>(width * 256));
      for (std::int64_t c = 0; c < width; ++c)
        for (int v = std::numeric_limits<T>::min(); v <= std::numeric_limits<T>::max(); ++v)
          bins[static_cast<std::size_t>(c * 256 + static_cast<std::uint8_t>(v))] =
              static_cast<Bin>(bin_of(of_column(first + c), v));
      visit_tiles(x, rows, first, width,
                  [&](std::int64_t c, std::int64_t start, std::span<const T> cells) {
                    const Bin* table = bins.data() + c * 256;
                    Bin* to = out.data() + (first + c) * n_rows + start;
                    for (const T cell : cells) *to++ = table[static_cast<std::uint8_t>(cell)];
                  });
    } else {
      visit_tiles(x, rows, first, width,
                  [&](std::int64_t c, std::int64_t start, std::span<const double> cells) {
                    const std::span<const double> column = of_column(first + c);
                    Bin* to = out.data() + (first + c) * n_rows + start;
                    for (const double cell : cells) *to++ = static_cast<Bin>(bin_of(column, cell));
                  });
    }
  });
}

}  // namespace

Thresholds find_thresholds(const AnyMatrix& x, const RowSelection& selection, int max_bins,
                           int n_threads) {
  return std::visit(
      [&](const auto& view) { return find_in(view, selection, max_bins, n_threads); }, x);
}

void fill_bins(const AnyMatrix& x, std::span<const std::int64_t> rows,
               std::span<const double> thresholds, std::span<const std::int64_t> offsets,
               int n_threads, std::span<std::uint8_t> out) {
  std::visit([&](const auto& view) { fill_in(view, rows, thresholds, offsets, n_threads, out); },
             x);
}

void fill_bins(const AnyMatrix& x, std::span<const std::int64_t> rows,
               std::span<const double> thresholds, std::span<const std::int64_t> offsets,
               int n_threads, std::span<std::uint16_t> out) {
  std::visit([&](const auto& view) { fill_in(view, rows, thresholds, offsets, n_threads, out); },
             x);
}

}  // namespace marginboost
