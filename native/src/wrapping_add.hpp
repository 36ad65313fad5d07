// Integer sums that may pass the end on the way: the last one is right where it fits.
#pragma once

#include <cstdint>

namespace marginboost {

inline std::int32_t wrapping_add(std::int32_t a, std::int32_t b) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(a) + static_cast<std::uint32_t>(b));
}

inline std::int32_t wrapping_negative(std::int32_t a) {
  return static_cast<std::int32_t>(0U - static_cast<std::uint32_t>(a));
}

}  // namespace marginboost
