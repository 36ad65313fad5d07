#include <optional>

#include <nanobind/stl/optional.h>

#include "bindings.hpp"
#include "marginboost/calibration/scale_slope.hpp"

namespace marginboost {

void bind_calibration(nb::module_& m) {
  m.def(
      "scale_slope",
      [](const Input<double, 2>& logs, const Input<double, 1>& weight, double scale,
         const std::optional<Input<double, 2>>& offset) {
        require(weight.shape(0) == logs.shape(0), "weight must have one entry per row of logs.");
        require(!offset || (offset->shape(0) == logs.shape(0) && offset->shape(1) == logs.shape(1)),
                "offset must have the shape of logs.");
        ScaleSlope found;
        {
          const ReleasedLock release;
          found = scale_slope({logs.data(), logs.size()}, span_of<double>(weight), scale,
                              offset ? std::span<const double>(offset->data(), offset->size())
                                     : std::span<const double>());
        }
        return nb::make_tuple(found.slope, found.curvature);
      },
      nb::arg("logs"), nb::arg("weight"), nb::arg("scale"), nb::arg("offset") = nb::none(),
      nb::sig("def scale_slope(logs: numpy.typing.NDArray[numpy.float64], weight: "
              "numpy.typing.NDArray[numpy.float64], scale: float, offset: "
              "numpy.typing.NDArray[numpy.float64] | None = None) -> tuple[float, float]"),
      "The first and second derivative of the weighted log loss of scale * logs + offset by the "
      "scale, every row's own class having the score 0.");
}

}  // namespace marginboost
