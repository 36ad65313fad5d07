#include "marginboost/predict/predict.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>

#include "bindings.hpp"
#include "ensemble_input.hpp"
#include "marginboost/predict/decision.hpp"
#include "marginboost/predict/link.hpp"
#include "marginboost/threads/thread_pool.hpp"

namespace marginboost {
namespace {

void make_predictor(Predictor* self, ENSEMBLE_ARGUMENTS) {
  new (self) Predictor(ENSEMBLE_VIEW);
}

void check_ensemble(ENSEMBLE_ARGUMENTS) { check(ENSEMBLE_VIEW); }

template <class T>
void add_scores(const Predictor& self,
                const nb::ndarray<const T, nb::ndim<2>, nb::device::cpu>& x,  // of any layout
                nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu> scores,
                std::int64_t first_round, std::int64_t last_round, int n_threads) {
  require(n_threads >= 1 && n_threads <= kMaxThreads, "n_threads must be from 1 to 1024.");
  require(scores.shape(0) == x.shape(0) &&
              static_cast<std::int64_t>(scores.shape(1)) == self.n_classes(),
          "scores must have a row for every row of X and a column for every class.");
  const MatrixView<T> view{x.data(), static_cast<std::int64_t>(x.shape(0)),
                           static_cast<std::int64_t>(x.shape(1)), x.stride(0), x.stride(1)};
  ReleasedLock release;
  self.add_scores(view, first_round, last_round, n_threads,
                  std::span<double>(scores.data(), scores.size()));
}

template <class T>
void bind_add_scores(nb::class_<Predictor>& predictor) {
  predictor.def("add_scores", &add_scores<T>, nb::arg("X").noconvert(),
                nb::arg("scores").noconvert(), nb::arg("first_round"), nb::arg("last_round"),
                nb::arg("n_threads"),
                "Add what the trees of the rounds from `first_round` up to, not including, "
                "`last_round` say to `scores`, in this order.");
}

template <class T, class Index>
void add_sparse_scores(const Predictor& self, const Input<T, 1>& values,
                       const Input<Index, 1>& columns, const Input<Index, 1>& offsets,
                       std::int64_t n_columns,
                       nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu> scores,
                       std::int64_t first_round, std::int64_t last_round, int n_threads) {
  require(n_threads >= 1 && n_threads <= kMaxThreads, "n_threads must be from 1 to 1024.");
  require(values.size() == columns.size(), "data and indices must have the same length.");
  require(scores.shape(0) + 1 == offsets.shape(0) &&
              static_cast<std::int64_t>(scores.shape(1)) == self.n_classes(),
          "scores must have a row for every row of X and a column for every class.");
  const SparseView<T, Index> view{values.data(),
                                  columns.data(),
                                  offsets.data(),
                                  static_cast<std::int64_t>(values.size()),
                                  static_cast<std::int64_t>(scores.shape(0)),
                                  n_columns};
  ReleasedLock release;
  self.add_scores(view, first_round, last_round, n_threads,
                  std::span<double>(scores.data(), scores.size()));
}

template <class T, class Index>
void bind_add_sparse_scores(nb::class_<Predictor>& predictor) {
  predictor.def("add_sparse_scores", &add_sparse_scores<T, Index>, nb::arg("data").noconvert(),
                nb::arg("indices").noconvert(), nb::arg("indptr").noconvert(),
                nb::arg("n_columns"), nb::arg("scores").noconvert(), nb::arg("first_round"),
                nb::arg("last_round"), nb::arg("n_threads"),
                "As `add_scores`, for a matrix by rows in which no entry comes twice.");
}

/// The first of the largest scores; NaN counts as larger than all, as in NumPy.
std::int64_t place_of_largest(std::span<const double> scores) {
  std::size_t best = 0;
  for (std::size_t r = 0; r < scores.size(); ++r) {
    if (std::isnan(scores[r])) return static_cast<std::int64_t>(r);
    if (scores[r] > scores[best]) best = r;
  }
  return static_cast<std::int64_t>(best);
}

/// Short enough to keep the interpreter's lock: letting go of it takes longer than a row.
std::int64_t score_row(const Predictor& self, const Input<double, 1>& x,
                       nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu> out,
                       Link link, double factor) {
  require(static_cast<std::int64_t>(out.size()) == self.n_classes(),
          "out must have one entry per class.");
  const double* values = x.data();
  if (std::any_of(values, values + x.size(), [](double value) { return std::isnan(value); }))
    return -1;
  const std::span<double> scores(out.data(), out.size());
  std::fill(scores.begin(), scores.end(), 0.0);
  const auto n_columns = static_cast<std::int64_t>(x.size());
  self.add_scores(MatrixView<double>{x.data(), 1, n_columns, n_columns, 1}, 0, self.n_rounds(), 1,
                  scores);
  const std::int64_t best = place_of_largest(scores);
  to_probabilities(link, factor, scores);
  return best;
}

}  // namespace

void bind_predict(nb::module_& m) {
  nb::enum_<Link>(m, "Link", "What becomes of the scores of a row.")
      .value("none", Link::none)
      .value("softmax", Link::softmax)
      .value("one_against_all", Link::one_against_all);
  m.def(
      "to_probabilities",
      [](nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu> scores, Link link,
         double factor, int n_threads) {
        require(scores.shape(1) >= 1, "scores must have at least one column.");
        require(n_threads >= 1, "n_threads must be at least 1.");
        const ReleasedLock release;
        to_probabilities(link, factor, static_cast<std::int64_t>(scores.shape(1)), n_threads,
                         {scores.data(), scores.size()});
      },
      nb::arg("scores").noconvert(), nb::arg("link"), nb::arg("factor"), nb::arg("n_threads"),
      "Turn rows of scores into rows of probabilities, in place.");
  m.def(
      "least_cost",
      [](const Input<double, 2>& probabilities, const Input<double, 2>& costs, int n_threads) {
        const auto k = probabilities.shape(1);
        require(k >= 1 && costs.shape(0) == k && costs.shape(1) == k,
                "costs must have a row and a column for every column of probabilities.");
        require(n_threads >= 1 && n_threads <= kMaxThreads, "n_threads must be from 1 to 1024.");
        std::int64_t* best;
        auto array = new_array<std::int64_t>({probabilities.shape(0)}, &best);
        const ReleasedLock release;
        least_cost({probabilities.data(), probabilities.size()}, {costs.data(), costs.size()},
                   static_cast<std::int64_t>(k), n_threads, {best, probabilities.shape(0)});
        return array;
      },
      nb::arg("probabilities"), nb::arg("costs"), nb::arg("n_threads"),
      nb::sig("def least_cost(probabilities: numpy.typing.NDArray[numpy.float64], costs: "
              "numpy.typing.NDArray[numpy.float64], n_threads: int) -> "
              "numpy.typing.NDArray[numpy.int64]"),
      "The first class of least expected cost of each row; costs[a, r] is that of r where a is true.");
  m.def("check_ensemble", &check_ensemble, ENSEMBLE_NAMES,
        "Raise a ValueError unless every size, index and value of an ensemble is sound.");
  nb::class_<Predictor> predictor(m, "Predictor", "A checked copy of an ensemble's flat arrays.");
  predictor.def("__init__", &make_predictor, ENSEMBLE_NAMES);
  bind_add_scores<float>(predictor);
  bind_add_scores<double>(predictor);
  bind_add_scores<std::uint8_t>(predictor);
  bind_add_scores<std::int8_t>(predictor);
  bind_add_scores<std::uint16_t>(predictor);
  bind_add_scores<std::int16_t>(predictor);
  bind_add_scores<std::uint32_t>(predictor);
  bind_add_scores<std::int32_t>(predictor);
  bind_add_scores<std::uint64_t>(predictor);
  bind_add_scores<std::int64_t>(predictor);
  predictor.def("score_row", &score_row, nb::arg("x").noconvert(), nb::arg("out").noconvert(),
                nb::arg("link"), nb::arg("factor"),
                "Write the scores of one row, or its probabilities, to `out`; return the place of "
                "the largest score. Where a value is NaN, do nothing and return -1.");
  bind_add_sparse_scores<float, std::int32_t>(predictor);
  bind_add_sparse_scores<float, std::int64_t>(predictor);
  bind_add_sparse_scores<double, std::int32_t>(predictor);
  bind_add_sparse_scores<double, std::int64_t>(predictor);
}

}  // namespace marginboost
