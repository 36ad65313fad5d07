// The best splits of nodes of a vector-leaf tree, by summed histograms.
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

std::vector<NodeChoice> scan_nodes(const NodeHistograms& histograms, const TreeRules& rules) {
  const auto& n_bins = histograms.n_bins;
  const int cell = histograms.slots.lanes;
  std::vector<NodeChoice> found(at(histograms.n_nodes));
  std::vector<std::int32_t> total(at(cell));
  SplitScan scan;
  scan.total = total.data();
  scan.slots = histograms.slots;
  scan.least_count = rules.least_count;
  scan.smoothing = rules.smoothing;
  const std::int32_t* hist = histograms.cells;
  const std::uint8_t* allowed = histograms.allowed;
  for (NodeChoice& best : found) {
    // Any feature's bins add up to the node.
    std::fill(total.begin(), total.end(), 0);
    for (std::int64_t b = 0; b < n_bins[0]; ++b) add_cell(total.data(), hist + b * cell, cell);
    best.here = node_score(total.data(), histograms.slots, rules.smoothing);
    best.count = total[at(histograms.slots.count_lane())];
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
    if (allowed != nullptr) allowed += n_bins.size();
    for (std::int64_t b = 0; best_hist && b <= best.bin; ++b) {
      best.left_count += best_hist[b * cell + histograms.slots.count_lane()];
    }
  }
  return found;
}

}  // namespace marginboost
