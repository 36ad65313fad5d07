// How the columns of a matrix are dealt out to threads and read, a few neighbours at a time.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <type_traits>

#include "marginboost/binning/matrix_view.hpp"
#include "marginboost/threads/thread_pool.hpp"

namespace marginboost {

/// Fewer cells than this are not worth waking a second thread for.
inline constexpr std::int64_t kCellsWorthThreads = 1 << 16;

inline constexpr std::int64_t kTileRows = 64;

/// Columns that are read together: about a cache line of cells, so that a matrix which lies row by
/// row is not fetched from memory once for every column.
template <class T>
constexpr std::int64_t kGroup = sizeof(T) == 1 ? 64 : 8;

/// Columns that are read together where tasks take some of the rows only.
inline constexpr std::int64_t kWideGroup = 32;

/// How the columns are dealt out: to so many threads, so many neighbours at a time.
struct Deal {
  int n_threads;
  std::int64_t width;
};

template <class T>
Deal deal_columns(const MatrixView<T>& x, std::int64_t n_rows, int n_threads) {
  const int threads = n_rows * x.n_columns < kCellsWorthThreads ? 1 : n_threads;
  if (std::abs(x.row_stride) <= std::abs(x.column_stride)) return {threads, 1};  // it lies together
  const std::int64_t share = (x.n_columns + threads - 1) / threads;
  return {threads, std::clamp<std::int64_t>(share, 1, kGroup<T>)};
}

/// Calls `body(first, width, slot)` for groups of neighbouring columns.
template <class Body>
void for_each_group(std::int64_t n_columns, const Deal& deal, const Body& body, const char* name) {
  const std::int64_t n_groups = (n_columns + deal.width - 1) / deal.width;
  parallel_for(n_groups, deal.n_threads, [&](std::int64_t group, int slot) {
    const std::int64_t first = group * deal.width;
    body(first, std::min(deal.width, n_columns - first), slot);
  }, name);
}

/// Calls `visit(c, start, cells)` for all columns c < width of a group and all short runs of rows;
/// a cell is what `convert` makes of a value.
template <class T, class Convert, class Visit>
void visit_tiles(const MatrixView<T>& x, std::span<const std::int64_t> rows, std::int64_t first,
                 std::int64_t width, const Convert& convert, const Visit& visit) {
  using Cell = std::invoke_result_t<Convert, T>;
  constexpr std::int64_t kWidest = std::max(kGroup<T>, kWideGroup);
  std::array<Cell, static_cast<std::size_t>(kTileRows * kWidest)> tile;  // by column
  const auto n_rows = static_cast<std::int64_t>(rows.size());
  for (std::int64_t start = 0; start < n_rows; start += kTileRows) {
    const std::int64_t n = std::min(kTileRows, n_rows - start);
    for (std::int64_t r = 0; r < n; ++r) {
      const std::int64_t row = rows[static_cast<std::size_t>(start + r)];
      const T* cells = x.data + (row * x.row_stride + first * x.column_stride);
      Cell* out = tile.data() + r;
      for (std::int64_t c = 0; c < width; ++c)
        out[c * kTileRows] = convert(cells[c * x.column_stride]);
    }
    for (std::int64_t c = 0; c < width; ++c)
      visit(c, start,
            std::span<const Cell>(tile.data() + c * kTileRows, static_cast<std::size_t>(n)));
  }
}

}  // namespace marginboost
