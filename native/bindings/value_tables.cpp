#include "marginboost/binning/value_tables.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <utility>

#include "binning_input.hpp"

namespace marginboost {
namespace {

/// Values, counts, where each column's begin (and all end), bits lost, and the infinite ones.
using TablesInput = std::tuple<Input<double, 1>, Input<std::int64_t, 1>, Input<std::int64_t, 1>,
                               Input<std::int32_t, 1>, Input<std::int64_t, 1>>;

auto tuple_of(ValueTables tables) {
  return std::make_tuple(array_of(std::move(tables.values)), array_of(std::move(tables.counts)),
                         array_of(std::move(tables.offsets)), array_of(std::move(tables.shifts)),
                         array_of(std::move(tables.infinite)));
}

auto view_of(const TablesInput& tables) {
  const auto& [values, counts, offsets, shifts, infinite] = tables;
  const std::size_t n_columns = shifts.size();
  require(values.size() == counts.size(), "values and counts must have the same length.");
  require(offsets.size() == n_columns + 1 && infinite.size() == 2 * n_columns,
          "offsets must have one entry more than shifts, and infinite twice as many.");
  for (std::size_t c = 0; c < n_columns; ++c)
    require(offsets(c) <= offsets(c + 1) && shifts(c) >= 0 && shifts(c) < 64,
            "offsets must ascend, and shifts must be from 0 to 63.");
  require(offsets(0) == 0 && static_cast<std::size_t>(offsets(n_columns)) == values.size(),
          "offsets must begin with 0 and end with the number of values.");
  return ValueTablesView{span_of<double>(values), span_of<std::int64_t>(counts),
                         span_of<std::int64_t>(offsets), span_of<std::int32_t>(shifts),
                         span_of<std::int64_t>(infinite)};
}

auto tabulate(const AnyInput& x, const Input<std::int64_t, 1>& order,
              const Multiplicity& multiplicity, int n_threads, std::int64_t most_values) {
  check_threads(n_threads);
  check_most_values(most_values);
  const AnyMatrix matrix = matrix_of(x);
  const RowSelection selection = selection_of(order, multiplicity);
  ValueTables found;
  {
    ReleasedLock release;
    found = tabulate_columns(matrix, selection, n_threads, most_values);
  }
  return tuple_of(std::move(found));
}

auto merge(const TablesInput& ours, const TablesInput& theirs, int n_threads,
           std::int64_t most_values) {
  check_threads(n_threads);
  check_most_values(most_values);
  const ValueTablesView a = view_of(ours);
  const ValueTablesView b = view_of(theirs);
  require(a.shifts.size() == b.shifts.size(), "Both tables must have the same columns.");
  ValueTables merged;
  {
    ReleasedLock release;
    merged = merge_tables(a, b, n_threads, most_values);
  }
  return tuple_of(std::move(merged));
}

}  // namespace

void bind_value_tables(nb::module_& m) {
  m.def("tabulate_columns", &tabulate, nb::arg("X").noconvert(), nb::arg("order").noconvert(),
        nb::arg("multiplicity").noconvert().none(), nb::arg("n_threads"),
        nb::arg("most_values") = kMostValues,
        nb::sig("def tabulate_columns(X: numpy.typing.NDArray[typing.Any], "
                "order: numpy.typing.NDArray[numpy.int64], "
                "multiplicity: numpy.typing.NDArray[numpy.int32] | None, "
                "n_threads: int, most_values: int = 1048576) "
                "-> tuple[numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.int64], "
                "numpy.typing.NDArray[numpy.int64], numpy.typing.NDArray[numpy.int32], "
                "numpy.typing.NDArray[numpy.int64]]"),
        "The distinct finite values of all columns, one column after the other; how often each "
        "occurs; where the values of each column begin (and all end); how many bits the keys of each column "
        "have lost, so that at most `most_values` are left; and how often -inf and inf occur, two "
        "numbers per column.");
  m.def("merge_tables", &merge, nb::arg("ours").noconvert(), nb::arg("theirs").noconvert(),
        nb::arg("n_threads"), nb::arg("most_values") = kMostValues,
        nb::sig("def merge_tables("
                "ours: tuple[numpy.typing.NDArray[typing.Any], ...], "
                "theirs: tuple[numpy.typing.NDArray[typing.Any], ...], "
                "n_threads: int, most_values: int = 1048576) "
                "-> tuple[numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.int64], "
                "numpy.typing.NDArray[numpy.int64], numpy.typing.NDArray[numpy.int32], "
                "numpy.typing.NDArray[numpy.int64]]"),
        "The tables of all rows from the tables of two parts of them, as `tabulate_columns` returns "
        "them.");
}

}  // namespace marginboost
