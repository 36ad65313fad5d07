// The kernels of vector-leaf trees, written once over the vectors of `Isa`. Included by one file an
// instruction set. Isa::Vec<lanes> gives vectors of floats (F) and of int32 (I).
#pragma once

#include <cmath>
#include <cstdint>
#include <utility>

#include "marginboost/vector_kernels.hpp"

namespace marginboost {

template <class Isa>
struct VectorKernelsOf {
  // ---- rows ------------------------------------------------------------------------------------

  static std::int32_t rounded(float value) { return static_cast<std::int32_t>(std::lrintf(value)); }

  template <class V, Loss loss>
  static typename V::F weight_of(typename V::F e, float others) {
    if constexpr (loss == Loss::exponential) {
      return e;
    } else if constexpr (loss == Loss::logistic) {
      return V::div(e, V::add(V::all(1.0F), e));
    } else {
      return V::div(e, V::all(1.0F + others));
    }
  }

  template <class V>
  static float sum_of_row(const float* e, int tiles, int lanes) {
    typename V::F sum = V::load(e);
    for (int t = 1; t < tiles; ++t) sum = V::add(sum, V::load(e + t * lanes));
    return V::sum(sum);
  }

  template <int lanes, Loss loss, int folds>
  static std::int64_t advance_fixed(const VectorRows& rows, std::int64_t begin, std::int64_t end,
                                    int label, const VectorStep& step) {
    using V = typename Isa::template Vec<lanes>;
    using F = typename V::F;
    const int tiles = rows.slots.tiles, padded = rows.slots.padded();
    const int own = rows.slots.folded(label);
    const float own_sign = step.signs[rows.slots.of_class(label)];
    const bool weighted = rows.weight || rows.multiplicity;
    std::int64_t wrong = 0;
    for (std::int64_t i = begin; i < end; ++i) {
      float* e_row = rows.exponentials + i * padded;
      const float* up = step.up + std::int64_t{rows.leaf[i]} * padded;
      const F down = V::all(step.down[rows.leaf[i] * step.down_stride]);
      F most = V::all(0.0F);
      for (int t = 0; t < tiles; ++t) {
        const F factor = V::mul(V::load(up + t * lanes), down);
        const F e = V::min(V::max(V::mul(V::load(e_row + t * lanes), factor),
                                  V::load(step.floors + t * lanes)),
                           V::all(kLargestRatio));
        V::store(e_row + t * lanes, e);
        most = V::max(most, e);
      }
      const float others = loss == Loss::softmax ? sum_of_row<V>(e_row, tiles, lanes) : 0.0F;
      F sum = V::all(0.0F);
      F folded[folds];
      for (F& fold : folded) fold = V::all(0.0F);
      for (int t = 0; t < tiles; ++t) {
        const F u = weight_of<V, loss>(V::load(e_row + t * lanes), others);
        const F signed_u = V::mul(u, V::load(step.signs + t * lanes));
        sum = V::add(sum, u);
        const int fold = folds == 1 ? 0 : t % folds;
        folded[fold] = V::add(folded[fold], signed_u);
      }
      const float mass = V::sum(sum);
      const float weight = rows.weight ? rows.weight[i] : 1.0F;
      const std::int32_t copies = rows.multiplicity ? rows.multiplicity[i] : 1;
      const F unit = V::all(-step.scale * weight);
      std::int32_t* g = rows.direction + i * (lanes * folds);
      for (int fold = 0; fold < folds; ++fold) {
        auto q = V::to_integers(V::mul(folded[fold], unit));
        if (weighted) q = V::times(q, copies);
        V::store_integers(g + fold * lanes, q);
      }
      g[own] += rounded(own_sign * mass * (step.scale * weight)) * copies;
      g[lanes - 2] = rounded(mass * (step.mass_scale * weight)) * copies;
      g[lanes - 1] = copies;
      wrong += V::any_at_least_one(most) ? copies : 0;
    }
    return wrong;
  }

