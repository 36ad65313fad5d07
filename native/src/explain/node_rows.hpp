#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "marginboost/binning/matrix_view.hpp"
#include "marginboost/predict/ensemble_view.hpp"

namespace marginboost {

/// The rows of a tree's nodes, found by dividing all of them node by node: unlike a walk of each row
/// by itself, that waits for no value and mispredicts no branch. Rows of a node stay in their order.
class NodeRows {
 public:
  using Rows = std::span<const std::int32_t>;

  /// Calls `split(node, left, right)` for every node that is reached, parents first, with the rows
  /// that go to either side, and `leaf(number, rows)` for every leaf; both are counted from the
  /// tree's first one. Rows are those from `begin` to `end`.
  template <class Split, class Leaf>
  void divide(const EnsembleView& view, std::int64_t tree, const MatrixView<double>& x,
              std::int64_t begin, std::int64_t end, Split&& split, Leaf&& leaf) {
    const auto first = static_cast<std::size_t>(view.node_offsets[static_cast<std::size_t>(tree)]);
    const auto n_nodes =
        static_cast<std::size_t>(view.node_offsets[static_cast<std::size_t>(tree) + 1]) - first;
    rows_.resize(static_cast<std::size_t>(end - begin));
    spare_.resize(rows_.size());
    std::iota(rows_.begin(), rows_.end(), static_cast<std::int32_t>(begin));
    if (n_nodes == 0) {
      leaf(0, Rows(rows_));
      return;
    }
    ranges_.assign(n_nodes, {0, 0});
    ranges_[0] = {0, rows_.size()};
    for (std::size_t node = 0; node < n_nodes; ++node) {
      const auto [from, to] = ranges_[node];
      if (from == to) continue;
      const std::size_t q = first + node;
      const std::size_t middle =
          from + partition(rows_.data() + from, to - from,
                           x.data + view.feature[q] * x.column_stride, x.row_stride,
                           view.threshold[q]);
      const Rows all(rows_);
      split(static_cast<std::int64_t>(node), all.subspan(from, middle - from),
            all.subspan(middle, to - middle));
      descend(view.left[q], from, middle, leaf);
      descend(view.right[q], middle, to, leaf);
    }
  }

 private:
  struct Range {
    std::size_t begin, end;
  };

  /// Puts the rows at or below the threshold first; returns how many there are.
  std::size_t partition(std::int32_t* rows, std::size_t n, const double* column,
                        std::int64_t stride, double threshold) {
    std::int32_t* spare = spare_.data();
    std::size_t n_left = 0, n_right = 0;
    for (std::size_t j = 0; j < n; ++j) {
      const std::int32_t row = rows[j];
      const bool left = column[row * stride] <= threshold;
      rows[n_left] = row;
      spare[n_right] = row;
      n_left += left ? 1 : 0;
      n_right += left ? 0 : 1;
    }
    std::copy_n(spare, n_right, rows + n_left);
    return n_left;
  }

  template <class Leaf>
  void descend(std::int32_t child, std::size_t begin, std::size_t end, Leaf&& leaf) {
    if (child >= 0) {
      ranges_[static_cast<std::size_t>(child)] = {begin, end};
    } else if (begin < end) {
      leaf(std::int64_t{~child}, Rows(rows_).subspan(begin, end - begin));
    }
  }

  std::vector<std::int32_t> rows_, spare_;
  std::vector<Range> ranges_;
};

}  // namespace marginboost
