// One function a noun: check shape and type, then call.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "released_lock.hpp"

namespace nb = nanobind;

namespace marginboost {

template <class T, int dimensions>
using Input = nb::ndarray<const T, nb::ndim<dimensions>, nb::c_contig, nb::device::cpu>;

template <class T>
std::span<const T> span_of(const Input<T, 1>& values) {
  return {values.data(), values.size()};
}

/// The vector's own memory as an array: thresholds of an exact search are as many as the values.
template <class T, class Allocator>
nb::ndarray<nb::numpy, T> array_of(std::vector<T, Allocator> values) {
  using Values = std::vector<T, Allocator>;
  auto* kept = new Values(std::move(values));
  kept->reserve(1);  // an array of nothing still has an address
  nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<Values*>(p); });
  return nb::ndarray<nb::numpy, T>(kept->data(), {kept->size()}, owner);
}

/// A new NumPy array; `*data` points to its (uninitialised) elements.
template <class T>
auto new_array(std::initializer_list<std::size_t> shape, T** data) {
  std::size_t count = 1;
  for (std::size_t extent : shape) count *= extent;
  *data = new T[count];
  nb::capsule owner(*data, [](void* p) noexcept { delete[] static_cast<T*>(p); });
  return nb::ndarray<nb::numpy, T>(*data, shape.size(), shape.begin(), owner);
}

inline void require(bool holds, const char* sentence) {
  if (!holds) throw std::invalid_argument(sentence);
}

void bind_binning(nb::module_& m);
void bind_calibration(nb::module_& m);
void bind_coefficients(nb::module_& m);
void bind_explain(nb::module_& m);
void bind_leaf_step(nb::module_& m);
void bind_monotone(nb::module_& m);
void bind_predict(nb::module_& m);
void bind_regression(nb::module_& m);
void bind_round_draws(nb::module_& m);
void bind_round_numbers(nb::module_& m);
void bind_row_hashes(nb::module_& m);
void bind_scans(nb::module_& m);
void bind_stump_shard(nb::module_& m);
void bind_tree_shard(nb::module_& m);
void bind_sparse_binning(nb::module_& m);
void bind_trace(nb::module_& m);
void bind_value_tables(nb::module_& m);

}  // namespace marginboost
