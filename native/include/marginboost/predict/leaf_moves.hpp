// How rows find their leaves without walking: every node is asked once, for many rows at a time.
#pragma once

#include <cstdint>
#include <vector>

#include "marginboost/predict/ensemble_view.hpp"
#include "marginboost/predict/ranks.hpp"
#include "marginboost/predict/score_kernels.hpp"

namespace marginboost {

/// All nodes of each tree, in an order in which parents come before their children. A row begins in
/// the tree's leftmost leaf. A node stands for the leftmost leaf below it and moves the rows that are
/// there, and that go right, to the leftmost leaf of its right side. After the last node every row
/// is in its leaf. A node costs a few vector operations for as many rows as a vector has bytes, and
/// nothing is ever mispredicted; a walk takes fewer steps, each of them longer.
template <class Rank>
class LeafMoves {
 public:
  /// Whether every tree is a proper one (no node or leaf has two parents), of few enough leaves.
  static bool can_do(const EnsembleView& view, const Ranks& ranks);

  /// Unchecked: can_do must hold.
  LeafMoves(const EnsembleView& view, const Ranks& ranks);

  /// The leaf of each of n rows in `tree`, by the ranks: kRowsAtOnce a column. Points into `ranks`
  /// where the leaves are a column of it, otherwise to `leaves`, which has room for n.
  const Rank* find(std::int64_t tree, const Rank* ranks, int n, Rank* leaves) const;

  /// The number of moves of the trees first to last - 1.
  std::int64_t n_moves(std::int64_t first, std::int64_t last) const;

 private:
  struct Tree {
    std::int64_t first;    // of its moves
    std::int32_t n_moves;
    std::int32_t column;   // whose ranks are the leaves; -1: find them by moves
    Rank root;
  };
  std::vector<Move<Rank>> moves_;
  std::vector<Tree> trees_;
};

}  // namespace marginboost
