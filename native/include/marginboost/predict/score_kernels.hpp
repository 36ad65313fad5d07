// The inner loops of prediction, compiled once an instruction set and chosen at run time.
//
// All versions give the same bits: comparisons, and one sum a class and tree in the trees' order.
#pragma once

#include <cstdint>

#include "marginboost/predict/ranks.hpp"

namespace marginboost {

/// Rows that go through the trees together, as columns of ranks and of leaves.
inline constexpr int kRowsAtOnce = 256;

/// Work on rows is done in whole vectors: this many rows or a multiple.
inline constexpr int kRowsTogether = 64;

/// Rows that are in leaf `here` and have at least rank `least` in `column` move to leaf `there`.
template <class Rank>
struct Move {
  std::int32_t column;
  Rank least;
  Rank here;
  Rank there;
};

/// Some trees' leaf vectors, as far as a panel of up to kPanelClasses classes goes.
inline constexpr int kPanelClasses = 8;

template <class Rank>
struct PanelSum {
  const double* const* vectors;  ///< by tree: its first leaf's part; `width` doubles a leaf
  const Rank* const* leaves;     ///< by tree: the leaf of each row
  std::int64_t n_trees;
  int width;            ///< 4 or 8
  std::int64_t n_rows;
  double* scores;       ///< `width` a row
};

template <class Rank>
struct RankKernels {
  /// ranks[i] = the rank of keys[i]; n is a multiple of kRowsTogether.
  void (*rank_floats)(const float* keys, int n, Ladder<float> ladder, Rank* ranks);
  void (*rank_doubles)(const double* keys, int n, Ladder<double> ladder, Rank* ranks);
  /// leaves[i] = where the moves, one after the other, take a row that begins in `root`. `ranks`
  /// has kRowsAtOnce entries a column; n is a multiple of kRowsTogether.
  void (*find_leaves)(const Move<Rank>* moves, std::int64_t n_moves, Rank root, const Rank* ranks,
                      int n, Rank* leaves);
  /// scores[i, :] += the vector of row i's leaf, one tree after the other.
  void (*add)(const PanelSum<Rank>& sum);
};

struct ScoreKernels {
  RankKernels<std::uint8_t> narrow;
  RankKernels<std::uint16_t> wide;
  template <class Rank>
  const RankKernels<Rank>& of() const {
    if constexpr (sizeof(Rank) == 1) {
      return narrow;
    } else {
      return wide;
    }
  }
};

/// Those that go with kernels().
const ScoreKernels& score_kernels();

}  // namespace marginboost
