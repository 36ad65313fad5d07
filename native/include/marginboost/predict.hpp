// Prediction: the scores of an ensemble of weak classifiers on raw values.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "marginboost/matrix_view.hpp"

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

/// Its own, checked copy of an ensemble: nothing that happens to the arrays later can lead it
/// astray, so adding scores checks sizes only.
class Predictor {
 public:
  /// Throws std::invalid_argument unless every size, index and value of the view is sound.
  explicit Predictor(const EnsembleView& view);

  std::int64_t n_rounds() const { return static_cast<std::int64_t>(round_offsets_.size()) - 1; }
  std::int64_t n_classes() const { return n_classes_; }
  std::int64_t n_features() const { return n_features_; }

  /// scores(i, r) += value * vector[r] of the leaf that row i reaches, for every tree of the rounds
  /// first_round, ..., last_round - 1, one after the other: each score is the same sum in the same
  /// order whatever the threads and blocks are. Zeros of a vector may be skipped, which no score
  /// can tell from their addition but -0.0; sums that began with 0.0 never are that. Throws
  /// std::invalid_argument where sizes do not fit.
  template <class T>  // float, double
  void add_scores(const MatrixView<T>& x, std::int64_t first_round, std::int64_t last_round,
                  int n_threads, std::span<double> scores) const;

 private:
  struct Node {
    double threshold;
    std::int32_t feature;
    std::int32_t left;
    std::int32_t right;
  };

  /// A vector is zero outside the classes begin to end - 1.
  struct Support {
    std::int64_t begin;
    std::int64_t end;
  };

  /// Some rows of X, beginning with `data`.
  template <class T>
  struct Rows {
    const T* data;
    std::int64_t count;
    std::int64_t row_stride;
    std::int64_t column_stride;
  };

  /// out[i] = of(the leaf that row i reaches in the tree, counted from its first one).
  template <class T, class Of, class Out>
  void walk(const Rows<T>& rows, std::int64_t tree, Of of, Out* out) const;

  /// N trees from `tree` on, each of which has one vector for all its leaves. `block` holds
  /// kBlockRows scores a class.
  template <std::int64_t N, class T>
  void add_shared(const Rows<T>& rows, std::int64_t tree, double* block) const;

  /// Any tree. `scores` holds n_classes scores a row.
  template <class T>
  void add_any(const Rows<T>& rows, std::int64_t tree, double* scores) const;

  std::int64_t n_classes_;
  std::int64_t n_features_;
  std::vector<double> vectors_;
  std::vector<Support> supports_;  // of each vector
  std::vector<std::int64_t> round_offsets_;
  std::vector<Node> nodes_;
  std::vector<std::int64_t> node_offsets_;
  std::vector<std::int32_t> leaf_vector_;
  std::vector<double> leaf_value_;
  std::vector<std::int64_t> leaf_offsets_;
  std::vector<char> is_shared_;  // whether all leaves of a tree have the same vector
};

}  // namespace marginboost