  template <int lanes, Loss loss>
  static std::int64_t advance_loss(const VectorRows& rows, std::int64_t begin, std::int64_t end,
                                   int label, const VectorStep& step) {
    switch (rows.slots.folds) {
      case 1: return advance_fixed<lanes, loss, 1>(rows, begin, end, label, step);
      case 2: return advance_fixed<lanes, loss, 2>(rows, begin, end, label, step);
      case 3: return advance_fixed<lanes, loss, 3>(rows, begin, end, label, step);
      default: return advance_fixed<lanes, loss, 4>(rows, begin, end, label, step);
    }
  }

  template <int lanes>
  static std::int64_t advance_lanes(const VectorRows& rows, std::int64_t begin, std::int64_t end,
                                    int label, const VectorStep& step) {
    switch (rows.loss) {
      case Loss::exponential:
        return advance_loss<lanes, Loss::exponential>(rows, begin, end, label, step);
      case Loss::logistic:
        return advance_loss<lanes, Loss::logistic>(rows, begin, end, label, step);
      default: return advance_loss<lanes, Loss::softmax>(rows, begin, end, label, step);
    }
  }

  static std::int64_t advance(const VectorRows& rows, std::int64_t begin, std::int64_t end,
                              int label, const VectorStep& step) {
    return rows.slots.lanes == 8 ? advance_lanes<8>(rows, begin, end, label, step)
                                 : advance_lanes<16>(rows, begin, end, label, step);
  }

  template <int lanes, Loss loss>
  static void leaf_sums_loss(const VectorRows& rows, std::int64_t begin, std::int64_t end,
                             double scale, std::int32_t* against, double* own) {
    using V = typename Isa::template Vec<lanes>;
    using F = typename V::F;
    const int tiles = rows.slots.tiles, padded = rows.slots.padded();
    const auto narrow = static_cast<float>(scale);
    for (std::int64_t i = begin; i < end; ++i) {
      const float* e_row = rows.exponentials + i * padded;
      std::int32_t* sums = against + std::int64_t{rows.leaf[i]} * padded;
      const float weight = rows.weight ? rows.weight[i] : 1.0F;
      const std::int32_t copies = rows.multiplicity ? rows.multiplicity[i] : 1;
      const F unit = V::all(narrow * weight);
      const float others = loss == Loss::softmax ? sum_of_row<V>(e_row, tiles, lanes) : 0.0F;
      F sum = V::all(0.0F);
      for (int t = 0; t < tiles; ++t) {
        const F u = weight_of<V, loss>(V::load(e_row + t * lanes), others);
        sum = V::add(sum, u);
        auto q = V::to_integers(V::mul(u, unit));
        if (copies != 1) q = V::times(q, copies);
        std::int32_t* to = sums + t * lanes;
        V::store_integers(to, V::plus(V::load_integers(to), q));
      }
      const double mass = static_cast<double>(V::sum(sum)) * (scale * static_cast<double>(weight));
      own[rows.leaf[i]] += std::nearbyint(mass) * static_cast<double>(copies);
    }
  }

  template <int lanes>
  static void leaf_sums_lanes(const VectorRows& rows, std::int64_t begin, std::int64_t end,
                              double scale, std::int32_t* against, double* own) {
    switch (rows.loss) {
      case Loss::exponential:
        return leaf_sums_loss<lanes, Loss::exponential>(rows, begin, end, scale, against, own);
      case Loss::logistic:
        return leaf_sums_loss<lanes, Loss::logistic>(rows, begin, end, scale, against, own);
      default: return leaf_sums_loss<lanes, Loss::softmax>(rows, begin, end, scale, against, own);
    }
  }

  static void leaf_sums(const VectorRows& rows, std::int64_t begin, std::int64_t end, double scale,
                        std::int32_t* against, double* own) {
    if (rows.slots.lanes == 8) {
      leaf_sums_lanes<8>(rows, begin, end, scale, against, own);
    } else {
      leaf_sums_lanes<16>(rows, begin, end, scale, against, own);
    }
  }

  // ---- histograms ------------------------------------------------------------------------------

