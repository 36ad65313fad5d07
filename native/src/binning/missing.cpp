#include "marginboost/binning/missing.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <type_traits>

#include "marginboost/threads/thread_pool.hpp"

namespace marginboost {
namespace {

// Values of a task.
constexpr std::int64_t kValuesATask = 1 << 17;

template <class T>
bool any_nan(const T* values, std::int64_t n, std::int64_t stride) {
  // Of the width of the values, so that a compiler can do several at a time.
  std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t> found = 0;
  if (stride == 1) {
    for (std::int64_t i = 0; i < n; ++i) found |= values[i] != values[i] ? 1U : 0U;
  } else {
    for (std::int64_t i = 0; i < n; ++i) found |= values[i * stride] != values[i * stride] ? 1U : 0U;
  }
  return found != 0;
}

}  // namespace

template <class T>
bool any_missing(const MatrixView<T>& x, int n_threads) {
  // Lines are rows or columns, whichever lies closer together in memory; without gaps, any part of it.
  const bool by_row = std::abs(x.column_stride) <= std::abs(x.row_stride);
  std::int64_t n_lines = by_row ? x.n_rows : x.n_columns, length = by_row ? x.n_columns : x.n_rows;
  std::int64_t line_stride = by_row ? x.row_stride : x.column_stride;
  const std::int64_t stride = by_row ? x.column_stride : x.row_stride, size = n_lines * length;
  if (size == 0) return false;
  if (stride == 1 && line_stride == length) {
    line_stride = length = std::min(size, kValuesATask);
    n_lines = (size + length - 1) / length;
  }
  const std::int64_t lines = std::max<std::int64_t>(1, kValuesATask / length);
  std::atomic<bool> found{false};
  parallel_for((n_lines + lines - 1) / lines, n_threads, [&](std::int64_t task, int) {
    for (std::int64_t q = task * lines; q < std::min(n_lines, (task + 1) * lines) && !found; ++q) {
      const std::int64_t n = std::min(length, size - q * length);
      if (any_nan(x.data + q * line_stride, n, stride)) found = true;
    }
  }, "missing values");
  return found;
}

template bool any_missing(const MatrixView<float>&, int);
template bool any_missing(const MatrixView<double>&, int);

}  // namespace marginboost
