#include "trees/row_partition.hpp"

#include <algorithm>
#include <array>
#include <numeric>

#include "marginboost/threads/thread_pool.hpp"

namespace marginboost {
namespace {

constexpr std::int64_t kRowsATask = 1 << 13, kFewestRowsATask = 1 << 9;
// Ranges of rows whose leaves are written: each looks for its rows in those of every leaf.
constexpr std::int64_t kManyRanges = 16, kRowsARange = 1 << 10;
// Rows that are worth a second thread.
constexpr std::int64_t kSmallWork = 1 << 12;
constexpr std::int64_t kTasksAThread = 3;

constexpr std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

// The finaliser of splitmix64: every bit of the number depends on every other.
std::uint64_t mixed(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
  return z ^ (z >> 31);
}

// Rows of a task, where there are so many in all.
std::int64_t fair_share(std::int64_t n_rows, int n_threads) {
  if (n_threads == 1) return kRowsATask;
  const std::int64_t share = n_rows / (kTasksAThread * n_threads) + 1;
  return std::clamp(share, kFewestRowsATask, kRowsATask);
}

// Writes the first n rows that go to the left, then the others; returns how many go to the left. Every row
// is written to both lists, one of them to stay: there is nothing to guess. Both keep their order. `out` may
// be where the rows are read from.
template <class Row>
std::int64_t write_sides(std::int64_t n, const std::uint8_t* left, const Row& row,
                         std::uint32_t* out) {
  std::array<std::uint32_t, at(kRowsATask) + 1> rights;
  std::int64_t n_left = 0;
  std::size_t n_right = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    out[n_left] = rights[n_right] = row(i);
    n_left += left[i];
    n_right += std::size_t{1} - left[i];
  }
  std::copy_n(rights.begin(), n_right, out + n_left);
  return n_left;
}

// std::lower_bound without a branch that could not be foreseen.
const std::uint32_t* first_from(const std::uint32_t* begin, const std::uint32_t* end,
                                std::int64_t least) {
  auto n = end - begin;
  if (n == 0) return begin;
  for (; n > 1; n -= n / 2) begin += std::int64_t{begin[n / 2 - 1]} < least ? n / 2 : 0;
  return begin + (std::int64_t{*begin} < least ? 1 : 0);
}

}  // namespace

template <class Bin>
RowPartition<Bin>::RowPartition(const BinColumns<Bin>& columns, int n_threads)
    : columns_(columns), n_threads_(n_threads) {
  if (!columns.any_sparse()) return;
  node_of_row_.assign(at(columns.n_rows()), 0);
  marked_.assign(at(columns.n_rows()), 0);
}

template <class Bin>
void RowPartition<Bin>::restart(const RowSample& sample, const TreeShardData& data) {
  const std::int64_t m = columns_.n_rows();
  const bool all = sample.limit == ~std::uint64_t{0};
  in_order_ = all && data.weight.empty();
  drawn_.clear();
  if (!all && data.hashes != nullptr && data.copies != nullptr) count_copies(sample, data);
  searched_.reserve(m);
  if (in_order_) {
    searched_.set_size(m);
    rest_.set_size(0);
    parallel_for((m + kRowsATask - 1) / kRowsATask, m < kSmallWork ? 1 : n_threads_,
                 [&](std::int64_t task, int) {
                   const std::int64_t begin = task * kRowsATask;
                   std::iota(searched_.rows() + begin,
                             searched_.rows() + std::min(m, begin + kRowsATask),
                             static_cast<std::uint32_t>(begin));
                 }, "draw rows");
  } else {
    rest_.reserve(m);
    draw(sample, data);
  }
  nodes_.assign(1, {0, searched_.size(), 0, rest_.size()});
  if (node_of_row_.empty()) return;
  std::fill(node_of_row_.begin(), node_of_row_.end(), 0);
  for (std::int64_t i = 0; i < rest_.size(); ++i) node_of_row_[rest_.rows()[i]] = ~0;
}

template <class Bin>
void RowPartition<Bin>::count_copies(const RowSample& sample, const TreeShardData& data) {
  drawn_.resize(at(columns_.n_rows()));
  const auto n_classes = static_cast<std::int64_t>(data.bounds.size());
  for (std::int64_t label = 0; label < n_classes; ++label) {
    const std::uint64_t bound = data.bounds[at(label)];
    const std::int64_t begin = data.class_offsets[at(label)];
    const std::int64_t end = data.class_offsets[at(label) + 1];
    parallel_for((end - begin + kRowsATask - 1) / kRowsATask, n_threads_,
                 [&](std::int64_t task, int) {
                   const std::int64_t first = begin + task * kRowsATask;
                   for (std::int64_t i = first; i < std::min(end, first + kRowsATask); ++i) {
                     std::uint64_t hash = data.hashes[i];
                     std::int32_t count = 0;
                     for (std::int32_t j = 0; j < data.copies[i]; ++j, hash += kCopyStep) {
                       const bool hit = mixed(hash ^ sample.seed) <= sample.limit;
                       count += hit && hash >= bound ? 1 : 0;
                     }
                     drawn_[at(i)] = std::min(count, data.multiplicity[i]);
                   }
                 }, "draw copies");
  }
}