  template <int lanes, int folds, int features, class Bin>
  static void add_rows_fixed(const std::int32_t* direction, const std::uint32_t* order,
                             std::int64_t begin, std::int64_t n, const Bin* const* bins,
                             std::int32_t* const* hist) {
    using V = typename Isa::template Vec<lanes>;
    constexpr int cell = lanes * folds;
    constexpr std::int64_t ahead = 12;
    const Bin* b[features];
    std::int32_t* h[features];
    for (int f = 0; f < features; ++f) {
      b[f] = bins[f];
      h[f] = hist[f];
    }
    const auto add_row = [&](std::int64_t row) {
      typename V::I g[folds];
      for (int t = 0; t < folds; ++t) g[t] = V::load_integers(direction + row * cell + t * lanes);
      for (int f = 0; f < features; ++f) {
        std::int32_t* to = h[f] + static_cast<std::int64_t>(b[f][row]) * cell;
        for (int t = 0; t < folds; ++t) {
          V::store_integers(to + t * lanes, V::plus(V::load_integers(to + t * lanes), g[t]));
        }
      }
    };
    if (order == nullptr) {
      for (std::int64_t i = begin; i < begin + n; ++i) add_row(i);
      return;
    }
    // A row's direction may be far away; by the time that it is needed it has come.
    std::int64_t i = 0;
    for (; i + ahead < n; ++i) {
      Isa::prefetch(direction + std::int64_t{order[i + ahead]} * cell);
      add_row(order[i]);
    }
    for (; i < n; ++i) add_row(order[i]);
  }

  template <int lanes, int folds, class Bin>
  static void add_rows_folds(const std::int32_t* direction, const std::uint32_t* order,
                             std::int64_t begin, std::int64_t n, const Bin* const* bins,
                             int n_features, std::int32_t* const* hist) {
    int f = 0;
    for (; f + 4 <= n_features; f += 4) {
      add_rows_fixed<lanes, folds, 4>(direction, order, begin, n, bins + f, hist + f);
    }
    for (; f + 2 <= n_features; f += 2) {
      add_rows_fixed<lanes, folds, 2>(direction, order, begin, n, bins + f, hist + f);
    }
    if (f < n_features) {
      add_rows_fixed<lanes, folds, 1>(direction, order, begin, n, bins + f, hist + f);
    }
  }

  template <int lanes, class Bin>
  static void add_rows_lanes(const std::int32_t* direction, const Slots& slots,
                             const std::uint32_t* order, std::int64_t begin, std::int64_t n,
                             const Bin* const* bins, int n_features, std::int32_t* const* hist) {
    switch (slots.folds) {
      case 1:
        return add_rows_folds<lanes, 1>(direction, order, begin, n, bins, n_features, hist);
      case 2:
        return add_rows_folds<lanes, 2>(direction, order, begin, n, bins, n_features, hist);
      case 3:
        return add_rows_folds<lanes, 3>(direction, order, begin, n, bins, n_features, hist);
      default:
        return add_rows_folds<lanes, 4>(direction, order, begin, n, bins, n_features, hist);
    }
  }

  template <class Bin>
  static void add_rows(const std::int32_t* direction, const Slots& slots,
                       const std::uint32_t* order, std::int64_t begin, std::int64_t n,
                       const Bin* const* bins, int n_features, std::int32_t* const* hist) {
    if (slots.lanes == 8) {
      add_rows_lanes<8>(direction, slots, order, begin, n, bins, n_features, hist);
    } else {
      add_rows_lanes<16>(direction, slots, order, begin, n, bins, n_features, hist);
    }
  }

  // ---- split search ----------------------------------------------------------------------------

  static constexpr int kBinsAtOnce = 16;

  // Some bins' sums of squares, masses and counts, of both sides.
  struct Sides {
    alignas(64) float left[kBinsAtOnce], right[kBinsAtOnce];
    alignas(64) float left_mass[kBinsAtOnce], right_mass[kBinsAtOnce];
    alignas(64) std::int32_t left_count[kBinsAtOnce], right_count[kBinsAtOnce];
  };

