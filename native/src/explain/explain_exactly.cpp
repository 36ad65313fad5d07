// Contributions that add up to the bit.
//
// Let u be a power of two with u >= ulp(s) for the score s, and every contribution a multiple of u.
// While the sum of their sizes is below 2^53 u, every partial sum of them, in any order, is a multiple
// of u below 2^53 u: a float64, so nothing is ever rounded, and their sum C is the same in any order.
// base = s - C is then a multiple of ulp(s). Where it is less than 2^53 of those, that is where it has
// no larger exponent than s, it is a float64 too; so the subtraction is exact, and base + C is s to
// the bit. Where the score is smaller than the base, that still holds if s is a multiple of u itself, for
// then base is one, and below 2^53 u. The scores of fitted models are: their coefficients are multiples
// of 2^-41 at least, and u is no more than that while all that is added up stays below 2^11. Else, two
// numbers of nearly the same size and opposite signs have an exact sum, which is a multiple of their
// unit, but s need not be: base is s - C, rounded, and base + C is within an ulp of base of s.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <stdexcept>

#include "marginboost/explain/explain.hpp"

namespace marginboost {
namespace {

/// The largest of these has an exponent E: below 2^(E+1), it is below 2^52 units of 2^(E-51), and
/// rounding up to 2^52 contributions adds less than half a unit each. 2^(E-51) is above its ulp.
constexpr int kUnitBelow = 51;

/// Smaller sums than 2^this are nothing, so that the unit of the others is a normal number.
constexpr int kLeastExponent = -900;

}  // namespace

void make_exact(std::int64_t n_players, std::int64_t n_asked, std::span<const double> scores,
                std::span<const double> means, std::span<double> contributions,
                std::span<double> base) {
  const auto n = static_cast<std::size_t>(n_asked);
  const auto players = static_cast<std::size_t>(n_players);
  if (scores.size() != n || means.size() != n || base.size() != n ||
      contributions.size() != players * n)
    throw std::invalid_argument("There must be a score, a mean and a base for every class asked.");
  for (std::size_t c = 0; c < n; ++c) {
    double size = 0.0;
    for (std::size_t p = 0; p < players; ++p) size += std::abs(contributions[p * n + c]);
    const double largest = std::max({size, std::abs(scores[c]), std::abs(means[c])});
    if (!std::isfinite(largest)) {
      base[c] = means[c];
      continue;
    }
    const int exponent = largest > 0.0 ? std::ilogb(largest) : kLeastExponent - 1;
    const bool is_nothing = exponent < kLeastExponent;
    const double unit = is_nothing ? 1.0 : std::ldexp(1.0, exponent - kUnitBelow);
    const double units = is_nothing ? 0.0 : std::ldexp(1.0, kUnitBelow - exponent);
    double sum = 0.0;
    for (std::size_t p = 0; p < players; ++p) {
      double& value = contributions[p * n + c];
      value = std::nearbyint(value * units) * unit + 0.0;  // never -0.0
      sum += value;
    }
    base[c] = scores[c] - sum;
  }
}

}  // namespace marginboost