template <class Bin>
void RowPartition<Bin>::draw(const RowSample& sample, const TreeShardData& data) {
  const std::int64_t m = columns_.n_rows();
  const std::int64_t block = fair_share(m, n_threads_), n_blocks = (m + block - 1) / block;
  const int threads = m < kSmallWork ? 1 : n_threads_;
  std::vector<std::int64_t> seen(at(n_blocks + 1), 0);
  const auto first_of = [&](std::int64_t task) { return std::min(m, task * block); };
  parallel_for(n_blocks, threads, [&](std::int64_t task, int) {
    const std::int64_t begin = first_of(task), n = first_of(task + 1) - begin;
    std::array<std::uint8_t, at(kRowsATask)> hits;
    for (std::int64_t i = 0; i < n; ++i) {
      const std::int64_t row = begin + i;
      const bool hit = drawn_.empty() ? data.hashes == nullptr || data.copies != nullptr ||
                                            mixed(data.hashes[row] ^ sample.seed) <= sample.limit
                                      : drawn_[at(row)] > 0;
      const bool counts = data.weight.empty() || data.weight[at(row)] > 0.0F;
      hits[at(i)] = hit && counts ? 1 : 0;
    }
    seen[at(task + 1)] = write_sides(
        n, hits.data(), [&](std::int64_t i) { return static_cast<std::uint32_t>(begin + i); },
        searched_.spare() + begin);
  }, "draw rows");
  for (std::int64_t task = 0; task < n_blocks; ++task) seen[at(task + 1)] += seen[at(task)];
  searched_.set_size(seen.back());
  rest_.set_size(m - seen.back());
  parallel_for(n_blocks, threads, [&](std::int64_t task, int) {
    const std::int64_t begin = first_of(task), n = first_of(task + 1) - begin;
    const std::int64_t n_seen = seen[at(task + 1)] - seen[at(task)];
    const std::uint32_t* from = searched_.spare() + begin;
    std::copy_n(from, n_seen, searched_.rows() + seen[at(task)]);
    std::copy_n(from + n_seen, n - n_seen, rest_.rows() + (begin - seen[at(task)]));
  }, "draw rows");
}

// A row that a sparse column does not name goes where the default bin goes.
template <class Bin>
void RowPartition<Bin>::mark_entries(std::span<const NodeCut> cuts) {
  std::int64_t n_entries = 0;
  for (const NodeCut& cut : cuts) {
    if (!columns_[cut.feature].dense) n_entries += columns_[cut.feature].n_entries;
  }
  if (n_entries == 0) return;
  // A task marks rows of its own node only, so no two of them meet.
  parallel_for(static_cast<std::int64_t>(cuts.size()), n_entries < kSmallWork ? 1 : n_threads_,
               [&](std::int64_t number, int) {
    const NodeCut& cut = cuts[at(number)];
    const BinColumn<Bin>& column = columns_[cut.feature];
    if (column.dense) return;
    const bool usual = column.default_bin <= cut.bin;
    for (std::int64_t j = 0; j < column.n_entries; ++j) {
      if ((column.bins[j] <= cut.bin) == usual) continue;
      // Other cuts on other columns mark other nodes' rows: those must not be mistaken for these.
      const auto row = at(column.rows[j]);
      const std::int32_t node = node_of_row_[row];
      if (node == cut.node || node == ~cut.node) marked_[row] = 1;
    }
  }, "mark entries");
}

template <class Bin>
void RowPartition<Bin>::divide_piece(Piece& piece, const NodeCut& cut, std::int32_t first_child) {
  std::array<std::uint8_t, at(kRowsATask)> left;
  const std::int64_t n = piece.n_rows();
  const std::uint32_t* rows = list_of(piece).rows() + piece.begin;
  const BinColumn<Bin>& column = columns_[cut.feature];
  if (const Bin* bins = column.dense) {
    for (std::int64_t i = 0; i < n; ++i) left[at(i)] = bins[rows[i]] <= cut.bin ? 1 : 0;
  } else {
    const std::uint8_t usual = column.default_bin <= cut.bin ? 1 : 0;
    for (std::int64_t i = 0; i < n; ++i) left[at(i)] = usual ^ marked_[rows[i]];
  }
  for (std::int64_t i = 0; i < n && !node_of_row_.empty(); ++i) {
    const std::int32_t child = first_child + 1 - left[at(i)];
    node_of_row_[rows[i]] = piece.searched ? child : ~child;
    marked_[rows[i]] = 0;
  }
  RowList& list = list_of(piece);
  piece.left = write_sides(n, left.data(), [&](std::int64_t i) { return rows[i]; },
                           (piece.whole ? list.rows() : list.spare()) + piece.begin);
}

