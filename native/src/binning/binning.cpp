#include "marginboost/binning/binning.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "binning/bin_of.hpp"
#include "binning/column_groups.hpp"
#include "binning/row_selection.hpp"

namespace marginboost {
namespace {

// Rows of a task.
constexpr std::int64_t kLeastBlock = 1 << 11, kMostBlock = 1 << 17;

template <class Bin>
void check_thresholds(std::int64_t n_columns, std::span<const double> thresholds,
                      std::span<const std::int64_t> offsets) {
  if (static_cast<std::int64_t>(offsets.size()) != n_columns + 1 || offsets.front() != 0 ||
      offsets.back() != static_cast<std::int64_t>(thresholds.size()))
    throw std::invalid_argument(
        "offsets must have one entry per column and one more, and run from 0 to the number of "
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
  check_rows(x.n_rows, rows);
  check_thresholds<Bin>(x.n_columns, thresholds, offsets);
  const auto n_rows = static_cast<std::int64_t>(rows.size());
  if (static_cast<std::int64_t>(out.size()) != x.n_columns * n_rows)
    throw std::invalid_argument("out must have one entry per column and row.");
  const auto of_column = [&](std::int64_t column) {
    return column_thresholds(thresholds, offsets, column);
  };
  const bool together = std::abs(x.row_stride) > std::abs(x.column_stride);
  const std::int64_t width = together ? std::clamp<std::int64_t>(x.n_columns, 1, kWideGroup) : 1;
  const std::int64_t n_groups = (x.n_columns + width - 1) / width;
  const std::int64_t block =
      std::clamp<std::int64_t>(n_rows * n_groups / (4 * n_threads) + 1, kLeastBlock, kMostBlock);
  const std::int64_t n_blocks = (n_rows + block - 1) / block;
  const int threads = n_rows * x.n_columns < kCellsWorthThreads ? 1 : n_threads;
  parallel_for(n_groups * n_blocks, threads, [&](std::int64_t task, int) {
    const std::int64_t first = task / n_blocks * width, begin = task % n_blocks * block;
    const std::int64_t columns = std::min(width, x.n_columns - first);
    const auto some = rows.subspan(static_cast<std::size_t>(begin),
                                   static_cast<std::size_t>(std::min(block, n_rows - begin)));
    if constexpr (sizeof(T) == 1) {
      std::vector<Bin> bins(static_cast<std::size_t>(columns * 256));
      for (std::int64_t c = 0; c < columns; ++c)
        for (int v = std::numeric_limits<T>::min(); v <= std::numeric_limits<T>::max(); ++v)
          bins[static_cast<std::size_t>(c * 256 + static_cast<std::uint8_t>(v))] =
              static_cast<Bin>(bin_of(of_column(first + c), v));
      const auto as_it_is = [](T value) { return value; };
      visit_tiles(x, some, first, columns, as_it_is,
                  [&](std::int64_t c, std::int64_t start, std::span<const T> cells) {
                    const Bin* table = bins.data() + c * 256;
                    Bin* to = out.data() + (first + c) * n_rows + begin + start;
                    for (const T cell : cells) *to++ = table[static_cast<std::uint8_t>(cell)];
                  });
    } else {
      // Compared as doubles, which is how prediction compares them.
      const auto as_double = [](T value) { return static_cast<double>(value); };
      visit_tiles(x, some, first, columns, as_double,
                  [&](std::int64_t c, std::int64_t start, std::span<const double> cells) {
                    const std::span<const double> column = of_column(first + c);
                    Bin* to = out.data() + (first + c) * n_rows + begin + start;
                    for (const double cell : cells) *to++ = static_cast<Bin>(bin_of(column, cell));
                  });
    }
  }, "bins");
}

}  // namespace

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
