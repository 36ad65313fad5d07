// Cuts: where the bins of a column end, from how often each of its values occurs.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace marginboost {

/// Cuts a table of distinct values into exactly `max_bins` bins. `cumulative[v]` is the number of
/// rows before value v and has one entry more than there are values; there must be more values
/// than bins. Returns the first value of every bin but the first one.
///
/// Two rules, in this order: the largest bin of several values is as small as it can be (a value
/// that is larger than that alone gets a bin of its own); each cut is the one nearest to an equal
/// share of the rows that are left.
std::vector<std::int64_t> balanced_cuts(std::span<const std::int64_t> cumulative, int max_bins);
std::vector<std::int64_t> balanced_cuts(std::span<const std::uint64_t> cumulative, int max_bins);
std::vector<std::int64_t> balanced_cuts(std::span<const std::uint32_t> cumulative, int max_bins);

/// A threshold t between neighbours a < b with a <= t < b: their middle, or a if that rounds to b.
double midpoint(double a, double b);

}  // namespace marginboost
