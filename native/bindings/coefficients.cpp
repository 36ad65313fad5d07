#include "bindings.hpp"

#include <nanobind/stl/optional.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "marginboost/coefficients/coefficients.hpp"

namespace marginboost {
namespace {

using Sums = Input<double, 3>;
using Sides = Input<double, 2>;
using Rounding = Input<double, 1>;

int classes_of(const Sums& sums) {
  require(sums.shape(0) == 2 && sums.shape(1) == sums.shape(2) && sums.shape(1) >= 2,
          "sums must have the shape (2, k, k) with k >= 2.");
  return static_cast<int>(sums.shape(1));
}

Reach reach(int k, const Sums& sums, const std::optional<Sums>& curvature, const Sides& up,
            const Sides& down, const Rounding& rounding) {
  const auto n = static_cast<std::size_t>(k);
  require(classes_of(sums) == k && (!curvature || classes_of(*curvature) == k),
          "sums and curvature must agree on the number of classes.");
  require(up.shape(0) == 2 && down.shape(0) == 2 && up.shape(1) == n && down.shape(1) == n,
          "up and down must have the shape (2, k).");
  require(rounding.shape(0) == n, "rounding must have one entry per class.");
  return {sums.data(), curvature ? curvature->data() : nullptr, up.data(), down.data(),
          rounding.data()};
}

nb::tuple as_tuple(const Solution& solution) {
  double* w = nullptr;
  auto array = new_array<double>({solution.w.size()}, &w);
  std::copy(solution.w.begin(), solution.w.end(), w);
  return nb::make_tuple(array, solution.optimality_error, solution.objective, solution.iterations);
}

}  // namespace

void bind_coefficients(nb::module_& m) {
  m.def(
      "balance",
      [](const Sums& sums, double constant, double nu, double floor, double tolerance,
         int max_sweeps) {
        const int k = classes_of(sums);
        Solution solution;
        {
          const ReleasedLock release;
          solution = balance(sums.data(), k, constant, nu, floor, tolerance, max_sweeps);
        }
        return as_tuple(solution);
      },
      nb::arg("sums"), nb::arg("constant"), nb::arg("nu"), nb::arg("floor"), nb::arg("tolerance"),
      nb::arg("max_sweeps"),
      nb::sig("def balance(sums: numpy.typing.ArrayLike, constant: float, nu: float, floor: float, "
              "tolerance: float, max_sweeps: int) "
              "-> tuple[numpy.typing.NDArray[numpy.float64], float, float, int]"),
      "Matrix balancing: (w, optimality error, objective, sweeps).");
  m.def(
      "newton_step",
      [](const Sums& sums, const Sums& curvature, const Input<double, 1>& w, double nu,
         double tolerance) {
        const int k = classes_of(sums);
        require(classes_of(curvature) == k && w.shape(0) == sums.shape(1),
                "sums, curvature and w must agree on the number of classes.");
        return as_tuple(newton_step(sums.data(), curvature.data(), k, w.data(), nu, tolerance));
      },
      nb::arg("sums"), nb::arg("curvature"), nb::arg("w"), nb::arg("nu"),
      nb::arg("tolerance"),
      nb::sig("def newton_step(sums: numpy.typing.ArrayLike, curvature: numpy.typing.ArrayLike, w: "
              "numpy.typing.ArrayLike, nu: float, tolerance: float) "
              "-> tuple[numpy.typing.NDArray[numpy.float64], float, float, int]"),
      "One projected Newton step: (new w, optimality error of the old, 0, 1).");
  m.def(
      "step_factors",
      [](const Input<double, 1>& w) {
        double *up = nullptr, *down = nullptr;
        auto up_array = new_array<double>({2, w.shape(0)}, &up);
        auto down_array = new_array<double>({2, w.shape(0)}, &down);
        step_factors(w.data(), static_cast<int>(w.shape(0)), up, down);
        return nb::make_tuple(up_array, down_array);
      },
      nb::arg("w"),
      nb::sig("def step_factors(w: numpy.typing.ArrayLike) -> "
              "tuple[numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64]]"),
      "What e is multiplied by: (up, down), each (2, k).");
  m.def(
      "exp",
      [](const nb::ndarray<const double, nb::c_contig, nb::device::cpu>& x) {
        double* out = nullptr;
        auto array = new_array<double>({x.size()}, &out);
        std::transform(x.data(), x.data() + x.size(), out, [](double v) { return std::exp(v); });
        return array;
      },
      nb::arg("x"), "Exponentials, flattened: the C library's, not NumPy's, which vary with the CPU.");
  m.def(
      "log",
      [](const nb::ndarray<const double, nb::c_contig, nb::device::cpu>& x) {
        double* out = nullptr;
        auto array = new_array<double>({x.size()}, &out);
        std::transform(x.data(), x.data() + x.size(), out, [](double v) { return std::log(v); });
        return array;
      },
      nb::arg("x"), "Logarithms, flattened: the C library's.");
  m.def(
      "mass_after",
      [](bool logistic, const Sums& sums, const std::optional<Sums>& curvature, const Sides& up,
         const Sides& down, const Rounding& rounding, const std::optional<Sums>& other_sums,
         const std::optional<Sums>& other_curvature, const std::optional<Sides>& other_up,
         const std::optional<Sides>& other_down, const std::optional<Rounding>& other_rounding) {
        const int k = classes_of(sums);
        require(logistic == curvature.has_value(), "curvature goes with the logistic loss.");
        const Reach from = reach(k, sums, curvature, up, down, rounding);
        const bool two = other_sums && other_up && other_down && other_rounding;
        Reach other;
        if (two) {
          require(logistic == other_curvature.has_value(), "curvature goes with the logistic loss.");
          other = reach(k, *other_sums, other_curvature, *other_up, *other_down, *other_rounding);
        }
        const Loss loss = logistic ? Loss::logistic : Loss::exponential;
        const Mass mass = mass_after(k, loss, from, two ? &other : nullptr);
        return nb::make_tuple(mass.of_class, mass.total);
      },
      nb::arg("logistic"), nb::arg("sums"), nb::arg("curvature").none(), nb::arg("up"),
      nb::arg("down"), nb::arg("rounding"), nb::arg("other_sums") = nb::none(),
      nb::arg("other_curvature") = nb::none(), nb::arg("other_up") = nb::none(),
      nb::arg("other_down") = nb::none(), nb::arg("other_rounding") = nb::none(),
      nb::sig("def mass_after(logistic: bool, sums: numpy.typing.ArrayLike, curvature: "
              "numpy.typing.ArrayLike | None, up: numpy.typing.ArrayLike, down: "
              "numpy.typing.ArrayLike, rounding: numpy.typing.ArrayLike, other_sums: "
              "numpy.typing.ArrayLike | None = None, other_curvature: numpy.typing.ArrayLike | None "
              "= None, other_up: numpy.typing.ArrayLike | None = None, other_down: "
              "numpy.typing.ArrayLike | None = None, other_rounding: numpy.typing.ArrayLike | None "
              "= None) -> tuple[float, float]"),
      "Bounds on the weights' sums after a step: (largest of a class, total).");
}

}  // namespace marginboost
