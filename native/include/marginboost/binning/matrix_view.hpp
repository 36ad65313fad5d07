// A view of a two-dimensional array that someone else owns.
#pragma once

#include <cstdint>

namespace marginboost {

/// Strides count elements; they may be negative.
template <class T>
struct MatrixView {
  const T* data;
  std::int64_t n_rows;
  std::int64_t n_columns;
  std::int64_t row_stride;
  std::int64_t column_stride;
};

}  // namespace marginboost
