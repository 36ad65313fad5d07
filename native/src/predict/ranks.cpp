#include "marginboost/predict/ranks.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>

namespace marginboost {
namespace {

constexpr std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

/// The largest float that is at most `value`.
float rounded_down(double value) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  constexpr float kLargest = std::numeric_limits<float>::max();
  if (value >= static_cast<double>(kLargest)) return kLargest;
  if (value < -static_cast<double>(kLargest)) return -kInfinity;
  const auto nearest = static_cast<float>(value);
  return static_cast<double>(nearest) <= value ? nearest : std::nextafter(nearest, -kInfinity);
}

}  // namespace

Ranks::Ranks(std::span<const std::int32_t> feature, std::span<const double> threshold,
             std::int64_t n_features)
    : columns_(at(n_features), -1) {
  std::vector<std::pair<std::int32_t, double>> splits;
  splits.reserve(feature.size());
  // 0.0 for -0.0, which is the same threshold.
  for (std::size_t q = 0; q < feature.size(); ++q) splits.emplace_back(feature[q], threshold[q] + 0.0);
  std::sort(splits.begin(), splits.end());
  splits.erase(std::unique(splits.begin(), splits.end()), splits.end());
  for (auto first = splits.begin(); first != splits.end();) {
    const auto last = std::find_if(first, splits.end(),
                                   [&](const auto& split) { return split.first != first->first; });
    columns_[at(first->first)] = static_cast<std::int32_t>(used_.size());
    used_.push_back(first->first);
    const auto count = static_cast<std::int32_t>(last - first);
    const int levels = std::bit_width(static_cast<std::uint32_t>(count));
    counts_.push_back(count);
    levels_.push_back(levels);
    offsets_.push_back(static_cast<std::int64_t>(doubles_.size()));
    most_ = std::max(most_, count);
    for (; first != last; ++first) {
      doubles_.push_back(first->second);
      floats_.push_back(rounded_down(first->second));
    }
    const std::size_t padded = at(offsets_.back()) + (std::size_t{1} << levels) - 1;
    doubles_.resize(padded, std::numeric_limits<double>::infinity());
    floats_.resize(padded, std::numeric_limits<float>::infinity());
  }
}

std::int32_t Ranks::place(std::int64_t column, double threshold) const {
  const auto first = doubles_.begin() + offsets_[at(column)];
  return static_cast<std::int32_t>(
      std::lower_bound(first, first + counts_[at(column)], threshold) - first);
}

template <>
Ladder<double> Ranks::ladder(std::int64_t column) const {
  return {doubles_.data() + offsets_[at(column)], levels_[at(column)], counts_[at(column)]};
}

template <>
Ladder<float> Ranks::ladder(std::int64_t column) const {
  return {floats_.data() + offsets_[at(column)], levels_[at(column)], counts_[at(column)]};
}

}  // namespace marginboost
