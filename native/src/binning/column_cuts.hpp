// The cuts of columns: from tables of how often each value occurs to everyone's thresholds.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "binning/coarse_values.hpp"
#include "marginboost/binning/binning.hpp"
#include "marginboost/binning/cuts.hpp"

namespace marginboost {

/// Cuts a column of distinct values, `cumulative[v]` rows before the v-th and in all; says whether
/// there are more values than bins.
template <class Count, class ValueAt>
bool cut_column(std::span<const Count> cumulative, const ValueAt& value_at, int max_bins,
                std::vector<double>& thresholds) {
  const auto cut_before = [&](std::size_t v) {
    thresholds.push_back(midpoint(value_at(v - 1), value_at(v)));
  };
  const std::size_t n_values = cumulative.size() - 1;
  const bool capped = n_values > static_cast<std::size_t>(max_bins);
  thresholds.reserve(capped ? static_cast<std::size_t>(max_bins) - 1 : n_values);
  if (capped) {
    for (const std::int64_t cut : balanced_cuts(cumulative, max_bins))
      cut_before(static_cast<std::size_t>(cut));
  } else {
    for (std::size_t v = 1; v < n_values; ++v) cut_before(v);
  }
  return capped;
}

/// Which of the distinct values is the lower median; there is one at least.
template <class Count>
std::size_t median_place(std::span<const Count> cumulative) {
  const Count middle = (cumulative.back() - 1) / 2;
  const auto after = std::upper_bound(cumulative.begin(), cumulative.end(), middle);
  return static_cast<std::size_t>(after - cumulative.begin()) - 1;
}

/// The thresholds of each column, and whether it has more values than bins. Columns may be set in
/// any order, by several threads.
class ColumnCuts {
 public:
  ColumnCuts(std::int64_t n_columns, int max_bins, std::int64_t most_values)
      : max_bins_(max_bins),
        most_values_(most_values),
        thresholds_(static_cast<std::size_t>(n_columns)),
        capped_(static_cast<std::size_t>(n_columns), 0),
        medians_(static_cast<std::size_t>(n_columns), std::numeric_limits<double>::infinity()) {}

  /// value_at(v) is the v-th distinct value, with cumulative[v] rows before it; move(to, from) puts
  /// another value in the place of one. Where there are too many, what is there means nothing later.
  ///
  /// An infinite value, one that is missing perhaps, has a bin of its own, whatever the numbers.
  template <class Count, class ValueAt, class Move>
  void set(std::int64_t column, std::span<Count> cumulative, const ValueAt& value_at,
           const Move& move) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    const std::size_t n_values = cumulative.size() - 1;
    const std::size_t below = n_values > 0 && value_at(0) == -kInfinity ? 1 : 0;
    const std::size_t above = n_values > below && value_at(n_values - 1) == kInfinity ? 1 : 0;
    const std::span<Count> of_numbers =
        cumulative.subspan(below, cumulative.size() - below - above);
    if (below > 0) {
      const Count before = of_numbers.front();
      for (Count& count : of_numbers) count -= before;
    }
    const int max_bins = std::max(max_bins_ - static_cast<int>(below + above), std::min(max_bins_, 2));
    std::vector<double>& thresholds = thresholds_[static_cast<std::size_t>(column)];
    const bool both = of_numbers.size() > 1;
    constexpr double kLowest = std::numeric_limits<double>::lowest();
    // No finite threshold lies between -inf and the least number that there can be.
    if (below > 0 && both && value_at(below) != kLowest) thresholds.push_back(kLowest);
    set_numbers(column, of_numbers, [&](std::size_t v) { return value_at(v + below); },
                [&](std::size_t to, std::size_t from) { move(to + below, from + below); }, max_bins);
    if (above > 0 && both) thresholds.push_back(std::numeric_limits<double>::max());
    if (above > 0 && below > 0 && !both) thresholds.push_back(0.0);  // nothing lies between the two
  }

  /// All of them, one after the other. Nothing is left here.
  Thresholds take() {
    Thresholds result;
    result.offsets.reserve(thresholds_.size() + 1);
    result.offsets.push_back(0);
    for (const std::vector<double>& column : thresholds_)
      result.offsets.push_back(result.offsets.back() + static_cast<std::int64_t>(column.size()));
    result.values.reserve(static_cast<std::size_t>(result.offsets.back()));
    for (std::vector<double>& column : thresholds_) {
      result.values.insert(result.values.end(), column.begin(), column.end());
      column = {};
    }
    for (const std::uint8_t flag : capped_) result.n_capped += flag;
    result.medians = std::move(medians_);
    return result;
  }

 private:
  template <class Count, class ValueAt, class Move>
  void set_numbers(std::int64_t column, std::span<Count> cumulative, const ValueAt& value_at,
                   const Move& move, int max_bins) {
    const auto c = static_cast<std::size_t>(column);
    const auto cut = [&](std::span<const Count> before, const auto& value) {
      capped_[c] = cut_column(before, value, max_bins, thresholds_[c]) ? 1 : 0;
      if (before.size() > 1) medians_[c] = value(median_place(before));
    };
    const std::size_t n_values = cumulative.size() - 1;
    if (n_values <= static_cast<std::size_t>(most_values_)) {
      cut(cumulative, value_at);
      return;
    }
    const int shift = coarse_shift(n_values, value_at, most_values_);
    const std::size_t n_left = join_values(cumulative, value_at, move, shift);
    cut(cumulative.first(n_left + 1),
        [&](std::size_t v) { return coarse_value(value_at(v), shift); });
  }

  int max_bins_;
  std::int64_t most_values_;
  std::vector<std::vector<double>> thresholds_;
  std::vector<std::uint8_t> capped_;
  std::vector<double> medians_;
};

/// A value, as its key, and how often it counts.
template <class K, class Times>
struct Counted {
  K key;
  Times times;
};

/// Makes a table of `entries`: afterwards the v-th of them has the v-th distinct key. Returns the
/// number of rows before each, and in all.
template <class K, class Times>
std::vector<std::int64_t> tabulate(std::span<Counted<K, Times>> entries) {
  using Entry = Counted<K, Times>;
  std::sort(entries.begin(), entries.end(),
            [](const Entry& a, const Entry& b) { return a.key < b.key; });
  std::size_t n_values = 0;
  for (std::size_t i = 0; i < entries.size(); ++i)
    n_values += i == 0 || entries[i - 1].key != entries[i].key ? 1 : 0;
  std::vector<std::int64_t> cumulative(n_values + 1, 0);
  std::size_t v = 0;
  for (const Entry& entry : entries) {
    if (v == 0 || entries[v - 1].key != entry.key) {
      entries[v++].key = entry.key;
      cumulative[v] = cumulative[v - 1];
    }
    cumulative[v] += entry.times;
  }
  return cumulative;
}

}  // namespace marginboost
