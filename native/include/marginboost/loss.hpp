// The two losses of the paper, as the kernels see them: e = exp(-margin) in, weight out.
#pragma once

namespace marginboost {

enum class Loss : int { exponential = 0, logistic = 1 };

// A weight that underflows to zero never comes back, and one that overflows poisons its row, so the
// margins' exponentials are kept inside these bounds. Both are far outside of what a sum can see.
inline constexpr double kSmallestExponential = 0x1p-960;
inline constexpr double kLargestExponential = 0x1p+500;

}  // namespace marginboost
