#include "marginboost/coefficients/regression.hpp"

#include <algorithm>

#include "bindings.hpp"

namespace marginboost {

void bind_regression(nb::module_& m) {
  m.def(
      "fit_regression",
      [](const Input<double, 2>& values, const Input<std::int64_t, 1>& labels,
         const Input<double, 1>& weight, const Input<double, 2>& start, double penalty,
         double tolerance, int max_iter) {
        const std::size_t n = values.shape(0), k = start.shape(1);
        require(labels.shape(0) == n && weight.shape(0) == n,
                "labels and weight must have one entry per row of values.");
        require(start.shape(0) == values.shape(1) + 1 && k >= 1,
                "start must have a row per column of values and one more.");
        require(penalty > 0.0, "penalty must be above 0.");
        for (std::int64_t label : span_of<std::int64_t>(labels)) {
          require(label >= 0 && static_cast<std::size_t>(label) < k,
                  "labels must be from 0 to the number of classes less 1.");
        }
        Regression found;
        {
          const ReleasedLock release;
          const RegressionRows rows{{values.data(), values.size()}, span_of<std::int64_t>(labels),
                                    span_of<double>(weight), values.shape(1), k};
          found = fit_regression(rows, penalty, {start.data(), start.data() + start.size()},
                                 tolerance, max_iter);
        }
        double* out = nullptr;
        auto coefficients = new_array<double>({start.shape(0), k}, &out);
        std::copy(found.coefficients.begin(), found.coefficients.end(), out);
        return nb::make_tuple(coefficients, found.optimality_error, found.iterations);
      },
      nb::arg("values"), nb::arg("labels"), nb::arg("weight"), nb::arg("start"), nb::arg("penalty"),
      nb::arg("tolerance"), nb::arg("max_iter"),
      nb::sig("def fit_regression(values: numpy.typing.NDArray[numpy.float64], labels: "
              "numpy.typing.NDArray[numpy.int64], weight: numpy.typing.NDArray[numpy.float64], "
              "start: numpy.typing.NDArray[numpy.float64], penalty: float, tolerance: float, "
              "max_iter: int) -> tuple[numpy.typing.NDArray[numpy.float64], float, int]"),
      "Softmax regression: (coefficients with the constant last, optimality error, iterations).");
  m.def(
      "regression_scores",
      [](const Input<double, 2>& values, const Input<double, 2>& coefficients) {
        require(coefficients.shape(0) == values.shape(1) + 1,
                "coefficients must have a row per column of values and one more.");
        double* out = nullptr;
        auto scores = new_array<double>({values.shape(0), coefficients.shape(1)}, &out);
        {
          const ReleasedLock release;
          regression_scores({values.data(), values.size()}, values.shape(1),
                            {coefficients.data(), coefficients.size()}, coefficients.shape(1),
                            {out, values.shape(0) * coefficients.shape(1)});
        }
        return scores;
      },
      nb::arg("values"), nb::arg("coefficients"),
      nb::sig("def regression_scores(values: numpy.typing.NDArray[numpy.float64], coefficients: "
              "numpy.typing.NDArray[numpy.float64]) -> numpy.typing.NDArray[numpy.float64]"),
      "The scores of rows: values @ coefficients[:-1] + coefficients[-1].");
}

}  // namespace marginboost
