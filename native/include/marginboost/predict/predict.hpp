// Prediction: the scores of an ensemble of weak classifiers on raw values.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "marginboost/predict/ensemble_view.hpp"
#include "marginboost/predict/leaf_moves.hpp"
#include "marginboost/predict/leaf_panels.hpp"
#include "marginboost/binning/matrix_view.hpp"
#include "marginboost/predict/ranks.hpp"
#include "marginboost/binning/sparse_view.hpp"

namespace marginboost {

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
  template <class T>  // float, double, integers of 1 to 8 bytes; compared as double
  void add_scores(const MatrixView<T>& x, std::int64_t first_round, std::int64_t last_round,
                  int n_threads, std::span<double> scores) const;

  /// The same bits without a dense copy: only columns that some node compares are looked at. Throws
  /// std::invalid_argument also where offsets or columns are out of range.
  template <class T, class Index>  // float or double, std::int32_t or std::int64_t
  void add_scores(const SparseView<T, Index>& x, std::int64_t first_round,
                  std::int64_t last_round, int n_threads, std::span<double> scores) const;

 private:
  struct Node {
    double threshold;
    std::int32_t feature;
    std::int32_t column;  // of the feature among those used
    std::int32_t left;
    std::int32_t right;
  };

  /// A vector is zero outside the classes begin to end - 1.
  struct Support {
    std::int64_t begin;
    std::int64_t end;
  };

  struct Trees {
    std::int64_t first;
    std::int64_t last;
    std::int64_t count() const { return last - first; }
  };

  /// Some rows of X, beginning with `data`; of its used columns only where they are compact.
  template <class T>
  struct Rows {
    const T* data;
    std::int64_t count;
    std::int64_t row_stride;
    std::int64_t column_stride;
    bool compact = false;
    T value(std::int64_t row, const Node& node) const {
      return data[row * row_stride + (compact ? node.column : node.feature) * column_stride];
    }
  };

  Trees trees_of(std::int64_t n_rows, std::int64_t n_columns, std::int64_t first_round,
                 std::int64_t last_round, std::span<double> scores) const;
  int threads_for(std::int64_t n_rows, Trees trees, int n_threads) const;
  bool all_shared(Trees trees) const;
  std::int64_t walked_rows(Trees trees) const;

  // ---- walking: predict.cpp

  /// The leaves that `row` reaches in four trees, or four rows in one tree.
  template <class T>
  void walk_four(const Rows<T>& rows, const std::int64_t* row, const std::int64_t* tree,
                 std::int64_t* leaf) const;

  /// out[i] = of(the leaf that row i reaches in the tree, counted from its first one).
  template <class T, class Of, class Out>
  void walk(const Rows<T>& rows, std::int64_t tree, Of of, Out* out) const;

  /// N trees from `tree` on, each of which has one vector for all its leaves. `block` holds
  /// kBlockRows scores a class.
  template <std::int64_t N, class T>
  void add_shared(const Rows<T>& rows, std::int64_t tree, double* block) const;

  /// All trees, one vector each. `block` has room for kBlockRows scores a class.
  template <class T>
  void add_all_shared(const Rows<T>& rows, Trees trees, double* block, double* scores) const;

  /// Any tree. `scores` holds n_classes scores a row.
  template <class T>
  void add_any(const Rows<T>& rows, std::int64_t tree, double* scores) const;

  /// What a leaf, counted over all trees, adds to the scores of a row.
  void add_leaf(std::int64_t leaf, double* scores) const;

  /// A block of rows, walked.
  template <class T>
  void add_walked(const Rows<T>& rows, Trees trees, bool shared, double* block,
                  double* scores) const;

  // ---- by ranks: predict_ranked.cpp

  template <class Rank>
  struct Ranked;

  template <class Rank>
  const std::optional<LeafMoves<Rank>>& moves() const;

  /// Whether ranking the values of many rows takes less time than walking.
  template <class Rank>
  bool worth_ranking(Trees trees, std::int64_t n_values) const;

  template <class Rank, class T>
  bool add_ranked(const MatrixView<T>& x, Trees trees, int threads,
                  std::span<double> scores) const;
  template <class Rank, class T, class Index>
  bool add_ranked(const SparseView<T, Index>& x, Trees trees, int threads,
                  std::span<double> scores) const;
  template <class Rank>
  void add_found(Ranked<Rank>& block, Trees trees, std::int64_t n_rows, double* scores) const;

  std::int64_t n_classes_;
  std::int64_t n_features_;
  std::vector<double> vectors_;    // empty where there are panels
  std::vector<Support> supports_;  // of each vector
  std::vector<std::int64_t> round_offsets_;
  std::vector<Node> nodes_;
  std::vector<std::int64_t> node_offsets_;
  std::vector<std::int32_t> leaf_vector_;
  std::vector<double> leaf_value_;
  std::vector<std::int64_t> leaf_offsets_;
  std::vector<char> is_shared_;  // whether all leaves of a tree have the same vector
  Ranks ranks_;
  std::optional<LeafPanels> panels_;  // where most leaves have vectors of their own
  std::optional<LeafMoves<std::uint8_t>> narrow_moves_;
  std::optional<LeafMoves<std::uint16_t>> wide_moves_;
};

}  // namespace marginboost
