// The best splits of nodes of a vector-leaf tree, by summed histograms.
#include <algorithm>
#include <array>
#include <numeric>

#include "marginboost/scans.hpp"
#include "trees/node_search.hpp"

namespace marginboost {
namespace {

constexpr std::size_t kMostLanes = 16;

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

}  // namespace

float node_score(const std::int32_t* total, const Slots& slots, float smoothing) {
  std::array<float, kMostLanes> lanes{};
  for (int j = 0; j < slots.per_tile(); ++j) {
    const auto v = static_cast<float>(total[j]);
    lanes[at(j)] = v * v;
  }
  for (int half = slots.lanes / 2; half > 0; half /= 2) {
    for (int j = 0; j < half; ++j) lanes[at(j)] += lanes[at(j + half)];
  }
  return lanes[0] / (static_cast<float>(total[slots.mass_lane()]) + smoothing);
}

namespace {

NodeChoice scan_node(const std::int32_t* hist, std::span<const std::int32_t> n_bins,
                     const Slots& slots, const std::uint8_t* allowed, const TreeRules& rules) {
  const int cell = slots.lanes;
  NodeChoice best;
  // Any feature's bins add up to the node.
  std::array<std::int32_t, kMostLanes> total{};
  for (std::int64_t b = 0; b < n_bins[0]; ++b) add_cell(total.data(), hist + b * cell, cell);
  best.here = node_score(total.data(), slots, rules.smoothing);
  best.count = total[at(slots.count_lane())];
  SplitScan scan;
  scan.total = total.data();
  scan.slots = slots;
  scan.least_count = rules.least_count;
  scan.smoothing = rules.smoothing;
  const std::int32_t* best_hist = nullptr;
  for (std::size_t f = 0; f < n_bins.size(); ++f) {
    scan.hist = hist;
    scan.n_bins = n_bins[f];
    hist += scan.n_bins * cell;
    if (scan.n_bins < 2 || (allowed != nullptr && allowed[f] == 0)) continue;
    const SplitFound split = tree_kernels().scan(scan);
    if (split.bin < 0 || !(split.score > best.score)) continue;
    best.feature = static_cast<int>(f);
    best.bin = static_cast<int>(split.bin);
    best.score = split.score;
    best_hist = scan.hist;
  }
  for (std::int64_t b = 0; best_hist && b <= best.bin; ++b) {
    best.left_count += best_hist[b * cell + slots.count_lane()];
  }
  return best;
}

std::int64_t cells_of(std::span<const std::int32_t> n_bins, const Slots& slots) {
  return std::accumulate(n_bins.begin(), n_bins.end(), std::int64_t{0}) * slots.lanes;
}

}  // namespace

std::vector<NodeChoice> scan_nodes(const NodeHistograms& histograms, const TreeRules& rules) {
  const auto& n_bins = histograms.n_bins;
  const std::int64_t size = cells_of(n_bins, histograms.slots);
  std::vector<NodeChoice> found;
  for (std::int64_t q = 0; q < histograms.n_nodes; ++q) {
    const std::uint8_t* allowed =
        histograms.allowed ? histograms.allowed + at(q) * n_bins.size() : nullptr;
    found.push_back(scan_node(histograms.cells + q * size, n_bins, histograms.slots, allowed, rules));
  }
  return found;
}

std::vector<NodeChoice> search_parts(const KeptHistograms& kept,
                                     std::span<const std::int32_t* const> parts,
                                     std::span<const std::int64_t> places,
                                     std::span<const std::int64_t> rests, const TreeRules& rules) {
  const std::int64_t size = cells_of(kept.n_bins, kept.slots);
  std::vector<NodeChoice> found(places.size() + rests.size());
  const auto scan = [&](std::size_t number, const std::int32_t* hist) {
    const std::uint8_t* allowed =
        kept.allowed ? kept.allowed + number * kept.n_bins.size() : nullptr;
    found[number] = scan_node(hist, kept.n_bins, kept.slots, allowed, rules);
  };
  for (std::size_t q = 0; q < places.size(); ++q) {
    std::int32_t* sums = kept.cells + places[q] * size;
    const std::int64_t first = static_cast<std::int64_t>(q) * size;
    std::copy_n(parts[0] + first, size, sums);
    for (const std::int32_t* part : parts.subspan(1)) {
      const std::int32_t* more = part + first;
      for (std::int64_t c = 0; c < size; ++c) sums[c] = wrapping_add(sums[c], more[c]);
    }
    scan(q, sums);
    if (q >= rests.size()) continue;
    std::int32_t* rest = kept.cells + rests[q] * size;
    for (std::int64_t c = 0; c < size; ++c) rest[c] = wrapping_add(rest[c], wrapping_negative(sums[c]));
    scan(places.size() + q, rest);
  }
  return found;
}

}  // namespace marginboost
