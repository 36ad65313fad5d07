// An exponential with the operations of native/include/marginboost/predict/exponential.hpp.

__device__ inline double power_of_two(i64 n) { return __longlong_as_double((n + 1023) << 52); }

__device__ inline double exponential(double x) {
  if (x != x) return x;
  if (x < -745.5) return 0.0;
  if (x > 710.0) return __longlong_as_double(0x7ff0000000000000ll);
  const double n = (x * 0x1.71547652b82fep+0 + 0x1.8p+52) - 0x1.8p+52;
  const double r = (x - n * 0x1.62e42fee00000p-1) - n * 0x1.a39ef35793c76p-33;
  const double r2 = r * r, r4 = r2 * r2;
  const double a = (1.0 / 2 + r * (1.0 / 6)) + r2 * (1.0 / 24 + r * (1.0 / 120));
  const double b = (1.0 / 720 + r * (1.0 / 5040)) + r2 * (1.0 / 40320 + r * (1.0 / 362880));
  const double c = (1.0 / 3628800 + r * (1.0 / 39916800)) +
                   r2 * (1.0 / 479001600 + r * (1.0 / 6227020800.0));
  const double series = 1.0 + (r + r2 * ((a + r4 * b) + (r4 * r4) * c));
  const i64 whole = static_cast<i64>(n);
  const i64 half = whole / 2;
  return series * power_of_two(half) * power_of_two(whole - half);
}
