#include "stumps/stump_scan.hpp"

#include <algorithm>
#include <vector>

#include "marginboost/stumps/kernels.hpp"
#include "marginboost/scans.hpp"
#include "wrapping_add.hpp"

namespace marginboost {
namespace {

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

// The first bin (and there a positive edge before a negative one) whose |edge| is `size`.
StumpChoice locate(const TileHistogram& tile, std::int64_t size) {
  std::int32_t edges[16] = {};
  const std::int64_t bin = kernels().find_edge(tile.cells, tile.total, tile.lanes, tile.n_bins,
                                               static_cast<std::int32_t>(size), edges);
  StumpChoice found;
  for (int lane = 0; lane < tile.lanes; ++lane) {
    const std::int64_t edge = edges[lane];
    const StumpChoice here{tile.feature, static_cast<int>(bin), tile.first_output + lane, edge};
    if (std::abs(edge) == size && better(here, found)) found = here;
  }
  return found;
}

// Calls visit(bin, edges) with the edges of all lanes, h = +1 above the bin.
template <class Visit>
void for_edges(const TileHistogram& tile, const Visit& visit) {
  std::vector<std::int32_t> edges(tile.total, tile.total + tile.lanes);
  for (std::int64_t b = 0; b + 1 < tile.n_bins; ++b) {
    for (int lane = 0; lane < tile.lanes; ++lane) {
      const std::int32_t cell = wrapping_negative(tile.cells[b * tile.lanes + lane]);
      edges[at(lane)] = wrapping_add(edges[at(lane)], wrapping_add(cell, cell));
    }
    visit(b, edges.data());
  }
}

template <class Term>
void add_terms(const TileHistogram& tile, std::int64_t* scores, const Term& term) {
  for_edges(tile, [&](std::int64_t b, const std::int32_t* edges) {
    std::int64_t sum = 0;
    for (int lane = 0; lane < tile.lanes; ++lane) sum += term(std::int64_t{edges[lane]});
    scores[b] += sum;
  });
}

std::int64_t size_of(std::int64_t edge) { return edge < 0 ? -edge : edge; }

// Edges have up to 31 bits; without their lowest 6 a sum of 2^13 squares fits.
std::int64_t square_of(std::int64_t edge) { return (edge >> 6) * (edge >> 6); }

// A feature's outputs in tiles, padded with zeros, as the kernels read them.
class TiledFeature {
 public:
  explicit TiledFeature(int n_outputs)
      : n_outputs_(n_outputs), lanes_(Lanes::of(n_outputs)), total_(at(lanes_.padded())) {}

  void load(const std::int32_t* cells, std::int64_t n_bins, int feature) {
    n_bins_ = n_bins;
    feature_ = feature;
    cells_.assign(at(n_bins * lanes_.padded()), 0);
    std::fill(total_.begin(), total_.end(), 0);
    for (std::int64_t b = 0; b < n_bins; ++b) {
      for (int c = 0; c < n_outputs_; ++c) {
        const std::int32_t cell = cells[b * n_outputs_ + c];
        const std::int64_t row = c / lanes_.lanes * n_bins + b;
        cells_[at(row * lanes_.lanes + c % lanes_.lanes)] = cell;
        total_[at(c)] = wrapping_add(total_[at(c)], cell);
      }
    }
  }

  int n_tiles() const { return lanes_.tiles; }
  TileHistogram tile(int number) const {
    return {cells_.data() + number * n_bins_ * lanes_.lanes, total_.data() + number * lanes_.lanes,
            lanes_.lanes, n_bins_, feature_, number * lanes_.lanes};
  }

 private:
  int n_outputs_;
  Lanes lanes_;
  std::int64_t n_bins_ = 0;
  int feature_ = 0;
  std::vector<std::int32_t> cells_, total_;
};

// Calls visit(tiled) for every feature in turn.
template <class Visit>
void for_features(const StumpHistograms& histograms, TiledFeature& tiled, const Visit& visit) {
  const std::int32_t* cells = histograms.cells;
  for (std::size_t f = 0; f < histograms.n_bins.size(); ++f) {
    const std::int64_t n_bins = histograms.n_bins[f];
    if (n_bins > 1) {
      tiled.load(cells, n_bins, static_cast<int>(f));
      visit(static_cast<int>(f), n_bins);
    }
    cells += n_bins * histograms.n_outputs;
  }
}

}  // namespace

void offer_largest(const TileHistogram& tile, StumpChoice& best) {
  if (tile.n_bins < 2) return;
  const std::int64_t size =
      kernels().largest_edge(tile.cells, tile.total, tile.lanes, tile.n_bins);
  const std::int64_t so_far = std::abs(best.edge);
  const bool loses = size < so_far || (size == so_far && best.feature < tile.feature);
  if (best.feature >= 0 && loses) return;
  const StumpChoice here = locate(tile, size);
  if (better(here, best)) best = here;
}

void offer_each(const TileHistogram& tile, StumpChoice* best) {
  for_edges(tile, [&](std::int64_t b, const std::int32_t* edges) {
    for (int lane = 0; lane < tile.lanes; ++lane) {
      StumpChoice& so_far = best[lane];
      const std::int64_t edge = edges[lane];
      // Features and bins come in order, so the first of equals stays.
      if (so_far.feature < 0 || std::abs(edge) > std::abs(so_far.edge)) {
        so_far = {tile.feature, static_cast<int>(b), tile.first_output + lane, edge};
      }
    }
  });
}

void add_scores(const TileHistogram& tile, Criterion criterion, std::int64_t* scores) {
  if (criterion == Criterion::sum) {
    add_terms(tile, scores, size_of);
  } else {
    add_terms(tile, scores, square_of);
  }
}

void offer_scores(int feature, std::span<const std::int64_t> scores, StumpChoice& best) {
  for (std::size_t b = 0; b < scores.size(); ++b) {
    const StumpChoice here{feature, static_cast<int>(b), 0, scores[b]};
    if (better(here, best)) best = here;
  }
}

StumpChoice scan_stump(const StumpHistograms& histograms, Criterion criterion) {
  StumpChoice best;
  TiledFeature tiled(histograms.n_outputs);
  std::vector<std::int64_t> scores;
  for_features(histograms, tiled, [&](int feature, std::int64_t n_bins) {
    scores.assign(at(n_bins - 1), 0);
    for (int t = 0; t < tiled.n_tiles(); ++t) {
      if (criterion == Criterion::largest) {
        offer_largest(tiled.tile(t), best);
      } else {
        add_scores(tiled.tile(t), criterion, scores.data());
      }
    }
    if (criterion != Criterion::largest) offer_scores(feature, scores, best);
  });
  return best;
}

}  // namespace marginboost
