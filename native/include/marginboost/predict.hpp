// Prediction: the scores of an ensemble of weak classifiers on raw values.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "marginboost/matrix_view.hpp"

namespace marginboost {

/// An ensemble in flat arrays, unchecked. Internal nodes of weak classifier j are
/// node_offsets[j] to node_offsets[j + 1] - 1, its leaves likewise by leaf_offsets. A child >= 0 is
/// a node, counted from the tree's first one; a child < 0 is the leaf ~child. The root is node 0,
/// or leaf 0 in a tree without nodes.
struct EnsembleView {
  std::span<const double> coef;  // rounds x classes
  std::int64_t n_classes;
  std::span<const std::int64_t> node_offsets;
  std::span<const std::int32_t> feature;
  std::span<const double> threshold;
  std::span<const std::int32_t> left;
  std::span<const std::int32_t> right;
  std::span<const std::int64_t> leaf_offsets;
  std::span<const double> leaf_value;
  std::int64_t n_features;
};

/// Its own, checked copy of an ensemble: nothing that happens to the arrays later can lead it
/// astray, so adding scores checks sizes only.
class Predictor {
 public:
  /// Throws std::invalid_argument unless every size, index and value of the view is sound.
  explicit Predictor(const EnsembleView& view);

  std::int64_t n_rounds() const { return n_rounds_; }
  std::int64_t n_classes() const { return n_classes_; }
  std::int64_t n_features() const { return n_features_; }

  /// scores(i, r) += h_j(x_i) * coef(j, r) for j = first_round, ..., last_round - 1, one after the
  /// other: each score is the same sum in the same order whatever the threads and blocks are.
  /// Throws std::invalid_argument where sizes do not fit.
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

  template <class T>
  void weak_outputs(const MatrixView<T>& x, std::int64_t first_row, std::int64_t n_rows,
                    std::int64_t round, double* h) const;
  template <class T>
  void add_block(const MatrixView<T>& x, std::int64_t first_row, std::int64_t n_rows,
                 std::int64_t first_round, std::int64_t last_round, double* block) const;

  std::int64_t n_rounds_;
  std::int64_t n_classes_;
  std::int64_t n_features_;
  std::vector<double> coef_;
  std::vector<Node> nodes_;
  std::vector<std::int64_t> node_offsets_;
  std::vector<double> leaf_value_;
  std::vector<std::int64_t> leaf_offsets_;
};

}  // namespace marginboost
