// The loops of prediction in plain C++, for the compiler to vectorise. Included by one file an
// instruction set; `Isa` keeps their versions apart.
#pragma once

#include <algorithm>
#include <cstdint>

#include "marginboost/predict/score_kernels.hpp"

namespace marginboost {

template <class Isa, class Rank>
struct RankKernelsOf {
  template <class Key>
  static void rank(const Key* keys, int n, Ladder<Key> ladder, Rank* ranks) {
    for (int first = 0; first < n; first += kRowsTogether) {
      std::int32_t found[kRowsTogether] = {};
      for (std::int32_t step = 1 << ladder.levels >> 1; step > 0; step >>= 1) {
        const Key* thresholds = ladder.thresholds + step - 1;
        for (int i = 0; i < kRowsTogether; ++i)
          found[i] += keys[first + i] <= thresholds[found[i]] ? 0 : step;
      }
      for (int i = 0; i < kRowsTogether; ++i)
        ranks[first + i] = static_cast<Rank>(std::min(found[i], ladder.count));
    }
  }

  static void find_leaves(const Move<Rank>* moves, std::int64_t n_moves, Rank root,
                          const Rank* ranks, int n, Rank* leaves) {
    std::fill(leaves, leaves + n, root);
    for (std::int64_t q = 0; q < n_moves; ++q) {
      const Move<Rank> move = moves[q];
      const Rank* column = ranks + std::int64_t{move.column} * kRowsAtOnce;
      for (int i = 0; i < n; ++i) {
        const bool moves_on = (leaves[i] == move.here) & (column[i] >= move.least);
        leaves[i] = moves_on ? move.there : leaves[i];
      }
    }
  }

  template <int width>
  static void add_width(const PanelSum<Rank>& sum) {
    for (std::int64_t i = 0; i < sum.n_rows; ++i) {
      double* scores = sum.scores + i * width;
      double total[width];
      for (int r = 0; r < width; ++r) total[r] = scores[r];
      for (std::int64_t tree = 0; tree < sum.n_trees; ++tree) {
        const double* vector = sum.vectors[tree] + std::int64_t{sum.leaves[tree][i]} * width;
        for (int r = 0; r < width; ++r) total[r] += vector[r];
      }
      for (int r = 0; r < width; ++r) scores[r] = total[r];
    }
  }

  static void add(const PanelSum<Rank>& sum) {
    if (sum.width == 4) {
      add_width<4>(sum);
    } else {
      add_width<8>(sum);
    }
  }

  static constexpr RankKernels<Rank> table() {
    return {&rank<float>, &rank<double>, &find_leaves, &add};
  }
};

template <class Isa>
constexpr ScoreKernels score_kernels_of() {
  return {RankKernelsOf<Isa, std::uint8_t>::table(), RankKernelsOf<Isa, std::uint16_t>::table()};
}

}  // namespace marginboost
