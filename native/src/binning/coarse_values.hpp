// Columns of very many distinct values: neighbours are taken for one value, so that the table of a
// column stays small wherever it is made.
//
// The 64-bit keys of the values, as doubles, lose their lowest bits, as few as will do. So what is taken
// together depends on nothing but the set of values, and tables of parts of a column that were made
// coarse and then merged, in any order, are the table of the whole.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "binning/sort_keys.hpp"

namespace marginboost {

/// How many bits ascending distinct keys must lose so that at most `most_values` are left; 2 at least
/// may be left.
template <class KeyAt>
int coarse_key_shift(std::size_t n_values, const KeyAt& key_at, std::int64_t most_values) {
  std::array<std::size_t, 65> differing = {};  // neighbours by the highest bit that they differ in
  for (std::size_t v = 1; v < n_values; ++v) {
    const std::uint64_t bits = key_at(v - 1) ^ key_at(v);
    ++differing[static_cast<std::size_t>(std::bit_width(bits))];
  }
  std::size_t shift = 0;
  std::size_t n_left = n_values;
  while (n_left > static_cast<std::size_t>(most_values)) n_left -= differing[++shift];
  return static_cast<int>(shift);
}

/// The same for the keys of values.
template <class ValueAt>
int coarse_shift(std::size_t n_values, const ValueAt& value_at, std::int64_t most_values) {
  const auto key_at = [&](std::size_t v) { return key_of<double>(value_at(v)); };
  return coarse_key_shift(n_values, key_at, most_values);
}

/// The value of a key that may lie below all finite numbers: then the least of them.
inline double coarse_value_of_key(std::uint64_t least) {
  return value_of<double>(std::max(least, key_of(std::numeric_limits<double>::lowest())));
}

/// The least number whose key has these upper bits.
inline double coarse_value(double value, int shift) {
  return coarse_value_of_key(key_of<double>(value) >> shift << shift);
}

/// Takes together the values that differ in none but the lowest bits: afterwards the first ones are the
/// first of every group, by move(to, from), with the numbers of rows before them. Returns how many.
template <class Count, class ValueAt, class Move>
std::size_t join_values(std::span<Count> cumulative, const ValueAt& value_at, const Move& move,
                        int shift) {
  const std::size_t n_values = cumulative.size() - 1;
  std::size_t n = 0;
  std::uint64_t last = 0;
  for (std::size_t v = 0; v < n_values; ++v) {
    const std::uint64_t group = key_of<double>(value_at(v)) >> shift;
    if (n > 0 && group == last) continue;
    last = group;
    move(n, v);
    cumulative[n++] = cumulative[v];
  }
  cumulative[n] = cumulative[n_values];
  return n;
}

}  // namespace marginboost
