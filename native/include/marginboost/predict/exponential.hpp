// An exponential by additions and multiplications alone: the same bits on every machine, and on a GPU
// (src/marginboost/engine/gpu/kernels/exponential.cuh has the same operations in the same order).
#pragma once

#include <bit>
#include <cstdint>
#include <limits>

namespace marginboost {

/// 2^n, for n from -1022 to 1023.
inline double power_of_two(std::int64_t n) {
  return std::bit_cast<double>(static_cast<std::uint64_t>(n + 1023) << 52);
}

/// exp(x), within one unit in the last place.
inline double exponential(double x) {
  if (x != x) return x;
  if (x < -745.5) return 0.0;
  if (x > 710.0) return std::numeric_limits<double>::infinity();
  // x = n * log(2) + r. Adding and taking away 1.5 * 2^52 rounds to a whole number; the upper part of
  // log(2) has so few digits that n times it is exact.
  const double n = (x * 0x1.71547652b82fep+0 + 0x1.8p+52) - 0x1.8p+52;
  const double r = (x - n * 0x1.62e42fee00000p-1) - n * 0x1.a39ef35793c76p-33;
  // The series of exp(r), from r^2 / 2! to r^13 / 13!; |r| is at most log(2) / 2.
  const double r2 = r * r, r4 = r2 * r2;
  const double a = (1.0 / 2 + r * (1.0 / 6)) + r2 * (1.0 / 24 + r * (1.0 / 120));
  const double b = (1.0 / 720 + r * (1.0 / 5040)) + r2 * (1.0 / 40320 + r * (1.0 / 362880));
  const double c = (1.0 / 3628800 + r * (1.0 / 39916800)) +
                   r2 * (1.0 / 479001600 + r * (1.0 / 6227020800.0));
  const double series = 1.0 + (r + r2 * ((a + r4 * b) + (r4 * r4) * c));
  // In two steps, as n goes beyond the exponents of normal numbers: only the last one may round.
  const auto whole = static_cast<std::int64_t>(n);
  const std::int64_t half = whole / 2;
  return series * power_of_two(half) * power_of_two(whole - half);
}

}  // namespace marginboost
