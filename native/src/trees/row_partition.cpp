#include "trees/row_partition.hpp"

#include <algorithm>
#include <array>
#include <numeric>

#include "marginboost/threads/thread_pool.hpp"

namespace marginboost {
namespace {

constexpr std::int64_t kRowsATask = 1 << 13;
constexpr std::int64_t kSmallWork = 1 << 15;

constexpr std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

// The finaliser of splitmix64: every bit of the number depends on every other.
std::uint64_t mixed(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
  return z ^ (z >> 31);
}

}  // namespace

template <class Decide, class Moved>
void RowList::divide(std::span<Part> parts, int n_threads, const Decide& decide,
                     const Moved& moved) {
  struct Chunk {
    std::size_t part;
    std::int64_t begin, end, left, to_left, to_right;
    std::int64_t size() const { return end - begin; }
  };
  std::vector<Chunk> chunks;
  std::int64_t work = 0;
  for (std::size_t p = 0; p < parts.size(); ++p) {
    work += parts[p].end - parts[p].begin;
    for (std::int64_t i = parts[p].begin; i < parts[p].end; i += kRowsATask) {
      chunks.push_back({p, i, std::min(parts[p].end, i + kRowsATask), 0, 0, 0});
    }
  }
  if (moved_.size() != rows_.size()) {
    moved_.resize(rows_.size());
    left_.resize(rows_.size());
  }
  const int threads = work < kSmallWork ? 1 : n_threads;
  const auto n_chunks = static_cast<std::int64_t>(chunks.size());
  parallel_for(n_chunks, threads, [&](std::int64_t task, int) {
    Chunk& chunk = chunks[at(task)];
    std::uint8_t* left = left_.data() + chunk.begin;
    decide(parts[chunk.part].number, rows_.data() + chunk.begin, chunk.size(), left);
    chunk.left = std::accumulate(left, left + chunk.size(), std::int64_t{0});
  }, "decide sides");
  for (Part& part : parts) part.middle = part.begin;
  for (const Chunk& chunk : chunks) parts[chunk.part].middle += chunk.left;
  std::vector<std::int64_t> to_left(parts.size()), to_right(parts.size());
  for (std::size_t p = 0; p < parts.size(); ++p) {
    to_left[p] = parts[p].begin;
    to_right[p] = parts[p].middle;
  }
  for (Chunk& chunk : chunks) {
    chunk.to_left = to_left[chunk.part];
    chunk.to_right = to_right[chunk.part];
    to_left[chunk.part] += chunk.left;
    to_right[chunk.part] += chunk.size() - chunk.left;
  }
  parallel_for(n_chunks, threads, [&](std::int64_t task, int) {
    const Chunk& chunk = chunks[at(task)];
    const std::uint32_t* rows = rows_.data() + chunk.begin;
    const std::uint8_t* left = left_.data() + chunk.begin;
    // Every row is written to both lists, one of them to stay: there is nothing to guess.
    std::array<std::uint32_t, at(kRowsATask) + 1> lefts, rights;
    std::size_t n_left = 0, n_right = 0;
    for (std::int64_t i = 0; i < chunk.size(); ++i) {
      lefts[n_left] = rights[n_right] = rows[i];
      n_left += left[i];
      n_right += std::size_t{1} - left[i];
    }
    std::copy_n(lefts.begin(), n_left, moved_.begin() + chunk.to_left);
    std::copy_n(rights.begin(), n_right, moved_.begin() + chunk.to_right);
    moved(parts[chunk.part].number, rows, chunk.size(), left);
  }, "move rows");
  parallel_for(n_chunks, threads, [&](std::int64_t task, int) {
    const Chunk& chunk = chunks[at(task)];
    std::copy(moved_.begin() + chunk.begin, moved_.begin() + chunk.end,
              rows_.begin() + chunk.begin);
  }, "copy rows");
}

template <class Bin>
RowPartition<Bin>::RowPartition(const BinColumns<Bin>& columns, int n_threads)
    : columns_(columns), n_threads_(n_threads) {
  if (!columns.any_sparse()) return;
  node_of_row_.assign(at(columns.n_rows()), 0);
  marked_.assign(at(columns.n_rows()), 0);
}

template <class Bin>
void RowPartition<Bin>::restart(const RowSample& sample, const TreeShardData& data) {
  auto& rows = searched_.rows();
  auto& rest = rest_.rows();
  const bool all = sample.limit == ~std::uint64_t{0};
  in_order_ = all && data.weight.empty();
  drawn_.clear();
  if (!all && data.hashes != nullptr && data.copies != nullptr) count_copies(sample, data);
  if (in_order_) {
    rest.clear();
    rows.resize(at(columns_.n_rows()));
    std::iota(rows.begin(), rows.end(), 0U);
  } else {
    draw(sample, data);
  }
  nodes_.assign(1, {0, static_cast<std::int64_t>(rows.size()), 0,
                    static_cast<std::int64_t>(rest.size())});
  std::fill(node_of_row_.begin(), node_of_row_.end(), 0);
  if (node_of_row_.empty()) return;
  for (const std::uint32_t row : rest) node_of_row_[row] = ~0;
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
  auto& rows = searched_.rows();
  auto& rest = rest_.rows();
  rows.resize(at(m));
  rest.resize(at(m));
  std::size_t n_rows = 0, n_rest = 0;
  for (std::int64_t i = 0; i < m; ++i) {
    const bool hit = drawn_.empty() ? data.hashes == nullptr || data.copies != nullptr ||
                                          mixed(data.hashes[i] ^ sample.seed) <= sample.limit
                                    : drawn_[at(i)] > 0;
    const bool seen = hit && (data.weight.empty() || data.weight[at(i)] > 0.0F);
    // Both lists are written, one of them to stay: there is nothing to guess.
    rows[n_rows] = rest[n_rest] = static_cast<std::uint32_t>(i);
    n_rows += seen ? 1 : 0;
    n_rest += seen ? 0 : 1;
  }
  rows.resize(n_rows);
  rest.resize(n_rest);
}

// A row that a sparse column does not name goes where the default bin goes.
template <class Bin>
void RowPartition<Bin>::mark_entries(std::span<const NodeCut> cuts) {
  for (const NodeCut& cut : cuts) {
    const BinColumn<Bin>& column = columns_[cut.feature];
    if (column.dense) continue;
    const bool usual = column.default_bin <= cut.bin;
    for (std::int64_t j = 0; j < column.n_entries; ++j) {
      if ((column.bins[j] <= cut.bin) == usual) continue;
      // Other cuts on other columns mark other nodes' rows: those must not be mistaken for these.
      const auto row = at(column.rows[j]);
      const std::int32_t node = node_of_row_[row];
      if (node == cut.node || node == ~cut.node) marked_[row] = 1;
    }
  }
}

template <class Bin>
void RowPartition<Bin>::divide(std::span<const NodeCut> cuts) {
  const auto first = static_cast<std::int32_t>(nodes_.size());
  const bool follow = !node_of_row_.empty();
  const auto divide_list = [&](RowList& list, bool searched) {
    std::vector<RowList::Part> parts;
    for (std::size_t c = 0; c < cuts.size(); ++c) {
      const Node& node = nodes_[at(cuts[c].node)];
      const std::int64_t begin = searched ? node.begin : node.rest_begin;
      const std::int64_t end = searched ? node.end : node.rest_end;
      parts.push_back({begin, end, begin, static_cast<std::int32_t>(c)});
    }
    list.divide(
        parts, n_threads_,
        [&](std::int32_t number, const std::uint32_t* rows, std::int64_t n, std::uint8_t* left) {
          const int bin = cuts[at(number)].bin;
          const BinColumn<Bin>& column = columns_[cuts[at(number)].feature];
          const Bin* bins = column.dense;
          const std::uint8_t usual = column.default_bin <= bin ? 1 : 0;
          for (std::int64_t i = 0; bins && i < n; ++i) left[i] = bins[rows[i]] <= bin ? 1 : 0;
          for (std::int64_t i = 0; !bins && i < n; ++i) left[i] = usual ^ marked_[rows[i]];
        },
        [&](std::int32_t number, const std::uint32_t* rows, std::int64_t n,
            const std::uint8_t* left) {
          const std::int32_t node = first + 2 * number;
          for (std::int64_t i = 0; follow && i < n; ++i) {
            const std::int32_t child = node + 1 - left[i];
            node_of_row_[rows[i]] = searched ? child : ~child;
            marked_[rows[i]] = 0;
          }
        });
    return parts;
  };
  if (follow) mark_entries(cuts);
  const std::vector<RowList::Part> searched = divide_list(searched_, true);
  const std::vector<RowList::Part> rest =
      rest_.rows().empty() ? std::vector<RowList::Part>(cuts.size()) : divide_list(rest_, false);
  for (std::size_t c = 0; c < cuts.size(); ++c) {
    nodes_.push_back({searched[c].begin, searched[c].middle, rest[c].begin, rest[c].middle});
    nodes_.push_back({searched[c].middle, searched[c].end, rest[c].middle, rest[c].end});
  }
  in_order_ = false;
}

template <class Bin>
void RowPartition<Bin>::write_leaves(std::span<const std::int32_t> leaf_of_node,
                                     std::uint16_t* leaves) const {
  parallel_for(n_nodes(), columns_.n_rows() < kSmallWork ? 1 : n_threads_,
               [&](std::int64_t number, int) {
                 const std::int32_t leaf = leaf_of_node[at(number)];
                 if (leaf < 0) return;
                 const auto name = static_cast<std::uint16_t>(leaf);
                 const Node& here = nodes_[at(number)];
                 for (std::int64_t i = here.begin; i < here.end; ++i) {
                   leaves[searched_.rows()[at(i)]] = name;
                 }
                 for (std::int64_t i = here.rest_begin; i < here.rest_end; ++i) {
                   leaves[rest_.rows()[at(i)]] = name;
                 }
               }, "write leaves");
}

template class RowPartition<std::uint8_t>;
template class RowPartition<std::uint16_t>;

}  // namespace marginboost
