#include "marginboost/explain/explain.hpp"

#include <cstdint>

#include "bindings.hpp"
#include "ensemble_input.hpp"
#include "marginboost/threads/thread_pool.hpp"

namespace marginboost {
namespace {

using Matrix = nb::ndarray<const double, nb::ndim<2>, nb::device::cpu>;  // of any layout

template <int dimensions>
using Output = nb::ndarray<double, nb::ndim<dimensions>, nb::c_contig, nb::device::cpu>;

MatrixView<double> view_of(const Matrix& x) {
  return {x.data(), static_cast<std::int64_t>(x.shape(0)), static_cast<std::int64_t>(x.shape(1)),
          x.stride(0), x.stride(1)};
}

void make_explainer(Explainer* self, ENSEMBLE_ARGUMENTS, const Input<double, 1>& leaf_cover,
                    const Input<std::int32_t, 1>& player, std::int64_t n_players) {
  new (self) Explainer(ENSEMBLE_VIEW, span_of<double>(leaf_cover), span_of<std::int32_t>(player),
                       n_players);
}

/// Rows one after the other: each has little to do beside what finding the contributions took.
void explain(const Explainer& self, const Matrix& x, const Input<std::int64_t, 2>& classes,
             const Input<double, 2>& scores, Output<3> contributions, Output<2> base,
             int n_threads) {
  require(n_threads >= 1 && n_threads <= kMaxThreads, "n_threads must be from 1 to 1024.");
  const std::size_t n_rows = x.shape(0);
  const std::size_t n_asked = classes.shape(1);
  const auto n_players = static_cast<std::size_t>(self.n_players());
  require(classes.shape(0) == n_rows && scores.shape(0) == n_rows && base.shape(0) == n_rows &&
              contributions.shape(0) == n_rows && scores.shape(1) == n_asked &&
              base.shape(1) == n_asked && contributions.shape(2) == n_asked &&
              contributions.shape(1) == n_players,
          "classes, scores, base and contributions must have a row for every row of X.");
  const ReleasedLock release;
  self.add_contributions(view_of(x), {classes.data(), classes.size()},
                         static_cast<std::int64_t>(n_asked), n_threads,
                         {contributions.data(), contributions.size()});
  parallel_for(static_cast<std::int64_t>(n_rows), n_rows < 64 ? 1 : n_threads,
               [&](std::int64_t task, int) {
                 const auto i = static_cast<std::size_t>(task);
                 std::vector<double> means(n_asked);
                 for (std::size_t c = 0; c < n_asked; ++c)
                   means[c] = self.mean_scores()[static_cast<std::size_t>(
                       classes.data()[i * n_asked + c])];
                 make_exact(self.n_players(), static_cast<std::int64_t>(n_asked),
                            {scores.data() + i * n_asked, n_asked}, means,
                            {contributions.data() + i * n_players * n_asked, n_players * n_asked},
                            {base.data() + i * n_asked, n_asked});
               });
}

void leaf_cover(ENSEMBLE_ARGUMENTS, const Matrix& x, const Input<double, 1>& weights,
                Output<1> cover, int n_threads) {
  require(n_threads >= 1 && n_threads <= kMaxThreads, "n_threads must be from 1 to 1024.");
  const ReleasedLock release;
  add_leaf_cover(ENSEMBLE_VIEW, view_of(x), span_of<double>(weights), n_threads,
                 {cover.data(), cover.size()});
}

void step_sizes(ENSEMBLE_ARGUMENTS, const Input<double, 1>& cover,
                const Input<std::int32_t, 1>& player, const Matrix& x,
                const Input<double, 1>& weights, Output<1> sizes, int n_threads) {
  require(n_threads >= 1 && n_threads <= kMaxThreads, "n_threads must be from 1 to 1024.");
  const ReleasedLock release;
  add_step_sizes(ENSEMBLE_VIEW, span_of<double>(cover), span_of<std::int32_t>(player), view_of(x),
                 span_of<double>(weights), n_threads, {sizes.data(), sizes.size()});
}

}  // namespace

void bind_explain(nb::module_& m) {
  nb::class_<Explainer>(m, "Explainer", "Attributes an ensemble's scores to the columns of X.")
      .def("__init__", &make_explainer, ENSEMBLE_NAMES, nb::arg("leaf_cover").noconvert(),
           nb::arg("player").noconvert(), nb::arg("n_players"))
      .def("explain", &explain, nb::arg("X").noconvert(), nb::arg("classes").noconvert(),
           nb::arg("scores").noconvert(), nb::arg("contributions").noconvert(),
           nb::arg("base").noconvert(), nb::arg("n_threads"),
           "Add to `contributions`, which must be zero, what the columns add to the scores of the "
           "asked classes, and write what is left of these to `base`.");
  m.def("leaf_cover", &leaf_cover, ENSEMBLE_NAMES, nb::arg("X").noconvert(),
        nb::arg("weights").noconvert(), nb::arg("cover").noconvert(), nb::arg("n_threads"),
        "Add the weights of the rows that reach each leaf to `cover`.");
  m.def("step_sizes", &step_sizes, ENSEMBLE_NAMES, nb::arg("leaf_cover").noconvert(),
        nb::arg("player").noconvert(), nb::arg("X").noconvert(), nb::arg("weights").noconvert(),
        nb::arg("sizes").noconvert(), nb::arg("n_threads"),
        "Add to `sizes` how far the splits of each player move the scores, over all rows.");
}

}  // namespace marginboost
