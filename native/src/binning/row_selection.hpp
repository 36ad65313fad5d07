// What must hold of the rows that are chosen for binning.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <stdexcept>
#include <string>

#include "marginboost/binning/binning.hpp"

namespace marginboost {

inline void check_rows(std::int64_t n_rows_of_x, std::span<const std::int64_t> rows) {
  if (rows.size() > std::numeric_limits<std::uint32_t>::max())
    throw std::invalid_argument("order must have fewer than 2**32 rows, got " +
                                std::to_string(rows.size()) + ".");
  for (const std::int64_t row : rows)
    if (row < 0 || row >= n_rows_of_x)
      throw std::invalid_argument("order must hold row numbers of X, below " +
                                  std::to_string(n_rows_of_x) + ", got " + std::to_string(row) +
                                  ".");
}

/// Returns how many rows there are, each as often as it counts.
inline std::int64_t check_multiplicity(const RowSelection& selection) {
  if (selection.multiplicity.empty()) return static_cast<std::int64_t>(selection.rows.size());
  if (selection.multiplicity.size() != selection.rows.size())
    throw std::invalid_argument("multiplicity must have one entry per row of order, " +
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
  return total;
}

}  // namespace marginboost
