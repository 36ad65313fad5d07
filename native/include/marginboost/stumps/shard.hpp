// The big arrays of a fit, and the few questions a boosting method asks of them.
//
// Rows are grouped by class, so a class is a range of rows: its factors and its sums are a few
// vectors that stay in registers and cache, whatever the number of classes.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "marginboost/node_split.hpp"
#include "marginboost/stumps/kernels.hpp"

namespace marginboost {

/// Binned features, a column after the other; exactly one of the two pointers is set.
struct BinView {
  const std::uint8_t* narrow = nullptr;
  const std::uint16_t* wide = nullptr;
  std::int64_t n_rows = 0;
  int n_features = 0;
};

/// What makes a stump best. Edges are those of the outputs, with h = +1 above the threshold.
enum class Criterion : int {
  largest = 0,  ///< the largest |edge| of any output
  sum = 1,      ///< the sum of |edge| over the outputs
  squares = 2,  ///< the sum of squared edges, in units of 2^12
};

/// A stump: rows whose bin is above `bin` on one side, the rest on the other.
struct StumpChoice {
  int feature = -1;  ///< -1: no feature has two bins
  int bin = 0;
  int output = 0;         ///< the output of largest |edge|, by the criterion `largest`
  std::int64_t edge = 0;  ///< its fixed-point edge, signed; by another criterion the score
};

/// A tree over bins: children >= 0 are nodes, the others ~leaf.
struct TreeView {
  std::vector<std::int32_t> feature, bin, left, right;
  std::vector<std::uint8_t> leaf_side;
};

struct StumpShardData {
  BinView bins;
  std::vector<std::int32_t> n_bins;
  std::vector<std::int64_t> class_offsets;     ///< n_classes + 1
  const double* weight = nullptr;              ///< per row, or null
  const std::int32_t* multiplicity = nullptr;  ///< per row, or null
  const double* leaf_weight = nullptr;  ///< per row, in whole units, or null: leaves may weigh nothing
  double least_leaf_weight = 0.0;       ///< what a leaf of a tree must hold
  /// n_classes x n_outputs of -1, 0, +1: what the output should say of the class, 0: nothing. Empty:
  /// the outputs are the classes, and the direction is the margins'.
  std::vector<std::int8_t> code;
  int n_outputs = 0;
};

/// How far to move: e[i, c] *= up[s, c] * down[s, y_i] (margins), or table[s, y_i, c].
struct Step {
  const double* up = nullptr;
  const double* down = nullptr;
  const double* table = nullptr;
};

class StumpShard {
 public:
  /// `row_block`: rows whose directions are kept in cache while features pass over them.
  StumpShard(StumpShardData data, Loss loss, int n_threads, std::int64_t row_block);

  int n_classes() const { return static_cast<int>(data_.class_offsets.size()) - 1; }
  int n_outputs() const { return rows_.n_outputs; }
  std::int64_t n_rows() const { return rows_.n_rows; }
  int n_features() const { return data_.bins.n_features; }
  int n_bins(int feature) const { return data_.n_bins[static_cast<std::size_t>(feature)]; }
  /// The number of bins of the features before this one; of all for n_features().
  std::int64_t bins_before(int feature) const {
    return bins_before_[static_cast<std::size_t>(feature)];
  }

  /// All margins back to zero.
  void restart();
  /// Moves the exponentials, then forms the direction anew in units of 2^-exponent. Returns the number
  /// of rows (with multiplicity) that have some e >= 1.
  std::int64_t advance(const Step& step, int exponent);
  /// e[i, output] *= table[s, y_i]; the direction stays as it was until the next advance.
  void advance_output(int output, const double* table);
  /// Replaces all exponentials by other ones (n_rows x n_outputs).
  void set_exponentials(const double* exponentials);
  /// Sums of the weights by side, class of the row, and output: 2 x k x outputs, exact multiples of
  /// 2^-exponent; after a step that is only tried, unless it is empty. `curvature`: the same of
  /// u (1 - u), or null (logistic loss only).
  void sums(const Step& trial, int exponent, double* out, double* curvature) const;

