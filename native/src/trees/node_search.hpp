// The best splits of the nodes of a growing tree.
#pragma once

#include <bit>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "marginboost/binning/bin_columns.hpp"
#include "marginboost/trees/shard.hpp"
#include "trees/row_partition.hpp"
#include "wrapping_add.hpp"

namespace marginboost {

/// A row of the columns that are listed by row costs about as much as so many dense columns.
inline constexpr std::int64_t kByRowColumns = 2;

/// Calls `of(j)` for each number of a cell: 8 or 16, known to the compiler, so that it unrolls.
template <class Of>
void for_cell(int cell, const Of& of) {
  if (cell == 8) {
    for (int j = 0; j < 8; ++j) of(j);
  } else {
    for (int j = 0; j < 16; ++j) of(j);
  }
}

inline void add_cell(std::int32_t* to, const std::int32_t* from, int cell) {
  for_cell(cell, [=](int j) { to[j] = wrapping_add(to[j], from[j]); });
}

/// Writes the numbers of the bits that are set, ascending, clears them, and returns how many there were.
inline std::size_t take_marked(std::uint64_t* marks, std::int64_t n_words, std::int32_t* out) {
  std::size_t n = 0;
  for (std::int64_t w = 0; w < n_words; ++w) {
    for (std::uint64_t left = marks[w]; left != 0; left &= left - 1) {
      out[n++] = static_cast<std::int32_t>(64 * w + std::countr_zero(left));
    }
    marks[w] = 0;
  }
  return n;
}

/// Two nodes that were one: the histograms of the second are the parent's less those of the first.
/// The root is alone: its `large` is -1.
struct NodePair {
  int small = 0;
  int large = -1;
  int parent = -1;
  bool search = true;
  const std::uint8_t* allowed = nullptr;  ///< of each feature of the tree: whether to search it; null: all
};

/// What a node scores as it is: the same operations in the same order as the scan of a split's side.
float node_score(const std::int32_t* total, const Slots& slots, float smoothing);

template <class Bin>
class NodeSearch {
 public:
  /// `has_copies`: whether rows may count more than once.
  NodeSearch(const BinColumns<Bin>& columns, const RowPartition<Bin>& partition,
             const Slots& slots, bool has_copies, int n_threads);

  void start_tree(std::span<const std::int32_t> features, const TreeRules& rules);
  /// Finds the best split of every node of the pairs; `splits` holds one entry per node of the tree.
  void search(std::span<const NodePair> pairs, const std::int32_t* direction,
              std::vector<NodeSplit>& splits);

  /// The histograms of some nodes: n_tree_bins() x cell each, all features of the tree in their order.
  void histograms(std::span<const std::int32_t> nodes, const std::int32_t* direction,
                  std::int32_t* out);
  std::int64_t n_tree_bins() const { return n_tree_bins_; }

 private:
  using Cells = std::vector<std::int32_t>;

  /// Memory for the histograms of a node; what is in it is old until it is summed.
  struct Buffer {
    std::unique_ptr<std::int32_t[]> cells;
    std::int64_t size = 0;
    explicit operator bool() const { return cells != nullptr; }
  };

  // What a node keeps between batches.
  struct NodeSums {
    Buffer histograms;  ///< of all chunks, where it pays to keep them
    std::int64_t count = 0;
  };

  struct Best {
    float score = -1.0F;
    int feature = -1;
    int bin = 0;
    void offer(const SplitFound& found, int at_feature) {
      if (found.bin < 0) return;
      if (found.score < score || (found.score == score && at_feature > feature)) return;
      score = found.score;
      feature = at_feature;
      bin = static_cast<int>(found.bin);
    }
  };

  /// Some dense features in a row, and where their histograms begin; or all that are listed by row.
  struct Chunk {
    int first = 0, count = 0;  ///< in dense_
    std::int64_t begin = 0, cells = 0;
    int most_bins = 0;
    bool by_row = false;
  };

  /// A pair at work: where its histograms go, null for scratch memory.
  struct Work {
    NodePair pair;
    bool search_small = false, search_large = false, fill_large = false;
    std::int32_t* small = nullptr;
    std::int32_t* large = nullptr;  ///< holds the parent's, unless fill_large
    int totals_chunk = -1;          ///< whose tasks set the totals of the nodes
    std::int64_t cost = 0;          ///< adds of a cell, and bins scanned
    bool finished = false;          ///< whether one task found the splits
    bool subtract() const { return search_large && !fill_large; }
  };

