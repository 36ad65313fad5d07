// Steps of a tree's leaves under which differences of two classes' scores rise, or fall, with a feature.
//
// Whole numbers throughout, so that every engine and machine gets the same.
#pragma once

#include <cstdint>
#include <span>

namespace marginboost {

/// A binary tree: its divided nodes first, then its leaves. Children come after their parents.
struct TreeShape {
  std::span<const std::int64_t> left;
  std::span<const std::int64_t> right;
};

/// Pairs of classes a and b, whose difference is that of a's score less b's; as a graph of classes.
struct MonotonePairs {
  std::span<const std::int64_t> pairs;       ///< a, b of each
  std::span<const std::int64_t> edges;       ///< a pair, a class reached before, one reached by it
  std::span<const std::int64_t> components;  ///< the classes that pairs connect, one after the other
  std::span<const std::int64_t> begins;      ///< where each component begins, and the end
  bool has_cycle = false;                    ///< whether some pairs are not among the edges
  std::int64_t n_classes = 0;
};

/// Write the sums of the leaves below each divided node; rows of `width` numbers, nodes then leaves.
void sum_nodes(const TreeShape& tree, std::int64_t width, std::span<double> sums);

/// Move the vectors of nodes and leaves until the tree is monotone.
///
/// `signs` has a row per divided node: +1 where a pair's difference must not fall from the left side
/// to the right, -1 where it must not rise, else 0. `wanted` holds a vector per node and leaf.
void keep_monotone(const TreeShape& tree, const MonotonePairs& rules,
                   std::span<const std::int8_t> signs, std::span<std::int64_t> wanted);

}  // namespace marginboost
