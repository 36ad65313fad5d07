// A view of a sparse matrix, by rows, that someone else owns.
#pragma once

#include <cstdint>

namespace marginboost {

/// Row i has the values values[q] in the columns columns[q] for q = offsets[i], ...,
/// offsets[i + 1] - 1, none of them twice, and zeros elsewhere.
template <class T, class Index>
struct SparseView {
  const T* values;
  const Index* columns;
  const Index* offsets;
  std::int64_t n_values;
  std::int64_t n_rows;
  std::int64_t n_columns;
};

}  // namespace marginboost
