// The kernels, written once over the vector types of `Isa`. Included by one file an instruction set.
//
// Isa gives four kinds of vector: D, `width` doubles; Q, as many int32; W, as many int64; and I<lanes>,
// the int32 of a histogram's cell.
#pragma once

#include <cstdint>
#include <cstring>

#include "stumps/kernels_rows.hpp"
#include "marginboost/stumps/kernels.hpp"

namespace marginboost {

template <class Isa>
struct KernelsOf {
  // ---- histogram -------------------------------------------------------------------------------

  template <int lanes, int features, class Bin>
  static void histogram_fixed(const std::int32_t* g, const Bin* const* bins, std::int64_t n_rows,
                              std::int32_t* const* hist) {
    using V = typename Isa::template I<lanes>;
    const Bin* b[features];
    std::int32_t* h[features];
    for (int f = 0; f < features; ++f) {
      b[f] = bins[f];
      h[f] = hist[f];
    }
    // The bins of a few rows come as one word: a load a bin would compete with the adds' own.
    constexpr int at_once = 8 / static_cast<int>(sizeof(Bin));
    std::int64_t i = 0;
    for (; i + at_once <= n_rows; i += at_once) {
      std::uint64_t word[features];
      for (int f = 0; f < features; ++f) std::memcpy(&word[f], b[f] + i, 8);
      const std::int32_t* from = g + i * lanes;
      for (int j = 0; j < at_once; ++j) {
        const V row = V::load(from + j * lanes);
        for (int f = 0; f < features; ++f) {
          std::int32_t* cell = h[f] + static_cast<std::int64_t>(static_cast<Bin>(word[f])) * lanes;
          word[f] >>= 8 * sizeof(Bin);
          V::store(cell, V::add(V::load(cell), row));
        }
      }
    }
    for (; i < n_rows; ++i) {
      const V row = V::load(g + i * lanes);
      for (int f = 0; f < features; ++f) {
        std::int32_t* cell = h[f] + static_cast<std::int64_t>(b[f][i]) * lanes;
        V::store(cell, V::add(V::load(cell), row));
      }
    }
  }

  template <int lanes, class Bin>
  static void histogram_lanes(const std::int32_t* g, const Bin* const* bins, int n_features,
                              std::int64_t n_rows, std::int32_t* const* hist) {
    if (n_features == 4) {
      histogram_fixed<lanes, 4>(g, bins, n_rows, hist);
      return;
    }
    int f = 0;
    for (; f + 2 <= n_features; f += 2) histogram_fixed<lanes, 2>(g, bins + f, n_rows, hist + f);
    if (f < n_features) histogram_fixed<lanes, 1>(g, bins + f, n_rows, hist + f);
  }

  template <class Bin>
  static void histogram(const std::int32_t* g, int lanes, const Bin* const* bins, int n_features,
                        std::int64_t n_rows, std::int32_t* const* hist) {
    if (lanes == 4) {
      histogram_lanes<4>(g, bins, n_features, n_rows, hist);
    } else if (lanes == 8) {
      histogram_lanes<8>(g, bins, n_features, n_rows, hist);
    } else {
      histogram_lanes<16>(g, bins, n_features, n_rows, hist);
    }
  }

  template <int lanes>
  static void bare_add_lanes(const std::int32_t* g, int n_features, std::int64_t n_rows,
                             std::int32_t* const* hist) {
    using V = typename Isa::template I<lanes>;
    for (int f = 0; f < n_features; ++f) {
      std::int32_t* cells = hist[f];
      std::int64_t i = 0;
      for (; i + 16 <= n_rows; i += 16) {
        const std::int32_t* from = g + i * lanes;
        for (int j = 0; j < 16; ++j) {
          V::store(cells + j * lanes, V::add(V::load(cells + j * lanes), V::load(from + j * lanes)));
        }
      }
      for (; i < n_rows; ++i) {
        std::int32_t* cell = cells + (i & 15) * lanes;
        V::store(cell, V::add(V::load(cell), V::load(g + i * lanes)));
      }
    }
  }

  static void bare_add(const std::int32_t* g, int lanes, int n_features, std::int64_t n_rows,
                       std::int32_t* const* hist) {
    if (lanes == 4) {
      bare_add_lanes<4>(g, n_features, n_rows, hist);
    } else if (lanes == 8) {
      bare_add_lanes<8>(g, n_features, n_rows, hist);
    } else {
      bare_add_lanes<16>(g, n_features, n_rows, hist);
    }
  }

  // ---- stump search ----------------------------------------------------------------------------

  template <int lanes>
  static std::int64_t largest_edge_lanes(const std::int32_t* hist, const std::int32_t* total,
                                         std::int64_t n_bins) {
    using V = typename Isa::template I<lanes>;
    V edge = V::load(total);
    V best = V::zero();
    for (std::int64_t b = 0; b + 1 < n_bins; ++b) {
      edge = V::sub(edge, twice<V>(hist + b * lanes));
      best = V::max(best, V::abs(edge));
    }
    return V::largest(best);
  }

  // Doubled before it is taken off: a bin then waits one operation for the bin before it, not two.
  template <class V>
  static V twice(const std::int32_t* cell) {
    const V once = V::load(cell);
    return V::add(once, once);
  }

  template <int lanes>
  static std::int64_t find_edge_lanes(const std::int32_t* hist, const std::int32_t* total,
                                      std::int64_t n_bins, std::int32_t size,
                                      std::int32_t* edges) {
    using V = typename Isa::template I<lanes>;
    V edge = V::load(total);
    for (std::int64_t b = 0; b + 1 < n_bins; ++b) {
      edge = V::sub(edge, twice<V>(hist + b * lanes));
      if (!V::any_equal(V::abs(edge), size)) continue;
      V::store(edges, edge);
      return b;
    }
    return -1;
  }

  static std::int64_t find_edge(const std::int32_t* hist, const std::int32_t* total, int lanes,
                                std::int64_t n_bins, std::int32_t size, std::int32_t* edges) {
    if (lanes == 4) return find_edge_lanes<4>(hist, total, n_bins, size, edges);
    if (lanes == 8) return find_edge_lanes<8>(hist, total, n_bins, size, edges);
    return find_edge_lanes<16>(hist, total, n_bins, size, edges);
  }

  static std::int64_t largest_edge(const std::int32_t* hist, const std::int32_t* total, int lanes,
                                   std::int64_t n_bins) {
    if (lanes == 4) return largest_edge_lanes<4>(hist, total, n_bins);
    if (lanes == 8) return largest_edge_lanes<8>(hist, total, n_bins);
    return largest_edge_lanes<16>(hist, total, n_bins);
  }

  static constexpr Kernels table(const char* name) {
    using Rows = RowKernelsOf<Isa>;
    return Kernels{name,          &histogram<std::uint8_t>, &histogram<std::uint16_t>,
                   &largest_edge, &find_edge,               &Rows::advance,
                   &Rows::sum,    &bare_add};
  }
};

}  // namespace marginboost