  /// From here to the next advance, searches see one output: the sum of the outputs times `signs`.
  void project(const std::vector<std::int8_t>& signs);
  StumpChoice best_stump(Criterion criterion) const;
  /// The stump of largest |edge| for each output.
  std::vector<StumpChoice> best_stumps() const;
  /// What these searches sum over the rows: all bins of all features x searched outputs.
  void histograms(std::int32_t* out) const;
  /// Sides of the rows: 1 where the bin is above `bin` (0 if not `above_is_one`), else the other.
  void place_stump(int feature, int bin, bool above_is_one);
  void place_tree(const TreeView& tree);
  /// The fixed-point edge of each output for the rows' sides: sum of g where side 1, less where side 0.
  std::vector<std::int64_t> edges() const;

  /// Starts a tree with every row in node 0: labels are the signs (0: not negative) of an output of the
  /// direction and masses its sizes; or, for output -1, labels are the classes and masses output 0.
  /// Splits are found by weighted Gini impurity.
  NodeSplit start_tree(int output);
  int n_labels() const { return n_labels_; }
  /// Divides nodes. The two new nodes of each get the next numbers, the left one first.
  std::vector<NodeSplit> split(std::span<const NodeCut> cuts);
  /// Ends the tree: sums the masses of its leaves, leaves x labels, and puts the rows of a leaf whose
  /// label of largest mass (the first among equals) is 0 on side 1, the others on side 0; in a tree of
  /// classes, on side 1 the rows of which it names the class.
  void finish_tree(std::span<const std::int32_t> leaf_of_node, std::int64_t n_leaves,
                   std::int64_t* masses);

  /// The outputs that searches see: all, or the projected one.
  int n_searched() const { return projecting_ ? 1 : rows_.n_outputs; }
  const RowArrays& arrays() const { return rows_; }
  /// Runs the histogram kernel (or the bare add) over all rows and features; for benchmarks.
  void run_histograms(bool bare) const;

 private:
  struct Free {
    void operator()(void* p) const;
  };
  template <class T>
  using Buffer = std::unique_ptr<T[], Free>;
  template <class T>
  static Buffer<T> allocate(std::int64_t count);

  // A direction that searches run over: the shard's own, or the projected output.
  struct Direction {
    const std::int32_t* values = nullptr;  ///< tiles x n_rows x lanes
    const std::int32_t* totals = nullptr;  ///< per lane, the sum over rows
    Lanes lanes;
    int n_outputs = 0;
  };
  Direction direction() const;

  struct StumpPlan;
  StumpPlan plan_stumps() const;
  void fill_histograms(const StumpPlan& plan, std::int64_t task, std::int32_t* scratch,
                       bool bare) const;
  StumpChoice scan_histograms(const StumpPlan& plan, std::int64_t task,
                              const std::int32_t* scratch) const;
  /// Calls consume(task, histograms) for every block of features and tile of outputs, from many
  /// threads; `task` is the first of the tasks that share its rows.
  template <class Consume>
  void for_histograms(const StumpPlan& plan, const Consume& consume) const;
  StumpChoice largest_edge_stump() const;
  StumpChoice highest_score_stump(Criterion criterion) const;
  std::vector<double> class_factors(const Step& step, int label) const;
  template <class Visit>
  void for_class_spans(std::int64_t begin, std::int64_t end, Visit visit) const;
  /// The nodes [first, n_nodes_), with the best splits of those that are wanted.
  std::vector<NodeSplit> search_nodes(int first, const std::vector<bool>& wanted) const;
  /// Adds up the masses of the rows of the nodes [first, first + count), by node, the feature's bin, and
  /// label; and, if leaves have a least weight, their leaf weights by node and bin.
  void fill_masses(int feature, std::int64_t first, std::int64_t count, std::uint32_t* masses,
                   double* weights) const;
  std::int64_t rows_per_task() const;
  int threads_for(std::int64_t work) const;

  StumpShardData data_;
  int n_threads_;
  std::int64_t row_block_;
  RowArrays rows_;
  std::vector<std::int64_t> bins_before_;
  std::vector<std::int32_t> signs_;
  Buffer<double> exponentials_;
  Buffer<std::int32_t> direction_;
  Buffer<std::uint8_t> side_;
  std::vector<std::int32_t> totals_;

  // Only where a method projects.
  bool projecting_ = false;
  Buffer<std::int32_t> projected_;
  std::vector<std::int32_t> projected_totals_;

  // Only while a tree grows.
  int n_labels_ = 0;
  int n_nodes_ = 0;
  bool class_tree_ = false;
  Buffer<std::int32_t> node_, label_, mass_;
};

}  // namespace marginboost
