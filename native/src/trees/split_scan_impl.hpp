// The best split of one node and feature, from its histogram. Included as kernels_impl.hpp is.
#pragma once

#include <cstdint>

#include "marginboost/trees/kernels.hpp"

namespace marginboost {

template <class Isa>
struct SplitScanOf {
  static constexpr int kBinsAtOnce = 16;
  // So few are faster one by one; the sums have the same order.
  static constexpr int kFewBins = 6;

  // Some bins' sums of squares on both sides, masses and counts on the left.
  struct Sides {
    alignas(64) float left[kBinsAtOnce], right[kBinsAtOnce];
    alignas(64) std::int32_t mass[kBinsAtOnce], count[kBinsAtOnce];
  };

  // The first of the best bins, if it is better than the best so far; -1 if it is not.
  static int judge(const SplitScan& scan, const Sides& sides, SplitFound& best) {
    const std::int32_t all_mass = scan.total[scan.slots.mass_lane()];
    const std::int32_t all_count = scan.total[scan.slots.count_lane()];
    alignas(64) float score[kBinsAtOnce];
    for (int b = 0; b < kBinsAtOnce; ++b) {
      const float both =
          sides.left[b] / (static_cast<float>(sides.mass[b]) + scan.smoothing) +
          sides.right[b] / (static_cast<float>(all_mass - sides.mass[b]) + scan.smoothing);
      const bool enough = sides.count[b] >= scan.least_count &&
                          all_count - sides.count[b] >= scan.least_count;
      score[b] = enough ? both : -1.0F;
    }
    float most = best.score;
    for (int b = 0; b < kBinsAtOnce; ++b) most = score[b] > most ? score[b] : most;
    if (!(most > best.score)) return -1;
    best.score = most;
    int first = 0;
    while (score[first] != most) ++first;
    return first;
  }

  // The squares of the classes' lanes; the last two lanes are mass and count.
  template <class V>
  static typename V::F squares(typename V::I sums) {
    const auto v = V::class_floats(sums);
    return V::mul(v, v);
  }

  template <int lanes, bool listed>
  static SplitFound scan_lanes(const SplitScan& scan) {
    using V = typename Isa::template Vec<lanes>;
    using F = typename V::F;
    using I = typename V::I;
    alignas(64) static constexpr std::int32_t nothing[lanes] = {};
    const I total = V::load_integers(scan.total);
    I prefix = V::no_integers();
    std::int32_t mass = 0, count = 0;
    SplitFound best;
    const std::int64_t n_bins = listed ? scan.n_listed : scan.n_bins;
    if (n_bins <= kFewBins) {
      for (std::int64_t b = 0; b + 1 < n_bins; ++b) {
        const std::int64_t bin = listed ? std::int64_t{scan.listed[b]} : b;
        const std::int32_t* add = scan.hist + bin * lanes;
        prefix = V::plus(prefix, V::load_integers(add));
        mass += add[lanes - 2];
        count += add[lanes - 1];
        if (count < scan.least_count ||
            scan.total[lanes - 1] - count < scan.least_count) continue;
        const float score =
            V::sum(squares<V>(prefix)) / (static_cast<float>(mass) + scan.smoothing) +
            V::sum(squares<V>(V::minus(total, prefix))) /
                (static_cast<float>(scan.total[lanes - 2] - mass) + scan.smoothing);
        if (score > best.score) best = {bin, score};
      }
      return best;
    }
    Sides sides;
    for (std::int64_t first = 0; first < n_bins; first += kBinsAtOnce) {
      const auto step = [&](int b, F& left, F& right) {
        // Past the end nothing is added: the same split once more, which is not better than itself.
        const std::int32_t* add = nothing;
        if (first + b < n_bins) {
          add = scan.hist + (listed ? std::int64_t{scan.listed[first + b]} : first + b) * lanes;
        }
        prefix = V::plus(prefix, V::load_integers(add));
        sides.mass[b] = mass += add[lanes - 2];
        sides.count[b] = count += add[lanes - 1];
        left = squares<V>(prefix);
        right = squares<V>(V::minus(total, prefix));
      };
      // Two bins' sums are halved into one vector as soon as they are there, so that all stay in
      // registers.
      typename V::Halves left[kBinsAtOnce / 2], right[kBinsAtOnce / 2];
      for (int q = 0; q < kBinsAtOnce / 2; ++q) {
        F left_one, right_one, left_two, right_two;
        step(2 * q, left_one, right_one);
        step(2 * q + 1, left_two, right_two);
        left[q] = V::halve(left_one, left_two);
        right[q] = V::halve(right_one, right_two);
      }
      V::finish_sums(left, sides.left);
      V::finish_sums(right, sides.right);
      const int found = judge(scan, sides, best);
      if (found >= 0) best.bin = listed ? scan.listed[first + found] : first + found;
    }
    return best;
  }

  static SplitFound scan(const SplitScan& scan) {
    if (scan.listed) {
      return scan.slots.lanes == 8 ? scan_lanes<8, true>(scan) : scan_lanes<16, true>(scan);
    }
    return scan.slots.lanes == 8 ? scan_lanes<8, false>(scan) : scan_lanes<16, false>(scan);
  }
};

}  // namespace marginboost
