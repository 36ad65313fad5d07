// The row kernels: moving the exponentials, forming the direction, summing the weights.
//
// Rows go in blocks, and in a block the outputs go a few vectors at a time, row after row: totals and
// sums stay in registers, and memory is read in the order in which it lies. What can differ between
// two calls but not between two rows (loss, weights, signs) is a template parameter.
#pragma once

#include <cstdint>

#include "marginboost/stumps/kernels.hpp"

namespace marginboost {

inline constexpr double kTwoTo52 = 0x1p+52;

/// What a row's fixed-point weights are multiplied by.
enum class Scaling {
  plain,     ///< the scale alone
  weighted,  ///< also the row's weight and multiplicity
  coded,     ///< these, and the signs of its class's code
};

template <class Isa>
struct RowKernelsOf {
  using D = typename Isa::D;
  using Q = typename Isa::Q;
  using W = typename Isa::W;
  static constexpr int width = Isa::width;
  static constexpr int block = 64;

  // ---- outputs ---------------------------------------------------------------------------------

  // Some neighbouring outputs: `vectors` vectors, the last one not `whole` where the outputs end.
  template <int vectors, bool whole>
  struct Outputs {
    static constexpr int count = vectors;
    int first = 0;
    typename Isa::Part part = {};

    D load(const double* row, int v) const {
      const double* p = row + first + v * width;
      return whole || v + 1 < vectors ? Isa::load(p) : Isa::load(p, part);
    }
    void store(double* row, int v, D x) const {
      double* p = row + first + v * width;
      if (whole || v + 1 < vectors) {
        Isa::store(p, x);
      } else {
        Isa::store(p, part, x);
      }
    }
  };

  template <int vectors, class Visit>
  static int visit_some(int first, int k, const Visit& visit) {
    const int rest = k - first;
    if constexpr (vectors > 1) {
      if (rest <= (vectors - 1) * width) return visit_some<vectors - 1>(first, k, visit);
    }
    if (rest >= vectors * width) {
      visit(Outputs<vectors, true>{first, {}});
    } else {
      visit(Outputs<vectors, false>{first, Isa::part(rest - (vectors - 1) * width)});
    }
    return vectors * width;
  }

  // Calls visit(Outputs) for all k outputs, at most `most` vectors of them at a time.
  template <int most, class Visit>
  static void visit_outputs(int k, const Visit& visit) {
    for (int first = 0; first < k;) first += visit_some<most>(first, k, visit);
  }

  // ---- weights ---------------------------------------------------------------------------------

  static D moved(D e, D factor) { return Isa::clamp(Isa::mul(e, factor)); }

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

  // The rows of a block that are worked on, and what is known of each.
  template <class Copies>
  struct Block {
    std::int64_t begin = 0;
    int count = 0;
    double unit[block];         // only where they differ
    Copies copies[block];
    double others[block];       // only for the softmax

    Block(const RowArrays& rows, std::int64_t from, std::int64_t end, double scale, bool weighted)
        : begin(from), count(static_cast<int>(end - from < block ? end - from : block)) {
      if (!weighted) return;
      for (int i = 0; i < count; ++i) {
        unit[i] = rows.weight ? rows.weight[begin + i] * scale : scale;
        copies[i] = static_cast<Copies>(rows.multiplicity ? rows.multiplicity[begin + i] : 1);
      }
    }
  };

  // For the softmax: moves a block's exponentials (`keep`: for good) and sums each row's. Eight partial
  // sums a row, whatever the width, added in one order: the same bits from every instruction set.
  template <class Copies>
  static void move_block(const RowArrays& rows, Factors factors, bool keep, Block<Copies>& here) {
    constexpr int parts = 8 / width;
    const int k = rows.n_outputs;
    for (int i = 0; i < here.count; ++i) {
      const std::int64_t row = here.begin + i;
      double* e_row = rows.exponentials + row * k;
      const double* factor =
          factors.values ? factors.values + rows.side[row] * factors.stride : nullptr;
      D partial[parts];
      for (D& part : partial) part = Isa::all(0.0);
      visit_outputs<1>(k, [&](auto outputs) {
        D e = outputs.load(e_row, 0);
        if (factor) e = moved(e, outputs.load(factor, 0));
        if (keep) outputs.store(e_row, 0, e);
        // A vector's missing lanes must add nothing.
        const int n = k - outputs.first < width ? k - outputs.first : width;
        D& part = partial[(outputs.first / width) % parts];
        part = Isa::add(part, n == width ? e : Isa::first(e, n));
      });
      here.others[i] = Isa::sum_eight(partial);
    }
  }

  // ---- advance ---------------------------------------------------------------------------------

  // What comes of a block's rows, output by output.
  struct Outcome {
    Q own[block];                    // its lanes add up to minus the sum of the row's weights
    std::uint8_t wrong[block] = {};  // some e >= 1
  };

