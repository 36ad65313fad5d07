#include "marginboost/binning/binning.hpp"
#include "marginboost/binning/missing.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <cmath>
#include <cstdint>
#include <span>
#include <tuple>
#include <utility>

#include "binning_input.hpp"

#if defined(__GLIBC__)
#include <malloc.h>
#endif

namespace marginboost {
namespace {

template <class Bin>
using Output = nb::ndarray<Bin, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

/// What has been freed goes back to the system, so that a fit's peak is what it uses at that time:
/// the C library of Linux may keep tens of megabytes, in a heap a thread.
void return_free_memory() {
#if defined(__GLIBC__)
  malloc_trim(0);
#endif
}

template <class T>
bool find_missing(const nb::ndarray<const T, nb::ndim<2>, nb::device::cpu>& x, int n_threads) {
  check_threads(n_threads);
  const MatrixView<T> view{x.data(), static_cast<std::int64_t>(x.shape(0)),
                           static_cast<std::int64_t>(x.shape(1)), x.stride(0), x.stride(1)};
  const ReleasedLock release;
  return any_missing(view, n_threads);
}

auto bin_thresholds(const AnyInput& x, const Input<std::int64_t, 1>& order,
                    const Multiplicity& multiplicity, int max_bins, int n_threads,
                    std::int64_t most_values) {
  check_limits(max_bins, n_threads);
  check_most_values(most_values);
  const AnyMatrix matrix = matrix_of(x);
  const RowSelection selection = selection_of(order, multiplicity);
  Thresholds found;
  {
    ReleasedLock release;
    return_free_memory();
    found = find_thresholds(matrix, selection, max_bins, n_threads, most_values);
    return_free_memory();
  }
  return std::make_tuple(array_of(std::move(found.values)), array_of(std::move(found.offsets)),
                         found.n_capped, array_of(std::move(found.medians)));
}

auto column_thresholds_of(const Input<double, 1>& values, const Input<std::int64_t, 1>& counts,
                          int max_bins) {
  check_limits(max_bins, 1);
  require(values.size() == counts.size(), "values and counts must have the same length.");
  std::int64_t total = 0;
  for (std::size_t v = 0; v < values.size(); ++v) {
    require(!std::isnan(values(v)) && (v == 0 || values(v - 1) < values(v)),
            "values must be numbers and ascend.");
    require(counts(v) >= 1 && counts(v) <= kMaxTotal - total,
            "counts must be at least 1 each and at most 2**46 in all.");
    total += counts(v);
  }
  Thresholds found;
  {
    ReleasedLock release;
    found = cut_values(span_of<double>(values), span_of<std::int64_t>(counts), max_bins);
  }
  return std::make_tuple(array_of(std::move(found.values)), found.n_capped > 0,
                         found.medians.front());
}

template <class Bin>
void bin_rows(const AnyInput& x, const Input<std::int64_t, 1>& order,
              const Input<double, 1>& thresholds, const Input<std::int64_t, 1>& offsets,
              Output<Bin> out, int n_threads) {
  check_threads(n_threads);
  const AnyMatrix matrix = matrix_of(x);
  require(out.shape(0) == x.shape(1) && out.shape(1) == order.size(),
          "out must have a row for every column of X and a column for every entry of order.");
  ReleasedLock release;
  fill_bins(matrix, span_of<std::int64_t>(order), span_of<double>(thresholds),
            span_of<std::int64_t>(offsets), n_threads, std::span<Bin>(out.data(), out.size()));
}

}  // namespace

// The signatures are spelled out because X may have any type.
void bind_binning(nb::module_& m) {
  m.attr("MAX_BINS") = kMaxBins;
  m.def("return_free_memory", &return_free_memory,
        "Give memory that has been freed back to the system, where the C library keeps it.");
  m.def("any_missing", &find_missing<float>, nb::arg("X").noconvert(), nb::arg("n_threads"),
        "Whether any value is NaN.");
  m.def("any_missing", &find_missing<double>, nb::arg("X").noconvert(), nb::arg("n_threads"),
        "Whether any value is NaN.");
  m.def("bin_thresholds", &bin_thresholds, nb::arg("X").noconvert(), nb::arg("order").noconvert(),
        nb::arg("multiplicity").noconvert().none(), nb::arg("max_bins"), nb::arg("n_threads"),
        nb::arg("most_values") = kMostValues,
        nb::sig("def bin_thresholds(X: numpy.typing.NDArray[typing.Any], "
                "order: numpy.typing.NDArray[numpy.int64], "
                "multiplicity: numpy.typing.NDArray[numpy.int32] | None, "
                "max_bins: int, n_threads: int, most_values: int = 1048576) "
                "-> tuple[numpy.typing.NDArray[numpy.float64], "
                "numpy.typing.NDArray[numpy.int64], int, numpy.typing.NDArray[numpy.float64]]"),
        "All columns' thresholds one after the other, where each column's begin (and all end), "
        "how many columns have more distinct values than bins, and each column's median. Of more than `most_values` distinct "
        "values neighbours count as one.");
  m.def("column_thresholds", &column_thresholds_of, nb::arg("values"), nb::arg("counts"),
        nb::arg("max_bins"),
        nb::sig("def column_thresholds(values: numpy.typing.NDArray[numpy.float64], "
                "counts: numpy.typing.NDArray[numpy.int64], max_bins: int) "
                "-> tuple[numpy.typing.NDArray[numpy.float64], bool, float]"),
        "The thresholds of a column of these distinct values, ascending, each as often as `counts` "
        "says; whether there are more of them than bins; and the median.");
  const auto bind_bin_rows = [&m](auto function, const auto& signature) {
    m.def("bin_rows", function, nb::arg("X").noconvert(), nb::arg("order").noconvert(),
          nb::arg("thresholds").noconvert(), nb::arg("offsets").noconvert(),
          nb::arg("out").noconvert(), nb::arg("n_threads"), signature,
          "Write the bins of the rows in `order` to `out`, one row of it a column of X.");
  };
  bind_bin_rows(&bin_rows<std::uint8_t>,
                nb::sig("def bin_rows(X: numpy.typing.NDArray[typing.Any], "
                        "order: numpy.typing.NDArray[numpy.int64], "
                        "thresholds: numpy.typing.NDArray[numpy.float64], "
                        "offsets: numpy.typing.NDArray[numpy.int64], "
                        "out: numpy.typing.NDArray[numpy.uint8], n_threads: int) -> None"));
  bind_bin_rows(&bin_rows<std::uint16_t>,
                nb::sig("def bin_rows(X: numpy.typing.NDArray[typing.Any], "
                        "order: numpy.typing.NDArray[numpy.int64], "
                        "thresholds: numpy.typing.NDArray[numpy.float64], "
                        "offsets: numpy.typing.NDArray[numpy.int64], "
                        "out: numpy.typing.NDArray[numpy.uint16], n_threads: int) -> None"));
}

}  // namespace marginboost
