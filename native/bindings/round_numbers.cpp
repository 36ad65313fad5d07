#include <nanobind/stl/optional.h>

#include "bindings.hpp"
#include "tree_rounds.hpp"

namespace marginboost {
namespace {

// The numbers of rounds whose rows are stored elsewhere.
class BoundRoundNumbers {
 public:
  BoundRoundNumbers(double pseudo_count, bool normalized, double n_pairs, double row_mass,
                    double factor, double most_step, double eta,
                    const Input<double, 1>& class_counts, const Input<double, 1>& class_mass,
                    const Input<std::int64_t, 1>& lanes, int sum_exponent, double mass,
                    double mass_unit, double gain_unit)
      : rules_(pseudo_count, normalized, n_pairs, row_mass, factor, most_step, eta, class_counts,
               class_mass, lanes),
        numbers_(rules_.rules(), {sum_exponent, mass, mass_unit, gain_unit}) {}
  BoundRoundNumbers(const BoundRoundNumbers&) = delete;
  BoundRoundNumbers& operator=(const BoundRoundNumbers&) = delete;

  nb::tuple state() const {
    const RoundState& state = numbers_.state();
    return nb::make_tuple(state.sum_exponent, state.mass, state.mass_unit, state.gain_unit);
  }
  double smoothing() const { return numbers_.smoothing(); }
  bool gains_anything(const Input<double, 1>& gains) const {
    return numbers_.gains_anything(span_of(gains));
  }

  nb::object step(const Input<double, 2>& own, const Input<double, 2>& against) {
    const std::size_t n = own.shape(0), k = own.shape(1);
    require(n >= 1 && k == rules_.n_classes() && against.shape(0) == n && against.shape(1) == k,
            "own and against must have one row per leaf and one column per class.");
    double* step;
    float *up, *down;
    auto steps = new_array<double>({n, k}, &step);
    auto ups = new_array<float>({n, k}, &up);
    auto downs = new_array<float>({n, k}, &down);
    RoundStep found;
    {
      const ReleasedLock release;
      found = numbers_.step({own.data(), n * k}, {against.data(), n * k}, {step, n * k}, {up, n * k},
                            {down, n * k});
    }
    if (!found.moves) return nb::none();
    return nb::make_tuple(steps, ups, downs, found.exponent, found.mass_exponent);
  }

  double mean_loss(std::int64_t loss, int mass_exponent) const {
    return numbers_.mean_loss(loss, mass_exponent);
  }
  bool is_spent() const { return numbers_.is_spent(); }

 private:
  BoundRules rules_;
  RoundNumbers numbers_;
};

}  // namespace

void bind_round_numbers(nb::module_& m) {
  nb::class_<BoundRoundNumbers>(m, "RoundNumbers")
      .def(nb::init<double, bool, double, double, double, double, double, const Input<double, 1>&,
                    const Input<double, 1>&, const Input<std::int64_t, 1>&, int, double, double,
                    double>(),
           nb::arg("pseudo_count"), nb::arg("normalized"), nb::arg("n_pairs"), nb::arg("row_mass"),
           nb::arg("factor"), nb::arg("most_step"), nb::arg("eta"), nb::arg("class_counts"),
           nb::arg("class_mass"), nb::arg("lanes"), nb::arg("sum_exponent"), nb::arg("mass"),
           nb::arg("mass_unit"), nb::arg("gain_unit"))
      .def_prop_ro("state", &BoundRoundNumbers::state)
      .def_prop_ro("smoothing", &BoundRoundNumbers::smoothing)
      .def_prop_ro("is_spent", &BoundRoundNumbers::is_spent)
      .def("gains_anything", &BoundRoundNumbers::gains_anything, nb::arg("gains"))
      .def("step", &BoundRoundNumbers::step, nb::arg("own"), nb::arg("against"))
      .def("mean_loss", &BoundRoundNumbers::mean_loss, nb::arg("loss"), nb::arg("mass_exponent"));
}

}  // namespace marginboost
