#include "marginboost/scans.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include <nanobind/stl/optional.h>

#include "bindings.hpp"

namespace marginboost {
namespace {

using Bins = Input<std::int32_t, 1>;

/// The numbers of bins, of at least one feature, that add up to the bins of a histogram.
std::span<const std::int32_t> checked_bins(const Bins& n_bins, std::size_t all_bins) {
  const std::span<const std::int32_t> bins = span_of<std::int32_t>(n_bins);
  require(!bins.empty() && std::all_of(bins.begin(), bins.end(), [](auto b) { return b >= 1; }),
          "n_bins must name at least one feature, with at least one bin each.");
  std::uint64_t sum = 0;
  for (const std::int32_t b : bins) sum += static_cast<std::uint64_t>(b);
  require(sum == all_bins, "n_bins must add up to the number of bins of the histograms.");
  return bins;
}

StumpHistograms checked_stumps(const Input<std::int32_t, 2>& hist, const Bins& n_bins) {
  require(hist.shape(1) >= 1 && hist.shape(1) <= 1 << 24, "hist must have at least one output.");
  return {hist.data(), checked_bins(n_bins, hist.shape(0)), static_cast<int>(hist.shape(1))};
}

nb::tuple scan_stump_of(const Input<std::int32_t, 2>& hist, const Bins& n_bins, int criterion) {
  require(criterion >= 0 && criterion <= 2, "criterion must be 0, 1 or 2.");
  const StumpHistograms histograms = checked_stumps(hist, n_bins);
  StumpChoice best;
  {
    const ReleasedLock release;
    best = scan_stump(histograms, static_cast<Criterion>(criterion));
  }
  return nb::make_tuple(best.feature, best.bin, best.output, best.edge);
}

template <class Value>
auto gathered(const std::vector<NodeChoice>& found, Value NodeChoice::*member) {
  Value* out = nullptr;
  auto array = new_array<Value>({found.size()}, &out);
  for (const NodeChoice& one : found) *out++ = one.*member;
  return array;
}

nb::tuple choices_of(const std::vector<NodeChoice>& found) {
  return nb::make_tuple(gathered(found, &NodeChoice::feature), gathered(found, &NodeChoice::bin),
                        gathered(found, &NodeChoice::score), gathered(found, &NodeChoice::here),
                        gathered(found, &NodeChoice::count),
                        gathered(found, &NodeChoice::left_count));
}

TreeRules checked_rules(std::int32_t least_count, float smoothing, std::size_t lanes) {
  require(lanes == 8 || lanes == 16, "hist must have 8 or 16 columns.");
  require(least_count >= 1 && smoothing > 0.0F,
          "least_count must be at least 1 and smoothing positive.");
  return {least_count, smoothing};
}

using Allowed = std::optional<Input<std::uint8_t, 2>>;

const std::uint8_t* checked_mask(const Allowed& allowed, std::size_t n_nodes, std::size_t n_features) {
  if (!allowed) return nullptr;
  require(allowed->shape(0) == n_nodes && allowed->shape(1) == n_features,
          "allowed must have one row per node and one column per feature.");
  return allowed->data();
}

using Kept = nb::ndarray<std::int32_t, nb::ndim<3>, nb::c_contig, nb::device::cpu>;
using Places = Input<std::int64_t, 1>;

nb::tuple search_parts_of(const Kept& kept, const nb::list& parts, const Places& places,
                          const Places& rests, const Bins& n_bins, std::int32_t least_count,
                          float smoothing, const Allowed& allowed) {
  const TreeRules rules = checked_rules(least_count, smoothing, kept.shape(2));
  KeptHistograms histograms;
  histograms.cells = kept.data();
  histograms.n_bins = checked_bins(n_bins, kept.shape(1));
  histograms.slots = {static_cast<int>(kept.shape(2)), 1};
  histograms.allowed =
      checked_mask(allowed, places.size() + rests.size(), histograms.n_bins.size());
  std::vector<Input<std::int32_t, 3>> held;
  std::vector<const std::int32_t*> cells;
  for (const nb::handle part : parts) {
    held.push_back(nb::cast<Input<std::int32_t, 3>>(part));
    cells.push_back(held.back().data());
    require(held.back().shape(0) == places.size() && held.back().shape(1) == kept.shape(1) &&
                held.back().shape(2) == kept.shape(2),
            "parts must have a row for each place, as long as those that are kept.");
  }
  require(!cells.empty() && rests.size() <= places.size(),
          "parts must be at least one, and rests no more than places.");
  std::vector<bool> named(kept.shape(0), false);
  for (const Places* all : {&places, &rests}) {
    for (const std::int64_t place : span_of(*all)) {
      const auto at = static_cast<std::size_t>(place);
      require(place >= 0 && at < named.size() && !named[at], "places must differ, and be there.");
      named[at] = true;
    }
  }
  std::vector<NodeChoice> found;
  {
    const ReleasedLock release;
    found = search_parts(histograms, cells, span_of(places), span_of(rests), rules);
  }
  return choices_of(found);
}

nb::tuple scan_nodes_of(const Input<std::int32_t, 3>& hist, const Bins& n_bins,
                        std::int32_t least_count, float smoothing, const Allowed& allowed) {
  const TreeRules rules = checked_rules(least_count, smoothing, hist.shape(2));
  NodeHistograms histograms;
  histograms.cells = hist.data();
  histograms.n_bins = checked_bins(n_bins, hist.shape(1));
  histograms.n_nodes = static_cast<std::int64_t>(hist.shape(0));
  histograms.slots = {static_cast<int>(hist.shape(2)), 1};
  histograms.allowed = checked_mask(allowed, hist.shape(0), histograms.n_bins.size());
  std::vector<NodeChoice> found;
  {
    const ReleasedLock release;
    found = scan_nodes(histograms, rules);
  }
  return choices_of(found);
}

}  // namespace

// The signatures are spelled out where a tuple is returned.
void bind_scans(nb::module_& m) {
  m.def("scan_stump", &scan_stump_of, nb::arg("hist"), nb::arg("n_bins"), nb::arg("criterion"),
        nb::sig("def scan_stump(hist: numpy.typing.NDArray[numpy.int32], "
                "n_bins: numpy.typing.NDArray[numpy.int32], criterion: int) "
                "-> tuple[int, int, int, int]"),
        "Find the best stump, as an engine's best_stump does, by histograms of all bins x outputs.");
  m.def("scan_nodes", &scan_nodes_of, nb::arg("hist"), nb::arg("n_bins"),
        nb::arg("least_count"), nb::arg("smoothing"), nb::arg("allowed") = nb::none(),
        nb::sig("def scan_nodes(hist: numpy.typing.NDArray[numpy.int32], "
                "n_bins: numpy.typing.NDArray[numpy.int32], least_count: int, "
                "smoothing: float, allowed: numpy.typing.NDArray[numpy.uint8] | None = None) "
                "-> tuple[numpy.typing.NDArray[numpy.int32], "
                "numpy.typing.NDArray[numpy.int32], numpy.typing.NDArray[numpy.float32], "
                "numpy.typing.NDArray[numpy.float32], numpy.typing.NDArray[numpy.int64], "
                "numpy.typing.NDArray[numpy.int64]]"),
        "Find the best splits of nodes of a vector-leaf tree by histograms of nodes x all bins x "
        "lanes, and which features (columns) each node (row) may split. Returns features (-1: no split is allowed), bins, the splits' scores, the nodes' own "
        "scores, and the rows of the nodes and of their left sides.");
  m.def("search_parts", &search_parts_of, nb::arg("kept"), nb::arg("parts"), nb::arg("places"),
        nb::arg("rests"), nb::arg("n_bins"), nb::arg("least_count"), nb::arg("smoothing"),
        nb::arg("allowed") = nb::none(),
        "Add up parts of the histograms of nodes in places of those that are kept; subtract the first "
        "of them from what is kept in other places. Return as scan_nodes does what is found of the "
        "former and of the latter.");
}

}  // namespace marginboost