  template <Loss loss, Scaling scaling, class Some>
  static void advance_outputs(const RowArrays& rows, const Block<std::int32_t>& here,
                              const Some& outputs, int label, Factors factors, double scale,
                              Outcome& outcome, std::int32_t* totals) {
    constexpr int vectors = Some::count;
    constexpr bool margins = scaling != Scaling::coded;
    // Outputs start where a tile does, and those of a tile of 4 or 8 lanes have no second tile.
    constexpr int tiles = (vectors * width + 15) / 16;
    const std::int64_t k = rows.n_outputs, lanes = rows.lanes.lanes;
    const int room = vectors == 1 && lanes < width ? static_cast<int>(lanes) : width;
    std::int32_t* g_row[tiles];
    for (int t = 0; t < tiles; ++t) {
      g_row[t] = rows.direction + ((outputs.first / lanes + t) * rows.n_rows + here.begin) * lanes;
    }
    Q sign[vectors], total[vectors];
    for (int v = 0; v < vectors; ++v) {
      total[v] = Isa::no_integers();
      if constexpr (!margins) {
        sign[v] = Isa::load_integers(
            rows.signs + std::int64_t{label} * rows.lanes.padded() + outputs.first + v * width, room);
      }
    }
    const double* const factor[2] = {factors.values, factors.values + factors.stride};
    const std::uint8_t* const side = rows.side + here.begin;
    const int count = here.count;
    double* e_row = rows.exponentials + here.begin * k;
    for (int i = 0; i < count; ++i, e_row += k) {
      // The margins' direction is minus the weights off the row's own class: rounding is symmetric.
      const double size = scaling == Scaling::plain ? scale : here.unit[i];
      const D unit = Isa::all(margins ? -size : size);
      const double* const factor_row = factor[side[i]];
      const double others = loss == Loss::softmax ? here.others[i] : 0.0;
      D most = Isa::all(0.0);
      Q own = Isa::no_integers();
      for (int v = 0; v < vectors; ++v) {
        D e = outputs.load(e_row, v);
        if constexpr (loss != Loss::softmax) {
          e = moved(e, outputs.load(factor_row, v));
          outputs.store(e_row, v, e);
        }
        most = v == 0 ? e : Isa::larger(most, e);
        Q q = Isa::to_integers(Isa::mul(weight_of<loss>(e, others), unit));
        if constexpr (scaling != Scaling::plain) {
          q = Isa::times(q, Isa::all_integers(here.copies[i]));
        }
        if constexpr (margins) {
          own = v == 0 ? q : Isa::plus(own, q);
        } else {
          q = Isa::times(q, sign[v]);
        }
        total[v] = Isa::plus(total[v], q);
        Isa::store_integers(g_row[v * width / 16] + v * width % 16, room, q);
      }
      for (std::int32_t*& g : g_row) g += lanes;
      outcome.wrong[i] |= Isa::any_at_least_one(most);
      if constexpr (margins) {
        outcome.own[i] = outputs.first == 0 ? own : Isa::plus(outcome.own[i], own);
      }
    }
    for (int v = 0; v < vectors; ++v) {
      std::int32_t* to = totals + outputs.first + v * width;
      Isa::store_integers(to, room, Isa::plus(total[v], Isa::load_integers(to, room)));
    }
  }

  template <Loss loss, Scaling scaling>
  static std::int64_t advance_scaled(const RowArrays& rows, RowSpan span, Factors factors,
                                     double scale, std::int32_t* totals) {
    std::int64_t errors = 0;
    for (std::int64_t begin = span.begin; begin < span.end; begin += block) {
      Block<std::int32_t> here(rows, begin, span.end, scale, scaling != Scaling::plain);
      if constexpr (loss == Loss::softmax) move_block(rows, factors, true, here);
      Outcome outcome;
      visit_outputs<4>(rows.n_outputs, [&](auto outputs) {
        advance_outputs<loss, scaling>(rows, here, outputs, span.label, factors, scale, outcome,
                                       totals);
      });
      for (int i = 0; i < here.count; ++i) {
        const std::int32_t times = scaling == Scaling::plain ? 1 : here.copies[i];
        errors += outcome.wrong[i] ? times : 0;
      }
      if constexpr (scaling != Scaling::coded) set_own(rows, span.label, here, outcome, totals);
    }
    return errors;
  }

  static void set_own(const RowArrays& rows, int label, const Block<std::int32_t>& here,
                      Outcome& outcome, std::int32_t* totals) {
    const std::int64_t lanes = rows.lanes.lanes;
    std::int32_t* g =
        rows.direction + ((label / lanes) * rows.n_rows + here.begin) * lanes + label % lanes;
    std::int32_t total = 0;
    for (int i = here.count; i % 4 != 0; ++i) outcome.own[i] = Isa::no_integers();
    for (int i = 0; i < here.count; i += 4) {
      std::int32_t own[4];
      Isa::sum_four(outcome.own + i, own);
      for (int j = 0; j < 4 && i + j < here.count; ++j, g += lanes) {
        *g = -own[j];
        total -= own[j];
      }
    }
    totals[label] += total;
  }

