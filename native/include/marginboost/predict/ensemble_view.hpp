// An ensemble in flat arrays that someone else owns.
#pragma once

#include <cstdint>
#include <span>

namespace marginboost {

/// An ensemble in flat arrays, unchecked. A row that reaches a leaf gets the leaf's value times the
/// leaf's vector added to its scores. The trees of round t are round_offsets[t] to
/// round_offsets[t + 1] - 1; the internal nodes of tree j are node_offsets[j] to
/// node_offsets[j + 1] - 1, its leaves likewise by leaf_offsets. A child >= 0 is a node, counted
/// from the tree's first one; a child < 0 is the leaf ~child. The root is node 0, or leaf 0 in a
/// tree without nodes.
struct EnsembleView {
  std::span<const double> vectors;  // vectors x classes
  std::int64_t n_classes;
  std::span<const std::int64_t> round_offsets;
  std::span<const std::int64_t> node_offsets;
  std::span<const std::int32_t> feature;
  std::span<const double> threshold;
  std::span<const std::int32_t> left;
  std::span<const std::int32_t> right;
  std::span<const std::int64_t> leaf_offsets;
  std::span<const std::int32_t> leaf_vector;
  std::span<const double> leaf_value;
  std::int64_t n_features;
};

/// Throws std::invalid_argument unless every size, index and value of the view is sound.
void check(const EnsembleView& view);

}  // namespace marginboost
