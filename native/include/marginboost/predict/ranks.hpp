// Ranks: small whole numbers in the place of values, enough to decide every split of an ensemble.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace marginboost {

/// The thresholds of a feature, ascending: 2^levels - 1 of them, the first `count` real and the rest
/// infinite, so that a search takes `levels` steps whatever the value is.
template <class Key>
struct Ladder {
  const Key* thresholds;
  int levels;
  std::int32_t count;
};

/// The rank of a value is how many of its feature's thresholds it is not at most. So x <= threshold b
/// (counted from 0) exactly where rank <= b, and NaN, which is at most nothing, has the highest rank.
///
/// A float is ranked among the thresholds rounded down to float. It makes no difference: if a float x
/// is at most t, it is at most the largest float that is at most t, and that one is at most t.
class Ranks {
 public:
  /// The nodes of an ensemble: feature[q] is compared with threshold[q], which is finite.
  Ranks(std::span<const std::int32_t> feature, std::span<const double> threshold,
        std::int64_t n_features);

  /// The features that some node compares, ascending. Their places in it are their "columns" here.
  std::span<const std::int32_t> used() const { return used_; }
  std::int64_t n_used() const { return static_cast<std::int64_t>(used_.size()); }
  /// The column of a feature, -1 where no node compares it.
  std::int32_t column(std::int64_t feature) const {
    return columns_[static_cast<std::size_t>(feature)];
  }
  std::int32_t count(std::int64_t column) const {
    return counts_[static_cast<std::size_t>(column)];
  }
  /// The largest count.
  std::int32_t most() const { return most_; }

  /// Which of the column's thresholds this is; it must be one.
  std::int32_t place(std::int64_t column, double threshold) const;

  template <class Key>  // float, double
  Ladder<Key> ladder(std::int64_t column) const;

  template <class Key>  // float, double
  std::int32_t rank(std::int64_t column, Key value) const {
    const Ladder<Key> rungs = ladder<Key>(column);
    std::int32_t rank = 0;
    for (std::int32_t step = 1 << rungs.levels >> 1; step > 0; step >>= 1)
      rank += value <= rungs.thresholds[rank + step - 1] ? 0 : step;
    return rank < rungs.count ? rank : rungs.count;
  }

 private:
  std::vector<std::int32_t> used_;
  std::vector<std::int32_t> columns_;
  std::vector<std::int32_t> counts_;
  std::vector<int> levels_;
  std::vector<std::int64_t> offsets_;
  std::vector<double> doubles_;
  std::vector<float> floats_;
  std::int32_t most_ = 0;
};

}  // namespace marginboost
