// The kernels, written once over the vector types of `Isa`. Included by one file an instruction set.
//
// Isa gives three kinds of vector: D, `width` doubles; Q, as many int32; and I<lanes>, the int32 of a
// histogram's cell.
#pragma once

#include <cstdint>

#include "marginboost/kernels.hpp"

namespace marginboost {

template <class Isa>
struct KernelsOf {
  using D = typename Isa::D;
  using Q = typename Isa::Q;
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

  // `others`: the sum of the row's e, for the softmax.
  template <Loss loss>
  static D weight_of(D e, double others) {
    if constexpr (loss == Loss::exponential) {
      return e;
    } else if constexpr (loss == Loss::logistic) {
      return Isa::div(e, Isa::add(Isa::all(1.0), e));
    } else {
      return Isa::div(e, Isa::all(1.0 + others));
    }
  }

  // Rows go in blocks, and in a block the classes a vector at a time, so that the factors, the totals
  // and the sums stay in registers while the block's rows pass.
  static constexpr int block = 64;

  // Moves a block's exponentials; where the loss asks for it, sums each row's. Eight partial sums a
  // row, whatever the width, added in one order: the same bits from every instruction set.
  template <Loss loss>
  static void move_block(const RowArrays& rows, std::int64_t begin, int count, Factors factors,
                         double* others, bool keep) {
    constexpr int parts = 8 / width;
    const int k = rows.n_columns;
    const std::uint8_t* side = rows.side + begin;
    for (int i = 0; i < count; ++i) {
      double* e_row = rows.exponentials + (begin + i) * k;
      const double* factor = factors.values ? factors.values + side[i] * factors.stride : nullptr;
      D partial[parts];
      for (D& part : partial) part = Isa::all(0.0);
      for (int r = 0; r < k; r += width) {
        const int n = k - r < width ? k - r : width;
        D e = Isa::load(e_row + r, n);
        if (factor) e = moved(e, Isa::load(factor + r, n));
        if (keep) Isa::store(e_row + r, n, e);
        // A vector's missing lanes must add nothing.
        D& part = partial[(r / width) % parts];
        part = Isa::add(part, n == width ? e : Isa::first(e, n));
      }
      others[i] = Isa::sum_eight(partial);
    }
  }

  template <Loss loss>
  static std::int64_t advance_loss(const RowArrays& rows, RowSpan span, Factors factors,
                                   double scale, std::int32_t* totals) {
    constexpr bool softmax = loss == Loss::softmax;
    const int k = rows.n_columns;
    const int lanes = rows.lanes.lanes;
    const int room = lanes < width ? lanes : width;
    const std::int64_t tile_stride = rows.n_rows * lanes;
    const std::int32_t* signs =
        rows.margins ? nullptr : rows.signs + std::int64_t{span.label} * rows.lanes.padded();
    std::int64_t errors = 0;
    for (std::int64_t begin = span.begin; begin < span.end; begin += block) {
      const auto count = static_cast<int>(span.end - begin < block ? span.end - begin : block);
      const std::uint8_t* side = rows.side + begin;
      double unit[block];
      double others[block];
      Q own[block];
      std::uint8_t wrong[block];
      for (int i = 0; i < count; ++i) {
        unit[i] = rows.weight ? rows.weight[begin + i] * scale : scale;
        others[i] = 0.0;
        own[i] = Isa::no_integers();
        wrong[i] = 0;
      }
      if constexpr (softmax) move_block<loss>(rows, begin, count, factors, others, true);
      for (int r = 0; r < k; r += width) {
        const int n = k - r < width ? k - r : width;
        double* e_at = rows.exponentials + begin * k + r;
        std::int32_t* g_at =
            rows.direction + (r / lanes) * tile_stride + begin * lanes + r % lanes;
        const Q sign = signs ? Isa::load_integers(signs + r, room) : Isa::no_integers();
        Q total = Isa::no_integers();
        for (int i = 0; i < count; ++i) {
          D e = Isa::load(e_at + i * k, n);
          if constexpr (!softmax) {
            e = moved(e, Isa::load(factors.values + side[i] * factors.stride + r, n));
            Isa::store(e_at + i * k, n, e);
          }
          wrong[i] |= Isa::any_at_least_one(e);
          Q q = Isa::to_integers(Isa::mul(weight_of<loss>(e, others[i]), Isa::all(unit[i])));
          if (rows.multiplicity) q = Isa::times(q, Isa::all_integers(rows.multiplicity[begin + i]));
          if (signs) {
            q = Isa::times(q, sign);
          } else {
            own[i] = Isa::plus(own[i], q);
            q = Isa::negated(q);
          }
          total = Isa::plus(total, q);
          Isa::store_integers(g_at + i * lanes, room, q);
        }
        Isa::store_integers(totals + r, room, Isa::plus(total, Isa::load_integers(totals + r, room)));
      }
      for (int i = 0; i < count; ++i) {
        if (wrong[i]) errors += rows.multiplicity ? rows.multiplicity[begin + i] : 1;
      }
      if (rows.margins) set_own(rows, span.label, begin, count, own, totals);
    }
    return errors;
  }

