// What binning is given: the numbers, the rows of them, and the limits.
#pragma once

#include <cstdint>
#include <optional>

#include "bindings.hpp"
#include "marginboost/binning/binning.hpp"
#include "marginboost/threads/thread_pool.hpp"

namespace marginboost {

/// Any layout: strided input is read where it lies.
using AnyInput = nb::ndarray<nb::ro, nb::ndim<2>, nb::device::cpu>;

template <class T>
bool view_as(const AnyInput& x, AnyMatrix& matrix) {
  if (x.dtype() != nb::dtype<T>()) return false;
  matrix = MatrixView<T>{static_cast<const T*>(x.data()), static_cast<std::int64_t>(x.shape(0)),
                         static_cast<std::int64_t>(x.shape(1)), x.stride(0), x.stride(1)};
  return true;
}

inline AnyMatrix matrix_of(const AnyInput& x) {
  AnyMatrix matrix;
  require(view_as<std::uint8_t>(x, matrix) || view_as<std::int8_t>(x, matrix) ||
              view_as<std::uint16_t>(x, matrix) || view_as<std::int16_t>(x, matrix) ||
              view_as<std::uint32_t>(x, matrix) || view_as<std::int32_t>(x, matrix) ||
              view_as<std::uint64_t>(x, matrix) || view_as<std::int64_t>(x, matrix) ||
              view_as<float>(x, matrix) || view_as<double>(x, matrix),
          "X must be an array of integers, float32 or float64.");
  return matrix;
}

inline void check_threads(int n_threads) {
  require(n_threads >= 1 && n_threads <= kMaxThreads, "n_threads must be from 1 to 1024.");
}

inline void check_limits(int max_bins, int n_threads) {
  check_threads(n_threads);
  require(max_bins >= 2 && max_bins <= kMaxBins, "max_bins must be from 2 to 65535.");
}

inline void check_most_values(std::int64_t most_values) {
  require(most_values >= 2, "most_values must be at least 2.");
}

using Multiplicity = std::optional<Input<std::int32_t, 1>>;

inline RowSelection selection_of(const Input<std::int64_t, 1>& order,
                                 const Multiplicity& multiplicity) {
  require(!multiplicity || multiplicity->size() == order.size(),
          "multiplicity must have one entry per row of order.");
  RowSelection selection{span_of<std::int64_t>(order), {}};
  if (multiplicity) selection.multiplicity = span_of<std::int32_t>(*multiplicity);
  return selection;
}

}  // namespace marginboost
