// Shapley values of an ensemble's scores.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "marginboost/predict/ensemble_view.hpp"
#include "marginboost/binning/matrix_view.hpp"

namespace marginboost {

/// Sums the weights of the rows that reach each leaf, row after row: the same bits on any number of
/// threads. `cover` has one entry per leaf of the ensemble. Throws std::invalid_argument where sizes
/// do not fit or the view is unsound.
void add_leaf_cover(const EnsembleView& view, const MatrixView<double>& x,
                    std::span<const double> weights, int n_threads, std::span<double> cover);

/// Adds to sizes(p) how far the splits of player p move the scores of rows, summed over rows, by weight,
/// and classes. A split moves a row's scores by a step, from the mean over the rows of its node to that
/// over the rows of the child, means by `leaf_cover`; the steps of all splits of a player count as one
/// move. In units of a power of two that follows from the ensemble: whole numbers, so that rows of whole
/// weights may come in any order and any number of copies. Throws std::invalid_argument where sizes do not
/// fit or the view is unsound.
void add_step_sizes(const EnsembleView& view, std::span<const double> leaf_cover,
                    std::span<const std::int32_t> player, const MatrixView<double>& x,
                    std::span<const double> weights, int n_threads, std::span<double> sizes);

/// Attributes scores to players, the columns of X, by the Shapley values of this game: a coalition
/// knows the values of its columns; a tree is walked along the values that are known, and down both
/// sides where one is not, weighted by the covers of the two children.
///
/// A leaf on a path with players q, each with o_q = 1 where the row agrees with all that the path
/// asks of q (else 0) and z_q, the share of the cover that does, is reached by a coalition with the
/// weight prod(q in it: o_q) * prod(q not in it: z_q). The Shapley value of player p in that game is
///     (o_p - z_p) * integral over t from 0 to 1 of prod(q != p: t * o_q + (1 - t) * z_q),
/// the integral of a polynomial of degree m - 1 for m players, which Gauss's rule finds exactly from
/// ceil(m / 2) places. It is the same for all classes, and then multiplies the leaf's vector.
class Explainer {
 public:
  /// `player` names the player of every feature of the view. Throws std::invalid_argument unless
  /// everything is sound, and where the paths to all leaves together are too long to keep.
  Explainer(const EnsembleView& view, std::span<const double> leaf_cover,
            std::span<const std::int32_t> player, std::int64_t n_players);

  std::int64_t n_classes() const { return n_classes_; }
  std::int64_t n_players() const { return n_players_; }

  /// The scores of a empty coalition, one per class.
  std::span<const double> mean_scores() const { return means_; }

  /// contributions(i, p, c) += what player p adds to the score of class classes(i, c) of row i.
  /// They must begin with zeros, and `n_asked` classes are asked for a row.
  void add_contributions(const MatrixView<double>& x, std::span<const std::int64_t> classes,
                         std::int64_t n_asked, int n_threads,
                         std::span<double> contributions) const;

 private:
  /// What the path to a leaf asks of one player.
  struct Step {
    double share;              // z
    std::int32_t player;
    std::int64_t first_asked;  // of asked_; those of the next step follow
  };

  struct Asked {
    std::int32_t node;  // counted from the tree's first
    bool left;
  };

  struct Path {
    std::int64_t leaf;
    std::int64_t first_step;
  };

  struct Scratch;

  void add_paths(const EnsembleView& view, std::int64_t tree, std::span<const double> leaf_cover,
                 std::span<const std::int32_t> player);
  void add_tree(std::int64_t tree, std::int64_t n_rows, const std::int64_t* classes,
                std::int64_t n_asked, Scratch& scratch, double* contributions) const;
  void find_weights(const Path& path, std::int64_t n_steps, const char* agrees, Scratch& scratch,
                    double* weights) const;

  std::int64_t n_classes_;
  std::int64_t n_features_;
  std::int64_t n_players_;
  std::vector<double> vectors_;
  std::vector<std::int64_t> node_offsets_;
  std::vector<std::int32_t> feature_;
  std::vector<double> threshold_;
  std::vector<std::int32_t> leaf_vector_;
  std::vector<double> leaf_value_;
  std::vector<std::int64_t> path_offsets_{0};  // of each tree
  std::vector<Path> paths_;                    // with one more at the end, as for steps_
  std::vector<Step> steps_;
  std::vector<Asked> asked_;
  std::int64_t most_steps_ = 0;
  std::int64_t most_nodes_ = 0;
  std::vector<std::vector<double>> places_;   // of Gauss's rule on [0, 1], by their number
  std::vector<std::vector<double>> factors_;
  std::vector<double> means_;
};

/// Rounds the contributions to each of `n_asked` scores of a row so that they add up exactly, in any
/// order, and writes to base(c) what is left of the score; see explain_exactly.cpp.
void make_exact(std::int64_t n_players, std::int64_t n_asked, std::span<const double> scores,
                std::span<const double> means, std::span<double> contributions,
                std::span<double> base);

}  // namespace marginboost