  template <Loss loss>
  static std::int64_t advance_loss(const RowArrays& rows, RowSpan span, Factors factors,
                                   double scale, std::int32_t* totals) {
    if (!rows.margins) {
      return advance_scaled<loss, Scaling::coded>(rows, span, factors, scale, totals);
    }
    if (rows.weight || rows.multiplicity) {
      return advance_scaled<loss, Scaling::weighted>(rows, span, factors, scale, totals);
    }
    return advance_scaled<loss, Scaling::plain>(rows, span, factors, scale, totals);
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

  // ---- sums ------------------------------------------------------------------------------------

  // Sums over both sides and over side 1 alone; side 0 is the difference.
  struct TwoSums {
    W all = Isa::no_words(), one = Isa::no_words();

    template <bool weighted>
    void add(D value, double unit, double copies, typename Isa::Side side) {
      D x = Isa::mul(value, Isa::all(unit));
      if constexpr (weighted) x = Isa::mul(Isa::round(x), Isa::all(copies));
      const W rounded = Isa::to_words(x);
      all = Isa::plus_words(all, rounded);
      one = Isa::plus_words_if(side, one, rounded);
    }
    // Whole numbers below 2^51, which doubles hold and add exactly.
    template <class Some>
    void store(double* sums, std::int64_t stride, const Some& outputs, int v) const {
      const D on_one = Isa::from_words(one);
      const D on_zero = Isa::sub(Isa::from_words(all), on_one);
      outputs.store(sums, v, Isa::add(outputs.load(sums, v), on_zero));
      outputs.store(sums + stride, v, Isa::add(outputs.load(sums + stride, v), on_one));
    }
  };

  /// What a sum needs beside the rows.
  struct Sums {
    Factors factors;
    double scale;
    double* first;
    double* second;  ///< the curvature, where it is asked for
    std::int64_t stride;
  };

  template <Loss loss, bool second_order, bool weighted, bool moves, class Some>
  static void sum_outputs(const RowArrays& rows, const Block<double>& here, const Some& outputs,
                          const Sums& out) {
    constexpr int vectors = Some::count;
    const std::int64_t k = rows.n_outputs;
    const std::uint8_t* side = rows.side + here.begin;
    const double* e_row = rows.exponentials + here.begin * k;
    TwoSums first[vectors], second[vectors];
    for (int i = 0; i < here.count; ++i, e_row += k) {
      const double unit = weighted ? here.unit[i] : out.scale;
      const double copies = weighted ? here.copies[i] : 1.0;
      const double others = loss == Loss::softmax ? here.others[i] : 0.0;
      const auto on_one = Isa::side(side[i]);
      for (int v = 0; v < vectors; ++v) {
        D e = outputs.load(e_row, v);
        if constexpr (moves) {
          e = moved(e, outputs.load(out.factors.values + side[i] * out.factors.stride, v));
        }
        const D u = weight_of<loss>(e, others);
        first[v].template add<weighted>(u, unit, copies, on_one);
        if constexpr (second_order) {
          const D bend = Isa::mul(u, Isa::sub(Isa::all(1.0), u));
          second[v].template add<weighted>(bend, unit, copies, on_one);
        }
      }
    }
    for (int v = 0; v < vectors; ++v) {
      first[v].store(out.first, out.stride, outputs, v);
      if constexpr (second_order) second[v].store(out.second, out.stride, outputs, v);
    }
  }

  template <Loss loss, bool second_order, bool weighted>
  static void sum_weighted(const RowArrays& rows, RowSpan span, const Sums& out) {
    for (std::int64_t begin = span.begin; begin < span.end; begin += block) {
      Block<double> here(rows, begin, span.end, out.scale, weighted);
      if constexpr (loss == Loss::softmax) move_block(rows, out.factors, false, here);
      // Two kinds of sums need twice the registers.
      visit_outputs<second_order ? 2 : 4>(rows.n_outputs, [&](auto outputs) {
        if (out.factors.values) {
          sum_outputs<loss, second_order, weighted, true>(rows, here, outputs, out);
        } else {
          sum_outputs<loss, second_order, weighted, false>(rows, here, outputs, out);
        }
      });
    }
  }

  template <Loss loss, bool second_order>
  static void sum_loss(const RowArrays& rows, RowSpan span, const Sums& out) {
    if (rows.weight || rows.multiplicity) {
      sum_weighted<loss, second_order, true>(rows, span, out);
    } else {
      sum_weighted<loss, second_order, false>(rows, span, out);
    }
  }

  static void sum(const RowArrays& rows, RowSpan span, Factors factors, double scale, double* sums,
                  double* curvature, std::int64_t stride) {
    const Sums out{factors, scale, sums, curvature, stride};
    if (rows.loss == Loss::exponential) {
      sum_loss<Loss::exponential, false>(rows, span, out);
    } else if (rows.loss == Loss::softmax) {
      sum_loss<Loss::softmax, false>(rows, span, out);
    } else if (curvature == nullptr) {
      sum_loss<Loss::logistic, false>(rows, span, out);
    } else {
      sum_loss<Loss::logistic, true>(rows, span, out);
    }
  }
};

}  // namespace marginboost
