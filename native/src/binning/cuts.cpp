#include "marginboost/binning/cuts.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdlib>

namespace marginboost {
namespace {

template <class Count>
std::int64_t rows_before(std::span<const Count> cumulative, std::int64_t value) {
  return static_cast<std::int64_t>(cumulative[static_cast<std::size_t>(value)]);
}

/// The end of the fullest bin that begins at value `first`: at most `capacity` rows, or one value.
template <class Count>
std::int64_t bin_end(std::span<const Count> cumulative, std::int64_t first, std::int64_t capacity) {
  const auto begin = cumulative.begin();
  const std::int64_t limit = rows_before(cumulative, first) + capacity;
  const auto over = std::upper_bound(
      begin + first + 1, cumulative.end(), limit,
      [](std::int64_t a, Count b) { return a < static_cast<std::int64_t>(b); });
  return std::max<std::int64_t>(first + 1, over - begin - 1);
}

/// The beginning of the fullest bin that ends before value `last`.
template <class Count>
std::int64_t bin_begin(std::span<const Count> cumulative, std::int64_t last,
                       std::int64_t capacity) {
  const auto begin = cumulative.begin();
  const std::int64_t limit = rows_before(cumulative, last) - capacity;
  const auto fits = std::lower_bound(
      begin, begin + last, limit,
      [](Count a, std::int64_t b) { return static_cast<std::int64_t>(a) < b; });
  return std::min<std::int64_t>(last - 1, fits - begin);
}

template <class Count>
std::int64_t smallest_capacity(std::span<const Count> cumulative, int max_bins) {
  const auto n_values = static_cast<std::int64_t>(cumulative.size()) - 1;
  const auto fits = [&](std::int64_t capacity) {
    std::int64_t end = 0;
    for (int bin = 0; bin < max_bins && end < n_values; ++bin)
      end = bin_end(cumulative, end, capacity);
    return end == n_values;
  };
  // Two neighbouring bins of a full packing hold more than `capacity` rows, so this much will do.
  const auto total = static_cast<std::int64_t>(cumulative.back());
  std::int64_t high = max_bins > 1 ? std::min(total, 2 * total / (max_bins - 1) + 1) : total;
  std::int64_t low = 1;
  while (low < high) {
    const std::int64_t middle = low + (high - low) / 2;
    if (fits(middle))
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

template <class Count>
std::vector<std::int64_t> cut_evenly(std::span<const Count> cumulative, int max_bins) {
  const auto before = [&](std::int64_t v) { return rows_before(cumulative, v); };
  const auto n_values = static_cast<std::int64_t>(cumulative.size()) - 1;
  const std::int64_t capacity = smallest_capacity(cumulative, max_bins);

  // earliest[b]: the first value from which b bins reach to the end.
  std::vector<std::int64_t> earliest(static_cast<std::size_t>(max_bins), n_values);
  for (std::size_t b = 1; b < earliest.size(); ++b)
    earliest[b] = earliest[b - 1] > 0 ? bin_begin(cumulative, earliest[b - 1], capacity) : 0;

  // Values above the capacity stand alone: they and their bins have no part in the equal shares.
  std::int64_t heavy_left = 0;
  std::int64_t light_rows_left = 0;
  const auto account = [&](std::int64_t from, std::int64_t to, std::int64_t sign) {
    for (std::int64_t v = from; v < to; ++v) {
      const std::int64_t count = before(v + 1) - before(v);
      (count > capacity ? heavy_left : light_rows_left) += sign * (count > capacity ? 1 : count);
    }
  };
  account(0, n_values, 1);

  std::vector<std::int64_t> cuts;
  cuts.reserve(static_cast<std::size_t>(max_bins) - 1);
  std::int64_t begin = 0;
  for (std::int64_t bins_after = max_bins - 1; bins_after > 0; --bins_after) {
    // What comes after the cut must fit into the bins after it, and must fill them.
    std::int64_t low = std::max(begin + 1, earliest[static_cast<std::size_t>(bins_after)]);
    const std::int64_t latest =
        std::min(bin_end(cumulative, begin, capacity), n_values - bins_after);
    const std::int64_t light_bins_left = bins_after + 1 - heavy_left;
    const auto beyond_share = [&](std::int64_t cut) {
      return (before(cut) - before(begin)) * light_bins_left - light_rows_left;
    };
    const std::int64_t first_allowed = low;
    std::int64_t cut = latest;
    while (low < cut) {
      const std::int64_t middle = low + (cut - low) / 2;
      if (beyond_share(middle) >= 0)
        cut = middle;
      else
        low = middle + 1;
    }
    if (cut > first_allowed && std::abs(beyond_share(cut - 1)) <= std::abs(beyond_share(cut)))
      --cut;
    cuts.push_back(cut);
    account(begin, cut, -1);
    begin = cut;
  }
  return cuts;
}

}  // namespace

double midpoint(double a, double b) {
  const double gap = b - a;
  const double middle = std::isfinite(gap) ? a + gap / 2 : a / 2 + b / 2;
  return middle < b ? middle : a;
}

std::vector<std::int64_t> balanced_cuts(std::span<const std::int64_t> cumulative, int max_bins) {
  return cut_evenly(cumulative, max_bins);
}
std::vector<std::int64_t> balanced_cuts(std::span<const std::uint64_t> cumulative, int max_bins) {
  return cut_evenly(cumulative, max_bins);
}
std::vector<std::int64_t> balanced_cuts(std::span<const std::uint32_t> cumulative, int max_bins) {
  return cut_evenly(cumulative, max_bins);
}

}  // namespace marginboost
