// The big arrays of a fit, and the few questions a boosting method asks of them.
//
// Rows are grouped by class, so a class is a range of rows: its factors and its sums are a few
// vectors that stay in registers and cache, whatever the number of classes.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "marginboost/kernels.hpp"

namespace marginboost {

/// Binned features, a column after the other; exactly one of the two pointers is set.
struct BinView {
  const std::uint8_t* narrow = nullptr;
  const std::uint16_t* wide = nullptr;
  std::int64_t n_rows = 0;
  int n_features = 0;
};

/// The stump with the largest |edge|: rows whose bin is above `bin` on one side, the rest on the other.
struct StumpChoice {
  int feature = -1;  ///< -1: no feature has two bins
  int bin = 0;
  int column = 0;         ///< the class whose edge is largest
  std::int64_t edge = 0;  ///< fixed-point, signed: with h = +1 above the threshold
};

/// The best split of one node of a tree with -1/+1 leaves; masses are fixed-point.
struct NodeSplit {
  int feature = -1;  ///< -1: the node is pure or can't be divided
  int bin = 0;
  std::int64_t positive = 0, negative = 0;            ///< masses of the node
  std::int64_t left_positive = 0, left_negative = 0;  ///< masses of rows at or below the bin
};

struct ShardData {
  BinView bins;
  std::vector<std::int32_t> n_bins;
  std::vector<std::int64_t> class_offsets;     ///< n_classes + 1
  const double* weight = nullptr;              ///< per row, or null
  const std::int32_t* multiplicity = nullptr;  ///< per row, or null
};

class Shard {
 public:
  /// `row_block`: rows whose directions are kept in cache while features pass over them.
  Shard(ShardData data, Loss loss, int n_threads, std::int64_t row_block);

  int n_classes() const { return rows_.n_classes; }
  std::int64_t n_rows() const { return rows_.n_rows; }
  int n_features() const { return data_.bins.n_features; }

  /// All margins back to zero.
  void restart();
  /// e[i, r] *= up[s, r] * down[s, y_i] with s the row's side; then the direction anew, in units of
  /// 2^-exponent. Returns the number of rows (with multiplicity) whose margin is not positive.
  std::int64_t advance(const double* up, const double* down, int n_sides, int exponent);
  /// Sums of the weights by side, class of the row, and class: n_sides x k x k, exact multiples of
  /// 2^-exponent; at the margins moved by up and down, unless those are null. `curvature`: the same
  /// of u (1 - u), or null (logistic loss only).
  void sums(const double* up, const double* down, int n_sides, int exponent, double* out,
            double* curvature) const;

  StumpChoice best_stump() const;
  /// Sides of the rows: 1 where the bin is above `bin` (0 if not `above_is_one`), else the other.
  void place_stump(int feature, int bin, bool above_is_one);

  /// Starts a tree for the direction of one class: every row in node 0.
  void start_tree(int column);
  /// The best split of each of the nodes [0, n_nodes) by weighted Gini impurity.
  std::vector<NodeSplit> best_splits(int n_nodes) const;
  /// Moves rows of node q to left[q] or right[q]; a negative number is the end: leaf ~number.
  void apply_splits(const std::vector<NodeSplit>& splits, const std::vector<std::int32_t>& left,
                    const std::vector<std::int32_t>& right);
  /// Ends the tree: rows of leaf q get side leaf_side[q].
  void finish_tree(const std::vector<std::uint8_t>& leaf_side);

  /// The histogram of one feature, n_bins x k, for inspection.
  void histogram(int feature, std::int64_t* out) const;
  const RowArrays& arrays() const { return rows_; }
  const std::int32_t* totals() const { return totals_.data(); }
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

  struct StumpPlan;
  StumpPlan plan_stumps() const;
  void fill_histograms(const StumpPlan& plan, std::int64_t task, std::int32_t* scratch,
                       bool bare) const;
  StumpChoice scan_histograms(const StumpPlan& plan, std::int64_t task,
                              const std::int32_t* scratch) const;
  std::vector<double> class_factors(const double* up, const double* down, int n_sides,
                                    int label) const;
  template <class Visit>
  void for_class_spans(std::int64_t begin, std::int64_t end, Visit visit) const;
  std::int64_t rows_per_task() const;
  int threads_for(std::int64_t work) const;

  ShardData data_;
  int n_threads_;
  std::int64_t row_block_;
  RowArrays rows_;
  Buffer<double> exponentials_;
  Buffer<std::int32_t> direction_;
  Buffer<std::uint8_t> side_;
  std::vector<std::int32_t> totals_;  ///< per lane, the sum of the direction over rows

  // Only while a tree grows.
  Buffer<std::int32_t> node_;
  Buffer<std::uint64_t> masses_;  ///< per row, of the tree's class: positive << 32 | negative
};

}  // namespace marginboost
