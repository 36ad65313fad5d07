// The flat arrays of an ensemble as arguments of a bound function, for all functions alike.
#pragma once

#include <cstdint>

#include "bindings.hpp"
#include "marginboost/predict/ensemble_view.hpp"

namespace marginboost {

/// nanobind finds the arguments of a function by their types, so they are spelled out, once.
#define ENSEMBLE_ARGUMENTS                                                                     \
  const Input<double, 2>&vectors, const Input<std::int64_t, 1>&round_offsets,                  \
      const Input<std::int64_t, 1>&node_offsets, const Input<std::int32_t, 1>&feature,         \
      const Input<double, 1>&threshold, const Input<std::int32_t, 1>&left,                     \
      const Input<std::int32_t, 1>&right, const Input<std::int64_t, 1>&leaf_offsets,           \
      const Input<std::int32_t, 1>&leaf_vector, const Input<double, 1>&leaf_value,             \
      std::int64_t n_features

#define ENSEMBLE_NAMES                                                                         \
  nb::arg("vectors").noconvert(), nb::arg("round_offsets").noconvert(),                        \
      nb::arg("node_offsets").noconvert(), nb::arg("feature").noconvert(),                     \
      nb::arg("threshold").noconvert(), nb::arg("left").noconvert(),                           \
      nb::arg("right").noconvert(), nb::arg("leaf_offsets").noconvert(),                       \
      nb::arg("leaf_vector").noconvert(), nb::arg("leaf_value").noconvert(),                   \
      nb::arg("n_features")

#define ENSEMBLE_VIEW                                                                          \
  EnsembleView {                                                                               \
    {vectors.data(), vectors.size()}, static_cast<std::int64_t>(vectors.shape(1)),             \
        span_of<std::int64_t>(round_offsets), span_of<std::int64_t>(node_offsets),             \
        span_of<std::int32_t>(feature), span_of<double>(threshold),                            \
        span_of<std::int32_t>(left), span_of<std::int32_t>(right),                             \
        span_of<std::int64_t>(leaf_offsets), span_of<std::int32_t>(leaf_vector),               \
        span_of<double>(leaf_value), n_features                                                \
  }

}  // namespace marginboost