  /// Up to four dense features, which are summed together.
  struct Four {
    std::size_t numbers[4];  ///< in dense_
    int count = 0;
  };

  /// What a task finds for a pair.
  struct PairBest {
    Best small, large;
  };

  /// A pair and a chunk, or all chunks of a small pair: searched by one task, perhaps with other small
  /// pairs; or, where the pair has many rows, summed by several tasks, each some of the rows, and then
  /// searched by one task per feature.
  struct Group {
    std::size_t work = 0;
    int chunk = 0;  ///< -1: all
    std::int64_t first_block = -1, n_blocks = 1;  ///< in fills_, where there are several
    int column = -1;                              ///< of a search after that, in the chunk; -1: all
  };
  struct Fill {
    std::size_t work = 0;
    int chunk = 0;
    std::int64_t begin = 0, end = 0;  ///< rows
    std::int64_t place = -1;          ///< of the sums in partials_; -1: where the pair keeps them
  };

  /// Some rows of a node.
  struct RowBlock {
    std::size_t number = 0;  ///< which of the nodes
    std::int64_t begin = 0, end = 0;
  };

  /// Memory of one thread.
  struct Scratch {
    Cells cells;
    Cells clean;  ///< zeros, whenever nobody works with it
    Cells total, column;
    std::vector<std::uint64_t> marks;
    std::vector<std::int32_t> listed, places, entries;
    std::vector<Four> fours;
  };

  /// A feature that is listed by row.
  struct ByRow {
    std::int32_t feature = 0;
    std::size_t at = 0;      ///< which of the tree's features it is
    std::int64_t place = 0;  ///< where it begins among all of them
  };

  /// The entries of a sparse column.
  struct List {
    const std::int32_t* rows;
    const Bin* bins;
    std::int64_t size;
  };
  static constexpr std::uint16_t kNoPlace = 0xFFFF;

  void count_rows(std::span<const NodePair> pairs, const std::int32_t* direction);
  /// Totals of nodes by their rows, on all threads.
  std::vector<Cells> sum_rows(std::span<const std::int32_t> nodes,
                              const std::int32_t* direction) const;
  std::vector<RowBlock> row_blocks(std::span<const std::int32_t> nodes) const;
  bool can_split(int node) const;
  std::vector<Work> plan(std::span<const NodePair> pairs);
  int first_allowed_chunk(const std::uint8_t* allowed) const;
  NodeSplit split_of(int number, const Best& best) const;
  std::int32_t* total_of(int node) {
    return totals_.data() + static_cast<std::ptrdiff_t>(node) * slots_.lanes;
  }
  const std::int32_t* total_of(int node) const {
    return totals_.data() + static_cast<std::ptrdiff_t>(node) * slots_.lanes;
  }
  bool is_small(int node, const Chunk& chunk) const;

  // ---- chunks of features: chunk_search.cpp, search_tasks.cpp

  void search_chunks(std::span<Work> work, const std::int32_t* direction,
                     std::vector<NodeSplit>& splits);
  /// Divides the work into groups_ and fills_, for so many threads, and groups into tasks.
  void cut_groups(std::span<Work> work, std::int64_t size, int threads);
  void cut_pair(std::size_t number, const Work& work, std::int64_t share, std::int64_t& n_partials);
  std::int32_t* sums_of(const Work& work, const Fill& fill);
  void fill_block(const Work& work, const Fill& fill, const std::int32_t* direction,
                  Scratch& scratch);
  void search_blocks(const Work& work, const Group& group, Scratch& scratch, PairBest& best);
  void search_chunk(const Work& work, int number, const std::int32_t* direction, Scratch& scratch,
                    PairBest& best);
  void search_few(int node, bool search, const Chunk& chunk, std::span<const Four> fours,
                  const std::int32_t* direction, std::int32_t* larger, Scratch& scratch, bool keep,
                  Best& best);
  /// The features of a chunk that are allowed, four by four.
  void list_fours(const Chunk& chunk, const std::uint8_t* allowed, std::vector<Four>& out) const;
  /// Sums rows from scratch.
  void fill(std::int64_t begin, std::int64_t end, const Chunk& chunk, std::span<const Four> fours,
            const std::int32_t* direction, std::int32_t* out) const;
  /// Adds rows to a chunk's histograms; begins[j] - begins[chunk.first] after `out` begins that
  /// of dense feature j.
  void add_rows(std::int64_t begin, std::int64_t end, const Chunk& chunk,
                std::span<const Four> fours, const std::int32_t* direction,
                const std::vector<std::int64_t>& begins, std::int32_t* out) const;
  /// Scans a node's histograms of these features, and of those by row; sets its total, if asked to.
  void scan(int node, const Chunk& chunk, std::span<const Four> fours, const std::uint8_t* allowed,
            const std::int32_t* hist, Scratch& scratch, bool keep, Best& best);
  void scan_by_row(const std::uint8_t* allowed, const std::int32_t* hist, const std::int32_t* total,
                   Scratch& scratch, Best& best) const;
  SplitFound scan_column(int feature, const std::int32_t* hist, std::span<const std::int32_t> listed,
                         const std::int32_t* total) const;