template <class Bin>
void RowPartition<Bin>::divide(std::span<const NodeCut> cuts) {
  const auto first = static_cast<std::int32_t>(nodes_.size());
  if (!node_of_row_.empty()) mark_entries(cuts);
  std::int64_t n_rows = 0;
  for (const NodeCut& cut : cuts) {
    const Node& node = nodes_[at(cut.node)];
    n_rows += node.n_rows() + node.rest_end - node.rest_begin;
  }
  const std::int64_t share = fair_share(n_rows, n_threads_);
  std::vector<Piece> pieces;
  std::vector<std::size_t> first_piece{0};  // of each task: those of small nodes are several
  std::int64_t in_task = 0;
  for (std::size_t c = 0; c < cuts.size(); ++c) {
    const Node& node = nodes_[at(cuts[c].node)];
    const auto cut = static_cast<std::int32_t>(c);
    const auto add = [&](bool searched, std::int64_t begin, std::int64_t end) {
      const bool whole = end - begin <= share;
      for (std::int64_t i = begin; i < end; i += share) {
        if (in_task >= share) {
          first_piece.push_back(pieces.size());
          in_task = 0;
        }
        pieces.push_back({searched, whole, cut, i, std::min(end, i + share)});
        in_task += pieces.back().n_rows();
      }
    };
    add(true, node.begin, node.end);
    add(false, node.rest_begin, node.rest_end);
  }
  first_piece.push_back(pieces.size());
  const int threads = n_rows < kSmallWork ? 1 : n_threads_;
  const auto n_tasks = static_cast<std::int64_t>(first_piece.size()) - 1;
  parallel_for(n_tasks, threads, [&](std::int64_t task, int) {
    for (std::size_t p = first_piece[at(task)]; p < first_piece[at(task + 1)]; ++p) {
      divide_piece(pieces[p], cuts[at(pieces[p].cut)], first + 2 * pieces[p].cut);
    }
  }, "divide rows");
  // Where the right sides begin, of the rows that are searched and of the rest.
  std::vector<std::int64_t> middle, rest_middle;
  for (const NodeCut& cut : cuts) {
    middle.push_back(nodes_[at(cut.node)].begin);
    rest_middle.push_back(nodes_[at(cut.node)].rest_begin);
  }
  std::vector<std::int64_t> to_left = middle, rest_to_left = rest_middle;
  for (const Piece& piece : pieces) {
    (piece.searched ? middle : rest_middle)[at(piece.cut)] += piece.left;
  }
  std::vector<std::int64_t> to_right = middle, rest_to_right = rest_middle;
  for (Piece& piece : pieces) {
    std::int64_t& left = (piece.searched ? to_left : rest_to_left)[at(piece.cut)];
    std::int64_t& right = (piece.searched ? to_right : rest_to_right)[at(piece.cut)];
    piece.to_left = left;
    piece.to_right = right;
    left += piece.left;
    right += piece.n_rows() - piece.left;
  }
  std::erase_if(pieces, [](const Piece& piece) { return piece.whole; });
  parallel_for(static_cast<std::int64_t>(pieces.size()), threads, [&](std::int64_t task, int) {
    const Piece& piece = pieces[at(task)];
    RowList& list = list_of(piece);
    const std::uint32_t* from = list.spare() + piece.begin;
    std::copy_n(from, piece.left, list.rows() + piece.to_left);
    std::copy_n(from + piece.left, piece.n_rows() - piece.left, list.rows() + piece.to_right);
  }, "copy rows");
  for (std::size_t c = 0; c < cuts.size(); ++c) {
    const Node node = nodes_[at(cuts[c].node)];
    nodes_.push_back({node.begin, middle[c], node.rest_begin, rest_middle[c]});
    nodes_.push_back({middle[c], node.end, rest_middle[c], node.rest_end});
  }
  in_order_ = false;
}

template <class Bin>
std::int64_t RowPartition<Bin>::n_leaf_ranges() const {
  if (n_threads_ == 1) return 1;
  const std::int64_t most =
      std::min<std::int64_t>(2 * n_threads_, std::max<std::int64_t>(kManyRanges, n_threads_));
  return std::clamp<std::int64_t>(columns_.n_rows() / kRowsARange, 1, most);
}

// No two ranges of rows are written near each other. A node's rows ascend.
template <class Bin>
void RowPartition<Bin>::write_leaves(std::span<const std::int32_t> leaf_of_node, std::int64_t from,
                                     std::int64_t to, std::uint16_t* leaves) const {
  const bool whole = from == 0 && to == columns_.n_rows();
  const auto write = [&](const std::uint32_t* begin, const std::uint32_t* end, std::uint16_t leaf) {
    if (!whole) begin = first_from(begin, end, from);
    if (!whole) end = first_from(begin, end, to);
    for (; begin < end; ++begin) leaves[*begin] = leaf;
  };
  for (int number = 0; number < n_nodes(); ++number) {
    const std::int32_t leaf = leaf_of_node[at(number)];
    if (leaf < 0) continue;
    const Node& here = node(number);
    const auto name = static_cast<std::uint16_t>(leaf);
    write(searched_.rows() + here.begin, searched_.rows() + here.end, name);
    write(rest_.rows() + here.rest_begin, rest_.rows() + here.rest_end, name);
  }
}

template class RowPartition<std::uint8_t>;
template class RowPartition<std::uint16_t>;

}  // namespace marginboost
