// The best splits of the open nodes of a classification tree, by summed masses.
#include <numeric>

#include "stumps/gini_scan.hpp"
#include "marginboost/scans.hpp"

namespace marginboost {
namespace {

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

// Adds up the masses of some bins.
void sum_bins(const std::int64_t* masses, std::int64_t n_bins, std::vector<std::int64_t>& into) {
  for (std::int64_t b = 0; b < n_bins; ++b) {
    for (std::int64_t& sum : into) sum += *masses++;
  }
}

}  // namespace

std::vector<ScoredSplit> scan_splits(const TreeHistograms& histograms) {
  const auto& n_bins = histograms.n_bins;
  const std::int64_t n_labels = histograms.n_labels;
  const std::int64_t all_bins = std::accumulate(n_bins.begin(), n_bins.end(), std::int64_t{0});
  std::vector<ScoredSplit> found(at(histograms.n_nodes));
  GiniScan scan(histograms.n_labels);
  for (std::size_t q = 0; q < found.size(); ++q) {
    const std::int64_t node = static_cast<std::int64_t>(q) * all_bins;
    ScoredBin best;
    std::int64_t begin = node, best_begin = node;
    for (std::size_t f = 0; f < n_bins.size(); ++f) {
      const double before = best.score;
      scan.scan(histograms.masses + begin * n_labels,
                histograms.weights ? histograms.weights + begin : nullptr, histograms.least_weight,
                n_bins[f], static_cast<int>(f), best);
      if (best.score > before) best_begin = begin;
      begin += n_bins[f];
    }
    GiniSplit& split = found[q].split;
    split.feature = best.feature;
    split.bin = best.bin;
    split.masses.assign(at(n_labels), 0);
    split.left_masses.assign(at(n_labels), 0);
    // Any feature's bins add up to the node.
    sum_bins(histograms.masses + node * n_labels, n_bins[0], split.masses);
    if (best.feature < 0) continue;
    sum_bins(histograms.masses + best_begin * n_labels, best.bin + 1, split.left_masses);
    found[q].score = best.score;
  }
  return found;
}

}  // namespace marginboost
