// The losses, as the kernels see them: e = exp(-margin) in, weight out.
#pragma once

namespace marginboost {

enum class Loss : int {
  exponential = 0,  ///< u = e
  logistic = 1,     ///< u = e / (1 + e)
  softmax = 2,      ///< u = e / (1 + sum of the row's e)
};

// A weight that underflows to zero never comes back, and one that overflows poisons its row, so the
// margins' exponentials are kept inside these bounds. Both are far outside of what a sum can see.
inline constexpr double kSmallestExponential = 0x1p-960;
inline constexpr double kLargestExponential = 0x1p+500;

}  // namespace marginboost
