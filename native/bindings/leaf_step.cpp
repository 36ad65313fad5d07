#include "marginboost/coefficients/leaf_step.hpp"

#include <algorithm>

#include "bindings.hpp"

namespace marginboost {
namespace {

using Sums = Input<double, 2>;

LeafSums leaf_sums(const Sums& own, const Sums& against) {
  require(own.shape(0) == against.shape(0) && own.shape(1) == against.shape(1) && own.shape(1) >= 1,
          "own and against must have the same shape, leaves x classes.");
  return {{own.data(), own.size()}, {against.data(), against.size()},
          static_cast<std::int64_t>(own.shape(1))};
}

}  // namespace

void bind_leaf_step(nb::module_& m) {
  m.def(
      "leaf_vectors",
      [](const Sums& own, const Sums& against, double pseudo_count, double factor, double most) {
        const LeafSums sums = leaf_sums(own, against);
        double* out;
        auto array = new_array<double>({own.shape(0), own.shape(1)}, &out);
        leaf_vectors(sums, pseudo_count, factor, most, {out, own.size()});
        return array;
      },
      nb::arg("own"), nb::arg("against"), nb::arg("pseudo_count"), nb::arg("factor"),
      nb::arg("most"),
      nb::sig("def leaf_vectors(own: numpy.typing.NDArray[numpy.float64], against: "
              "numpy.typing.NDArray[numpy.float64], pseudo_count: float, factor: float, most: "
              "float) -> numpy.typing.NDArray[numpy.float64]"),
      "factor * log((own + pseudo_count) / (against + pseudo_count)), within +-most.");
  m.def(
      "leaf_step",
      [](const Sums& w, const Sums& own, const Sums& against,
         const Input<double, 1>& class_counts, const Input<double, 1>& class_mass,
         const Input<std::int64_t, 1>& lanes, double half_unit, bool bounded) {
        const LeafSums sums = leaf_sums(own, against);
        const auto k = own.shape(1);
        require(w.shape(0) == own.shape(0) && w.shape(1) == k,
                "w must have the shape of the sums.");
        require(class_counts.shape(0) == k && class_mass.shape(0) == k && lanes.shape(0) == k,
                "class_counts, class_mass and lanes must have one entry per class.");
        require(std::all_of(lanes.data(), lanes.data() + k,
                            [](std::int64_t lane) { return lane >= 0 && lane < 1024; }),
                "lanes must be from 0 to 1023.");
        const LeafBounds bounds{{class_counts.data(), k}, {class_mass.data(), k},
                                {lanes.data(), k}, half_unit, bounded};
        float *up, *down;
        auto ups = new_array<float>({w.shape(0), k}, &up);
        auto downs = new_array<float>({w.shape(0), k}, &down);
        const LeafMasses found = leaf_step({w.data(), w.size()}, sums, bounds, {up, w.size()},
                                           {down, w.size()});
        return nb::make_tuple(ups, downs, found.total, found.largest_lane, found.largest_class);
      },
      nb::arg("w"), nb::arg("own"), nb::arg("against"), nb::arg("class_counts"),
      nb::arg("class_mass"), nb::arg("lanes"), nb::arg("half_unit"), nb::arg("bounded"),
      nb::sig("def leaf_step(w: numpy.typing.NDArray[numpy.float64], own: "
              "numpy.typing.NDArray[numpy.float64], against: numpy.typing.NDArray[numpy.float64], "
              "class_counts: numpy.typing.NDArray[numpy.float64], class_mass: "
              "numpy.typing.NDArray[numpy.float64], lanes: numpy.typing.NDArray[numpy.int64], "
              "half_unit: float, bounded: bool) -> tuple[numpy.typing.NDArray[numpy.float32], "
              "numpy.typing.NDArray[numpy.float32], float, float, float]"),
      "exp(w), exp(-w), and bounds on the sums that the step leaves: all, a lane's, a class's.");
}

}  // namespace marginboost
