#include "marginboost/coefficients/monotone.hpp"

#include <algorithm>

#include "bindings.hpp"

namespace marginboost {
namespace {

using Numbers = Input<std::int64_t, 1>;
using Table = Input<std::int64_t, 2>;
template <class T>
using Changed = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

TreeShape tree_shape(const Numbers& left, const Numbers& right, std::size_t n_rows) {
  require(left.size() == right.size() && left.size() < n_rows,
          "left and right must have one entry per divided node, and fewer than there are rows.");
  for (const Numbers* side : {&left, &right}) {
    for (std::size_t node = 0; node < side->size(); ++node) {
      const std::int64_t child = side->data()[node];
      require(child > static_cast<std::int64_t>(node) && child < static_cast<std::int64_t>(n_rows),
              "Children must come after their parents, and be among the rows.");
    }
  }
  return {span_of(left), span_of(right)};
}

bool all_below(std::span<const std::int64_t> values, std::int64_t limit) {
  return std::all_of(values.begin(), values.end(),
                     [limit](std::int64_t value) { return value >= 0 && value < limit; });
}

MonotonePairs monotone_pairs(const Table& pairs, const Table& edges, const Numbers& components,
                             const Numbers& begins, bool has_cycle, std::size_t n_classes) {
  const auto k = static_cast<std::int64_t>(n_classes);
  const auto n_pairs = static_cast<std::int64_t>(pairs.shape(0));
  const MonotonePairs rules{{pairs.data(), pairs.size()}, {edges.data(), edges.size()},
                            span_of(components), span_of(begins), has_cycle, k};
  require(pairs.shape(1) == 2 && edges.shape(1) == 3, "pairs and edges must have 2 and 3 columns.");
  require(all_below(rules.pairs, k) && all_below(rules.components, k),
          "Classes must be from 0 to their number.");
  for (std::size_t edge = 0; edge < rules.edges.size(); edge += 3) {
    require(all_below(rules.edges.subspan(edge, 1), n_pairs) &&
                all_below(rules.edges.subspan(edge + 1, 2), k),
            "Edges must name pairs and classes.");
  }
  require(!rules.begins.empty() && rules.begins.front() == 0 &&
              std::is_sorted(rules.begins.begin(), rules.begins.end()) &&
              rules.begins.back() == static_cast<std::int64_t>(rules.components.size()),
          "begins must ascend from 0 to the number of entries of components.");
  return rules;
}

}  // namespace

void bind_monotone(nb::module_& m) {
  m.def(
      "sum_nodes",
      [](const Numbers& left, const Numbers& right, const Changed<double>& sums) {
        const TreeShape tree = tree_shape(left, right, sums.shape(0));
        sum_nodes(tree, static_cast<std::int64_t>(sums.shape(1)), {sums.data(), sums.size()});
      },
      nb::arg("left"), nb::arg("right"), nb::arg("sums"),
      nb::sig("def sum_nodes(left: numpy.typing.NDArray[numpy.int64], right: "
              "numpy.typing.NDArray[numpy.int64], sums: numpy.typing.NDArray[numpy.float64]) "
              "-> None"),
      "Write the sums of the leaves below each divided node, in place.");
  m.def(
      "keep_monotone",
      [](const Numbers& left, const Numbers& right, const Input<std::int8_t, 2>& signs,
         const Table& pairs, const Table& edges, const Numbers& components, const Numbers& begins,
         bool has_cycle, const Changed<std::int64_t>& wanted) {
        const TreeShape tree = tree_shape(left, right, wanted.shape(0));
        require(signs.shape(0) == left.size() && signs.shape(1) == pairs.shape(0),
                "signs must have the shape nodes x pairs.");
        const MonotonePairs rules =
            monotone_pairs(pairs, edges, components, begins, has_cycle, wanted.shape(1));
        const ReleasedLock release;
        keep_monotone(tree, rules, {signs.data(), signs.size()}, {wanted.data(), wanted.size()});
      },
      nb::arg("left"), nb::arg("right"), nb::arg("signs"), nb::arg("pairs"), nb::arg("edges"),
      nb::arg("components"), nb::arg("begins"), nb::arg("has_cycle"), nb::arg("wanted"),
      nb::sig("def keep_monotone(left: numpy.typing.NDArray[numpy.int64], right: "
              "numpy.typing.NDArray[numpy.int64], signs: numpy.typing.NDArray[numpy.int8], pairs: "
              "numpy.typing.NDArray[numpy.int64], edges: numpy.typing.NDArray[numpy.int64], "
              "components: numpy.typing.NDArray[numpy.int64], begins: "
              "numpy.typing.NDArray[numpy.int64], has_cycle: bool, wanted: "
              "numpy.typing.NDArray[numpy.int64]) -> None"),
      "Move the vectors of nodes and leaves, in place, until a tree is monotone.");
}

}  // namespace marginboost
