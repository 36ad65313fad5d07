// Which rows are in which node of the tree that grows.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "marginboost/binning/bin_columns.hpp"
#include "marginboost/trees/shard.hpp"

namespace marginboost {

/// A list of rows, those of a node side by side, and as much memory to work in.
class RowList {
 public:
  /// Makes room; what the list holds then means nothing. Rows that are never written cost nothing.
  void reserve(std::int64_t most) {
    if (most <= most_) return;
    rows_ = std::make_unique_for_overwrite<std::uint32_t[]>(static_cast<std::size_t>(most));
    spare_ = std::make_unique_for_overwrite<std::uint32_t[]>(static_cast<std::size_t>(most));
    most_ = most;
  }
  void set_size(std::int64_t size) { size_ = size; }
  std::int64_t size() const { return size_; }
  std::uint32_t* rows() { return rows_.get(); }
  const std::uint32_t* rows() const { return rows_.get(); }
  std::uint32_t* spare() { return spare_.get(); }

 private:
  std::unique_ptr<std::uint32_t[]> rows_, spare_;
  std::int64_t most_ = 0, size_ = 0;
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
  const std::uint32_t* rows() const { return searched_.rows(); }
  /// Whether rows() still is 0, 1, 2, ...
  bool in_order() const { return in_order_; }
  /// Whether no row is left out of the search.
  bool sees_all() const { return rest_.size() == 0; }
  /// The node of each row, where any column is a list; ~node for a row that takes no part.
  const std::int32_t* node_of_row() const { return node_of_row_.data(); }
  /// How many copies of each row of rows() the search sees; null: all that the fit sees.
  const std::int32_t* drawn() const { return drawn_.empty() ? nullptr : drawn_.data(); }
  /// In how many ranges of rows it pays to write the leaves.
  std::int64_t n_leaf_ranges() const;
  /// Writes the leaves of a range of rows.
  void write_leaves(std::span<const std::int32_t> leaf_of_node, std::int64_t from, std::int64_t to,
                    std::uint16_t* leaves) const;

 private:
  /// Some rows of a node that is divided, and where those of either side go.
  struct Piece {
    bool searched;
    bool whole;  ///< all such rows of the node: they stay in their place
    std::int32_t cut;
    std::int64_t begin, end, left = 0, to_left = 0, to_right = 0;
    std::int64_t n_rows() const { return end - begin; }
  };

  void draw(const RowSample& sample, const TreeShardData& data);
  /// Writes the rows of a piece, those of the left side first: to spare memory, unless it is whole.
  void divide_piece(Piece& piece, const NodeCut& cut, std::int32_t first_child);
  RowList& list_of(const Piece& piece) { return piece.searched ? searched_ : rest_; }
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
