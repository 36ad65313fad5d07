// The kernels, written once over the vector types of `Isa`. Included by one file an instruction set.
//
// Isa gives two kinds of vector: D, `width` doubles; and I<lanes>, `lanes` int32 of a histogram row.
#pragma once

#include <cstdint>

#include "marginboost/kernels.hpp"

namespace marginboost {

template <class Isa>
struct KernelsOf {
  using D = typename Isa::D;
  static constexpr int width = Isa::width;

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
    for (std::int64_t i = 0; i < n_rows; ++i) {
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
      for (std::int64_t i = 0; i < n_rows; ++i) {
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
      const V cell = V::load(hist + b * lanes);
      edge = V::sub(V::sub(edge, cell), cell);
      best = V::max(best, V::abs(edge));
    }
    return V::largest(best);
  }

  static std::int64_t largest_edge(const std::int32_t* hist, const std::int32_t* total, int lanes,
                                   std::int64_t n_bins) {
    if (lanes == 4) return largest_edge_lanes<4>(hist, total, n_bins);
    if (lanes == 8) return largest_edge_lanes<8>(hist, total, n_bins);
    return largest_edge_lanes<16>(hist, total, n_bins);
  }

  // ---- rows ------------------------------------------------------------------------------------

  static D moved(D e, D factor) {
    return Isa::min(Isa::max(Isa::mul(e, factor), Isa::all(kSmallestExponential)),
                    Isa::all(kLargestExponential));
  }

  template <Loss loss>
  static D weight_of(D e) {
    if constexpr (loss == Loss::exponential) {
      return e;
    } else {
      return Isa::div(e, Isa::add(Isa::all(1.0), e));
    }
  }

  template <Loss loss>
  static std::int64_t advance_loss(const RowArrays& rows, RowSpan span, Factors factors,
                                   double scale, std::int32_t* totals) {
    const int k = rows.n_classes;
    const int lanes = rows.lanes.lanes;
    const std::int64_t tile_stride = rows.n_rows * lanes;
    std::int64_t errors = 0;
    for (std::int64_t i = span.begin; i < span.end; ++i) {
      const std::int32_t copies = rows.multiplicity ? rows.multiplicity[i] : 1;
      const double unit = rows.weight ? rows.weight[i] * scale : scale;
      const double* factor = factors.values + rows.side[i] * factors.stride;
      double* e_row = rows.exponentials + i * k;
      std::int32_t* g_row = rows.direction + i * lanes;
      std::int32_t own = 0;
      D worst = Isa::all(0.0);
      for (int r = 0; r < k; r += width) {
        const int n = k - r < width ? k - r : width;
        const D e = moved(Isa::load(e_row + r, n), Isa::load(factor + r, n));
        Isa::store(e_row + r, n, e);
        worst = Isa::max(worst, e);
        std::int32_t* g = g_row + (r / lanes) * tile_stride + r % lanes;
        const int room = lanes < width ? lanes : width;
        own += Isa::store_negated(g, room, Isa::mul(weight_of<loss>(e), Isa::all(unit)), copies);
      }
      errors += Isa::largest(worst) >= 1.0 ? copies : 0;
      g_row[(span.label / lanes) * tile_stride + span.label % lanes] = own;
      for (int tile = 0; tile < rows.lanes.tiles; ++tile) {
        add_lanes(totals + tile * lanes, g_row + tile * tile_stride, lanes);
      }
    }
    return errors;
  }

  static void add_lanes(std::int32_t* into, const std::int32_t* from, int lanes) {
    for (int lane = 0; lane < lanes; lane += 4) {
      using V = typename Isa::template I<4>;
      V::store(into + lane, V::add(V::load(into + lane), V::load(from + lane)));
    }
  }

  static std::int64_t advance(const RowArrays& rows, RowSpan span, Factors factors, double scale,
                              std::int32_t* totals) {
    return rows.loss == Loss::exponential
               ? advance_loss<Loss::exponential>(rows, span, factors, scale, totals)
               : advance_loss<Loss::logistic>(rows, span, factors, scale, totals);
  }

  template <Loss loss, bool second_order>
  static void sum_loss(const RowArrays& rows, RowSpan span, Factors factors, double scale,
                       double* sums, double* curvature, std::int64_t stride) {
    const int k = rows.n_classes;
    for (std::int64_t i = span.begin; i < span.end; ++i) {
      const D copies = Isa::all(rows.multiplicity ? rows.multiplicity[i] : 1.0);
      const D unit = Isa::all(rows.weight ? rows.weight[i] * scale : scale);
      const double* factor =
          factors.values ? factors.values + rows.side[i] * factors.stride : nullptr;
      const double* e_row = rows.exponentials + i * k;
      double* sum_row = sums + rows.side[i] * stride;
      double* curve_row = second_order ? curvature + rows.side[i] * stride : nullptr;
      for (int r = 0; r < k; r += width) {
        const int n = k - r < width ? k - r : width;
        D e = Isa::load(e_row + r, n);
        if (factor) e = moved(e, Isa::load(factor + r, n));
        const D u = weight_of<loss>(e);
        accumulate(sum_row + r, n, u, unit, copies);
        if constexpr (second_order) {
          accumulate(curve_row + r, n, Isa::mul(u, Isa::sub(Isa::all(1.0), u)), unit, copies);
        }
      }
    }
  }

  // The rounded weight is an integer below 2^51, so doubles add it exactly, in any order.
  static void accumulate(double* into, int n, D value, D unit, D copies) {
    const D rounded = Isa::round(Isa::mul(value, unit));
    Isa::store(into, n, Isa::add(Isa::load(into, n), Isa::mul(rounded, copies)));
  }

  static void sum(const RowArrays& rows, RowSpan span, Factors factors, double scale, double* sums,
                  double* curvature, std::int64_t stride) {
    if (rows.loss == Loss::exponential) {
      sum_loss<Loss::exponential, false>(rows, span, factors, scale, sums, nullptr, stride);
    } else if (curvature == nullptr) {
      sum_loss<Loss::logistic, false>(rows, span, factors, scale, sums, nullptr, stride);
    } else {
      sum_loss<Loss::logistic, true>(rows, span, factors, scale, sums, curvature, stride);
    }
  }

  static constexpr Kernels table(const char* name) {
    return Kernels{name,    &histogram<std::uint8_t>, &histogram<std::uint16_t>, &largest_edge,
                   &advance, &sum,                     &bare_add};
  }
};

}  // namespace marginboost
