// Which rows are in which node of the tree that grows.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "marginboost/binning/bin_columns.hpp"
#include "marginboost/trees/shard.hpp"

namespace marginboost {

/// A list of rows, those of a node side by side; dividing a node divides its part, and keeps the
/// order of its rows.
class RowList {
 public:
  void reset(std::int64_t n_rows) { rows_.resize(static_cast<std::size_t>(n_rows)); }
  std::vector<std::uint32_t>& rows() { return rows_; }
  const std::vector<std::uint32_t>& rows() const { return rows_; }

  /// A part of the list, and how many of it go to the left.
  struct Part {
    std::int64_t begin = 0, end = 0, middle = 0;
    std::int32_t number = 0;  ///< which cut divides it
  };
  /// decide(number, rows, n, left) writes for some rows whether they go to the left; then
  /// moved(number, rows, n, left) is told of them. Both are called from many threads, each row once.
  template <class Decide, class Moved>
  void divide(std::span<Part> parts, int n_threads, const Decide& decide, const Moved& moved);

 private:
  std::vector<std::uint32_t> rows_, moved_;
  std::vector<std::uint8_t> left_;
};

template <class Bin>
class RowPartition {
 public:
  RowPartition(const BinColumns<Bin>& columns, int n_threads);

  struct Node {
    std::int64_t begin = 0, end = 0;            ///< in rows()
    std::int64_t rest_begin = 0, rest_end = 0;  ///< in the rows that the search leaves out
    std::int64_t n_rows() const { return end - begin; }
  };

  /// All rows in node 0; those outside of the sample take no part in the search.
  void restart(const RowSample& sample, const TreeShardData& data);
  /// Two new nodes a cut.
  void divide(std::span<const NodeCut> cuts);

  int n_nodes() const { return static_cast<int>(nodes_.size()); }
  const Node& node(int number) const { return nodes_[static_cast<std::size_t>(number)]; }
  const std::uint32_t* rows() const { return searched_.rows().data(); }
  /// Whether rows() still is 0, 1, 2, ...
  bool in_order() const { return in_order_; }
  /// Whether no row is left out of the search.
  bool sees_all() const { return rest_.rows().empty(); }
  /// The node of each row, where any column is sparse; ~node for a row that takes no part.
  const std::int32_t* node_of_row() const { return node_of_row_.data(); }
  /// How many copies of each row of rows() the search sees; null: all that the fit sees.
  const std::int32_t* drawn() const { return drawn_.empty() ? nullptr : drawn_.data(); }
  /// Writes the leaf of every row.
  void write_leaves(std::span<const std::int32_t> leaf_of_node, std::uint16_t* leaves) const;

 private:
  void draw(const RowSample& sample, const TreeShardData& data);
  void count_copies(const RowSample& sample, const TreeShardData& data);
  void mark_entries(std::span<const NodeCut> cuts);

  const BinColumns<Bin>& columns_;
  int n_threads_;
  bool in_order_ = true;
  std::vector<Node> nodes_;
  RowList searched_, rest_;
  std::vector<std::int32_t> drawn_;  ///< empty, unless rows that count more than once are sampled
  std::vector<std::int32_t> node_of_row_;
  std::vector<std::uint8_t> marked_;  ///< rows on the unusual side of a cut on a sparse column
};

extern template class RowPartition<std::uint8_t>;
extern template class RowPartition<std::uint16_t>;

}  // namespace marginboost
