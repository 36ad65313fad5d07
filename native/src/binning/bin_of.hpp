// The bin of a value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace marginboost {

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

/// The thresholds of one column among those of all.
inline std::span<const double> column_thresholds(std::span<const double> thresholds,
                                                 std::span<const std::int64_t> offsets,
                                                 std::int64_t column) {
  const auto c = static_cast<std::size_t>(column);
  return thresholds.subspan(static_cast<std::size_t>(offsets[c]),
                            static_cast<std::size_t>(offsets[c + 1] - offsets[c]));
}

}  // namespace marginboost
