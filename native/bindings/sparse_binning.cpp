#include "marginboost/binning/sparse_binning.hpp"

#include <nanobind/stl/optional.h>

#include <cstdint>
#include <utility>
#include <variant>

#include "binning_input.hpp"

namespace marginboost {
namespace {

template <class Index>
nb::tuple bin_sparse_rows(const AnyInput& values, const Input<Index, 1>& columns,
                          const Input<std::int64_t, 1>& offsets, std::int64_t n_columns,
                          const Input<std::int64_t, 1>& order, const Multiplicity& multiplicity,
                          int max_bins, int n_threads, std::int64_t most_values) {
  check_limits(max_bins, n_threads);
  check_most_values(most_values);
  require(n_columns >= 0, "n_columns must be 0 or more.");
  const SparseRows x{n_columns, span_of<std::int64_t>(offsets), span_of<Index>(columns),
                     matrix_of(values)};
  const RowSelection selection = selection_of(order, multiplicity);
  SparseBins found;
  {
    ReleasedLock release;
    found = bin_sparse(x, selection, max_bins, n_threads, most_values);
  }
  const nb::object bins = std::visit(
      [](auto& kept) { return nb::cast(array_of(std::move(kept))); }, found.bins);
  return nb::make_tuple(array_of(std::move(found.offsets)), array_of(std::move(found.rows)), bins,
                        array_of(std::move(found.zero_bin)),
                        array_of(std::move(found.thresholds.values)),
                        array_of(std::move(found.thresholds.offsets)), found.thresholds.n_capped,
                        array_of(std::move(found.thresholds.medians)));
}

}  // namespace

// The signatures are spelled out because values and bins may have several types.
void bind_sparse_binning(nb::module_& m) {
  const auto bind = [&m](auto function, const auto& signature) {
    m.def("bin_sparse_rows", function, nb::arg("values").noconvert(),
          nb::arg("columns").noconvert(), nb::arg("offsets").noconvert(), nb::arg("n_columns"),
          nb::arg("order").noconvert(), nb::arg("multiplicity").noconvert().none(),
          nb::arg("max_bins"), nb::arg("n_threads"), nb::arg("most_values") = kMostValues, signature,
          "Bin rows that store only some of their cells, `values` in one column. Returns where the "
          "entries of each column begin, their rows and bins, the bin of 0 in each column, and "
          "what bin_thresholds returns.");
  };
  bind(&bin_sparse_rows<std::int32_t>,
       nb::sig("def bin_sparse_rows(values: numpy.typing.NDArray[typing.Any], "
               "columns: numpy.typing.NDArray[numpy.int32], "
               "offsets: numpy.typing.NDArray[numpy.int64], n_columns: int, "
               "order: numpy.typing.NDArray[numpy.int64], "
               "multiplicity: numpy.typing.NDArray[numpy.int32] | None, "
               "max_bins: int, n_threads: int, most_values: int = 1048576) -> tuple[numpy.typing.NDArray[numpy.int64], "
               "numpy.typing.NDArray[numpy.int32], "
               "numpy.typing.NDArray[numpy.uint8] | numpy.typing.NDArray[numpy.uint16], "
               "numpy.typing.NDArray[numpy.int32], numpy.typing.NDArray[numpy.float64], "
               "numpy.typing.NDArray[numpy.int64], int, "
               "numpy.typing.NDArray[numpy.float64]]"));
  bind(&bin_sparse_rows<std::int64_t>,
       nb::sig("def bin_sparse_rows(values: numpy.typing.NDArray[typing.Any], "
               "columns: numpy.typing.NDArray[numpy.int64], "
               "offsets: numpy.typing.NDArray[numpy.int64], n_columns: int, "
               "order: numpy.typing.NDArray[numpy.int64], "
               "multiplicity: numpy.typing.NDArray[numpy.int32] | None, "
               "max_bins: int, n_threads: int, most_values: int = 1048576) -> tuple[numpy.typing.NDArray[numpy.int64], "
               "numpy.typing.NDArray[numpy.int32], "
               "numpy.typing.NDArray[numpy.uint8] | numpy.typing.NDArray[numpy.uint16], "
               "numpy.typing.NDArray[numpy.int32], numpy.typing.NDArray[numpy.float64], "
               "numpy.typing.NDArray[numpy.int64], int, "
               "numpy.typing.NDArray[numpy.float64]]"));
}

}  // namespace marginboost