  static void set_own(const RowArrays& rows, int label, std::int64_t begin, int count, const Q* own,
                      std::int32_t* totals) {
    const int lanes = rows.lanes.lanes;
    std::int32_t* g =
        rows.direction + (label / lanes) * rows.n_rows * lanes + begin * lanes + label % lanes;
    for (int i = 0; i < count; ++i) {
      g[i * lanes] = Isa::sum(own[i]);
      totals[label] += g[i * lanes];
    }
  }

  static std::int64_t advance(const RowArrays& rows, RowSpan span, Factors factors, double scale,
                              std::int32_t* totals) {
    switch (rows.loss) {
      case Loss::exponential:
        return advance_loss<Loss::exponential>(rows, span, factors, scale, totals);
      case Loss::logistic:
        return advance_loss<Loss::logistic>(rows, span, factors, scale, totals);
      default:
        return advance_loss<Loss::softmax>(rows, span, factors, scale, totals);
    }
  }

  // Sums over both sides and over side 1 alone; side 0 is the difference, exactly.
  struct TwoSums {
    D all = Isa::all(0.0), one = Isa::all(0.0);

    // The rounded weight is an integer below 2^51, so doubles add it exactly, in any order.
    void add(D value, D unit, const double* copies, bool on_one) {
      D rounded = Isa::round(Isa::mul(value, unit));
      if (copies) rounded = Isa::mul(rounded, Isa::all(*copies));
      all = Isa::add(all, rounded);
      one = Isa::add_if(on_one, one, rounded);
    }
    void store(double* sums, std::int64_t stride, int n) const {
      const D zero = Isa::sub(all, one);
      Isa::store(sums, n, Isa::add(Isa::load(sums, n), zero));
      Isa::store(sums + stride, n, Isa::add(Isa::load(sums + stride, n), one));
    }
  };

  template <Loss loss, bool second_order>
  static void sum_loss(const RowArrays& rows, RowSpan span, Factors factors, double scale,
                       double* sums, double* curvature, std::int64_t stride) {
    const int k = rows.n_columns;
    for (std::int64_t begin = span.begin; begin < span.end; begin += block) {
      const auto count = static_cast<int>(span.end - begin < block ? span.end - begin : block);
      const std::uint8_t* side = rows.side + begin;
      double unit[block], copies[block], others[block];
      for (int i = 0; i < count; ++i) {
        others[i] = 0.0;
        unit[i] = rows.weight ? rows.weight[begin + i] * scale : scale;
        copies[i] = rows.multiplicity ? rows.multiplicity[begin + i] : 1.0;
      }
      if constexpr (loss == Loss::softmax) {
        move_block<loss>(rows, begin, count, factors, others, false);
      }
      for (int r = 0; r < k; r += width) {
        const int n = k - r < width ? k - r : width;
        const double* e_at = rows.exponentials + begin * k + r;
        TwoSums first, second;
        for (int i = 0; i < count; ++i) {
          D e = Isa::load(e_at + i * k, n);
          if (factors.values) {
            e = moved(e, Isa::load(factors.values + side[i] * factors.stride + r, n));
          }
          const D u = weight_of<loss>(e, others[i]);
          const double* repeated = rows.multiplicity ? copies + i : nullptr;
          first.add(u, Isa::all(unit[i]), repeated, side[i] != 0);
          if constexpr (second_order) {
            const D bend = Isa::mul(u, Isa::sub(Isa::all(1.0), u));
            second.add(bend, Isa::all(unit[i]), repeated, side[i] != 0);
          }
        }
        first.store(sums + r, stride, n);
        if constexpr (second_order) second.store(curvature + r, stride, n);
      }
    }
  }

  static void sum(const RowArrays& rows, RowSpan span, Factors factors, double scale, double* sums,
                  double* curvature, std::int64_t stride) {
    if (rows.loss == Loss::exponential) {
      sum_loss<Loss::exponential, false>(rows, span, factors, scale, sums, nullptr, stride);
    } else if (rows.loss == Loss::softmax) {
      sum_loss<Loss::softmax, false>(rows, span, factors, scale, sums, nullptr, stride);
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
