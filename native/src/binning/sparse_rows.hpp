// Going over the values of some rows of a sparse matrix.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

#include "marginboost/binning/sparse_view.hpp"

namespace marginboost {

/// Throws std::invalid_argument unless the offsets stay within the values and the columns within X.
template <class T, class Index>
void check(const SparseView<T, Index>& x) {
  std::int64_t last = 0;
  for (std::int64_t i = 0; i <= x.n_rows; ++i) {
    const auto offset = static_cast<std::int64_t>(x.offsets[i]);
    if (offset < last || offset > x.n_values)
      throw std::invalid_argument("indptr must ascend from 0 to at most " +
                                  std::to_string(x.n_values) + ", got " + std::to_string(offset) +
                                  " after " + std::to_string(last) + ".");
    last = offset;
  }
  for (std::int64_t q = 0; q < last; ++q)
    if (x.columns[q] < 0 || static_cast<std::int64_t>(x.columns[q]) >= x.n_columns)
      throw std::invalid_argument("indices must be at least 0 and below " +
                                  std::to_string(x.n_columns) + ", got " +
                                  std::to_string(x.columns[q]) + ".");
}

/// does(i, column, value) for every value of the rows first + i, i < count.
template <class T, class Index, class Does>
void for_each_value(const SparseView<T, Index>& x, std::int64_t first, std::int64_t count,
                    Does does) {
  for (std::int64_t i = 0; i < count; ++i)
    for (Index q = x.offsets[first + i]; q < x.offsets[first + i + 1]; ++q)
      does(i, static_cast<std::int64_t>(x.columns[q]), x.values[q]);
}

}  // namespace marginboost