  static void judge(const SplitScan& scan, const Sides& sides, std::int64_t first, int n,
                    SplitFound& best) {
    alignas(64) float score[kBinsAtOnce];
    for (int b = 0; b < kBinsAtOnce; ++b) {
      const float both = sides.left[b] / (sides.left_mass[b] + scan.smoothing) +
                         sides.right[b] / (sides.right_mass[b] + scan.smoothing);
      const bool enough = sides.left_count[b] >= scan.least_count &&
                          sides.right_count[b] >= scan.least_count;
      score[b] = enough ? both : -1.0F;
    }
    float most = best.score;
    for (int b = 0; b < kBinsAtOnce; ++b) most = score[b] > most ? score[b] : most;
    if (!(most > best.score)) return;
    for (int b = 0; b < n; ++b) {
      if (score[b] == most) {
        best = {first + b, most};
        return;
      }
    }
  }

  template <int lanes, int folds>
  static SplitFound scan_fixed(const SplitScan& scan) {
    using V = typename Isa::template Vec<lanes>;
    using F = typename V::F;
    using I = typename V::I;
    constexpr int cell = lanes * folds;
    I total[folds], prefix[folds];
    F metric[folds];
    for (int t = 0; t < folds; ++t) {
      total[t] = V::load_integers(scan.total + t * lanes);
      prefix[t] = V::no_integers();
      metric[t] = V::load(scan.metric + t * lanes);
    }
    const auto squares = [&](const I* sums) {
      F sum = V::all(0.0F);
      for (int t = 0; t < folds; ++t) {
        const F v = V::mul(V::to_floats(sums[t]), metric[t]);
        sum = t == 0 ? V::mul(v, v) : V::add(sum, V::mul(v, v));
      }
      return sum;
    };
    SplitFound best;
    const std::int64_t last = scan.n_bins - 1;
    Sides sides;
    for (std::int64_t first = 0; first < last; first += kBinsAtOnce) {
      const int n = static_cast<int>(last - first < kBinsAtOnce ? last - first : kBinsAtOnce);
      F left[kBinsAtOnce], right[kBinsAtOnce];
      for (int b = 0; b < kBinsAtOnce; ++b) {
        if (b >= n) {  // the rest repeat the last one, and can't be better than it
          left[b] = left[n - 1];
          right[b] = right[n - 1];
          continue;
        }
        I rest[folds];
        for (int t = 0; t < folds; ++t) {
          prefix[t] = V::plus(prefix[t], V::load_integers(scan.hist + (first + b) * cell + t * lanes));
          rest[t] = V::minus(total[t], prefix[t]);
        }
        left[b] = squares(prefix);
        right[b] = squares(rest);
        alignas(64) std::int32_t of_left[lanes], of_right[lanes];
        V::store_integers(of_left, prefix[0]);
        V::store_integers(of_right, rest[0]);
        sides.left_mass[b] = static_cast<float>(of_left[lanes - 2]);
        sides.right_mass[b] = static_cast<float>(of_right[lanes - 2]);
        sides.left_count[b] = of_left[lanes - 1];
        sides.right_count[b] = of_right[lanes - 1];
      }
      for (int b = n; b < kBinsAtOnce; ++b) {
        sides.left_mass[b] = sides.right_mass[b] = 1.0F;
        sides.left_count[b] = sides.right_count[b] = -1;
      }
      V::sum_sixteen(left, sides.left);
      V::sum_sixteen(right, sides.right);
      judge(scan, sides, first, n, best);
    }
    return best;
  }

  template <int lanes>
  static SplitFound scan_lanes(const SplitScan& scan) {
    switch (scan.slots.folds) {
      case 1: return scan_fixed<lanes, 1>(scan);
      case 2: return scan_fixed<lanes, 2>(scan);
      case 3: return scan_fixed<lanes, 3>(scan);
      default: return scan_fixed<lanes, 4>(scan);
    }
  }

  static SplitFound scan(const SplitScan& scan) {
    return scan.slots.lanes == 8 ? scan_lanes<8>(scan) : scan_lanes<16>(scan);
  }

  static constexpr VectorKernels table() {
    return VectorKernels{&advance, &leaf_sums, &add_rows<std::uint8_t>, &add_rows<std::uint16_t>,
                         &scan};
  }
};

}  // namespace marginboost