  // ---- sparse columns: list_search.cpp

  void draw_lists();
  void search_sparse(std::span<const Work> work, const std::int32_t* direction);
  void place_rows(bool searched);
  std::size_t add_entries(std::size_t number, const std::int32_t* direction, std::int32_t* hist,
                          std::int64_t stride, std::uint64_t* marks, Scratch& scratch) const;
  /// Histograms on the sparse columns, of the nodes in searched_ with these totals.
  void histograms_of_lists(const std::int32_t* direction, const std::vector<Cells>& totals,
                           std::int32_t* out);
  /// Listed: the bins that hold rows; none for all.
  void add_rest(const BinColumn<Bin>& column, std::span<const std::int32_t> listed,
                const std::int32_t* total, std::int32_t* hist) const;
  template <class Visit>
  void for_lists(const Visit& visit);
  void search_list(std::size_t number, const std::int32_t* direction, Scratch& scratch,
                   std::vector<Best>& best) const;
  Buffer take_histograms();

  // ---- histograms for others to search: node_histograms.cpp

  void write_by_row(std::int64_t begin, std::int64_t end, const Chunk& chunk,
                    const std::int32_t* direction, Scratch& scratch, std::int32_t* out) const;
  std::vector<Cells> totals_of(std::span<const std::int32_t> nodes, const std::int32_t* direction,
                               const std::int32_t* histograms) const;

  const BinColumns<Bin>& columns_;
  const RowPartition<Bin>& partition_;
  Slots slots_;
  bool has_copies_;
  int n_threads_;
  TreeRules rules_;
  std::vector<std::int32_t> dense_, sparse_;  ///< this tree's features
  std::vector<ByRow> by_row_;
  std::vector<std::size_t> dense_at_, sparse_at_;  ///< and which of the tree's features they are
  std::vector<List> lists_;                   ///< of the sparse ones
  std::vector<std::int32_t> drawn_rows_;
  std::vector<Bin> drawn_bins_;
  std::vector<std::int32_t> searched_;        ///< nodes whose splits are looked for in the lists
  std::vector<const std::uint8_t*> allowed_;  ///< by which of them; null: all
  std::vector<std::uint16_t> place_of_row_;   ///< which of them a row is in
  std::vector<std::int64_t> begins_;          ///< where each dense feature's histogram begins
  std::vector<Chunk> chunks_;
  std::int64_t n_cells_ = 0;  ///< of all chunks' histograms of a node
  // Where features begin among all of the tree's: the dense, the sparse, and those of one bin.
  std::vector<std::int64_t> dense_places_, sparse_places_, other_places_;
  std::int64_t n_tree_bins_ = 0;
  std::vector<NodeSums> nodes_;
  Cells totals_;  ///< of nodes that are searched: a cell each
  std::vector<Buffer> spare_;
  std::int64_t kept_ = 0;  ///< int32 of all buffers
  std::vector<Scratch> scratch_;          ///< one per thread
  std::vector<std::vector<Best>> bests_;  ///< of the lists; one per thread; one per node
  std::vector<Group> groups_;
  std::vector<std::int64_t> first_group_;  ///< of each task that searches whole chunks, and the end
  std::vector<Fill> fills_;
  std::vector<PairBest> found_;  ///< one per group
  std::unique_ptr<std::int32_t[]> partials_;
  std::int64_t n_partials_ = 0;
};

extern template class NodeSearch<std::uint8_t>;
extern template class NodeSearch<std::uint16_t>;

}  // namespace marginboost
