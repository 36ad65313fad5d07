// The types of values that prediction reads where they lie.
#pragma once

#include <cstdint>

#define MARGINBOOST_DENSE_TYPES(of) \
  of(float)                         \
  of(double)                        \
  of(std::uint8_t)                  \
  of(std::int8_t)                   \
  of(std::uint16_t)                 \
  of(std::int16_t)                  \
  of(std::uint32_t)                 \
  of(std::int32_t)                  \
  of(std::uint64_t)                 \
  of(std::int64_t)

#define MARGINBOOST_SPARSE_TYPES(of) \
  of(float, std::int32_t)            \
  of(float, std::int64_t)            \
  of(double, std::int32_t)           \
  of(double, std::int64_t)
