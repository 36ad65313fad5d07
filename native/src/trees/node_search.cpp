#include "trees/node_search.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "marginboost/threads/thread_pool.hpp"

namespace marginboost {
namespace {

// int32 of a chunk's histograms: small enough to stay in the second cache.
constexpr std::int64_t kChunkCells = 1 << 15;
// With fewer rows per thread than this the root is divided by features as well.
constexpr std::int64_t kManyRows = 1 << 13;
constexpr std::int64_t kRowsATask = 1 << 12;
// A node's histograms are kept, to be subtracted from, where it has this many rows a bin: below it,
// to sum the rows again is faster than to read and write the histograms.
constexpr std::int64_t kRowsABin = 4;
// Kept histograms take at most this much memory, in int32.
constexpr std::int64_t kKeptCells = std::int64_t{1} << 22;

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

}  // namespace

template <class Bin>
NodeSearch<Bin>::NodeSearch(const BinColumns<Bin>& columns, const RowPartition<Bin>& partition,
                            const Slots& slots, bool has_copies, int n_threads)
    : columns_(columns),
      partition_(partition),
      slots_(slots),
      has_copies_(has_copies),
      n_threads_(n_threads),
      scratch_(at(n_threads)),
      bests_(at(n_threads)) {}

template <class Bin>
void NodeSearch<Bin>::start_tree(std::span<const std::int32_t> features, const TreeRules& rules) {
  rules_ = rules;
  dense_.clear();
  sparse_.clear();
  dense_at_.clear();
  sparse_at_.clear();
  begins_.clear();
  chunks_.clear();
  dense_places_.clear();
  sparse_places_.clear();
  other_places_.clear();
  by_row_.clear();
  n_cells_ = n_tree_bins_ = 0;
  const bool few_rows = partition_.node(0).n_rows() < kManyRows * n_threads_;
  for (std::size_t q = 0; q < features.size(); ++q) {
    const std::int32_t f = features[q];
    const std::int64_t place = n_tree_bins_ * slots_.lanes;
    n_tree_bins_ += columns_[f].n_bins;
    if (columns_[f].n_bins < 2) {
      other_places_.push_back(place);
      continue;
    }
    if (columns_[f].is_sparse()) {
      sparse_.push_back(f);
      sparse_at_.push_back(q);
      sparse_places_.push_back(place);
      continue;
    }
    if (columns_[f].is_by_row()) {
      by_row_.push_back({f, q, place});
      continue;
    }
    dense_places_.push_back(place);
    const std::int64_t cells = std::int64_t{columns_[f].n_bins} * slots_.lanes;
    const auto number = static_cast<int>(dense_.size());
    // Four features at a time are summed, so a chunk ends only after a multiple of four; and, where
    // there are few rows to share, early enough that every thread gets some of the root's.
    const bool opens =
        chunks_.empty() ||
        (chunks_.back().count % 4 == 0 &&
         (chunks_.back().cells + 4 * cells > kChunkCells ||
          (few_rows && chunks_.back().count * 2 * n_threads_ >= static_cast<int>(features.size()))));
    if (opens) chunks_.push_back({number, 0, n_cells_, 0, 0});
    chunks_.back().count += 1;
    chunks_.back().cells += cells;
    chunks_.back().most_bins = std::max(chunks_.back().most_bins, columns_[f].n_bins);
    dense_.push_back(f);
    dense_at_.push_back(q);
    begins_.push_back(n_cells_);
    n_cells_ += cells;
  }
  if (!by_row_.empty()) {  // after the bins of all columns by row, the node's total
    const std::int64_t cells = (std::int64_t{columns_.row_entries().n_cells} + 1) * slots_.lanes;
    chunks_.push_back({0, 0, n_cells_, cells, 0, true});
    n_cells_ += cells;
  }
  for (NodeSums& node : nodes_) {
    if (node.histograms) spare_.push_back(std::move(node.histograms));
  }
  // Trees draw features with more bins or fewer: a buffer serves those that it is not far too large for.
  std::erase_if(spare_, [&](const Buffer& buffer) {
    const bool serves = buffer.size >= n_cells_ && buffer.size <= 2 * n_cells_;
    if (!serves) kept_ -= buffer.size;
    return !serves;
  });
  nodes_.clear();
  if (!sparse_.empty()) draw_lists();
}

template <class Bin>
typename NodeSearch<Bin>::Buffer NodeSearch<Bin>::take_histograms() {
  if (!spare_.empty()) {
    Buffer buffer = std::move(spare_.back());
    spare_.pop_back();
    return buffer;
  }
  const std::int64_t size = n_cells_ + n_cells_ / 4;
  if (kept_ + size > kKeptCells) return {};
  kept_ += size;
  return {std::make_unique_for_overwrite<std::int32_t[]>(at(size)), size};
}

template <class Bin>
std::vector<typename NodeSearch<Bin>::RowBlock> NodeSearch<Bin>::row_blocks(
    std::span<const std::int32_t> nodes) const {
  std::vector<RowBlock> blocks;
  for (std::size_t q = 0; q < nodes.size(); ++q) {
    const auto& here = partition_.node(nodes[q]);
    for (std::int64_t i = here.begin; i < here.end; i += kRowsATask) {
      blocks.push_back({q, i, std::min(here.end, i + kRowsATask)});
    }
  }
  return blocks;
}

template <class Bin>
std::vector<typename NodeSearch<Bin>::Cells> NodeSearch<Bin>::sum_rows(
    std::span<const std::int32_t> nodes, const std::int32_t* direction) const {
  const int cell = slots_.lanes;
  const std::vector<RowBlock> blocks = row_blocks(nodes);
  std::vector<Cells> parts(blocks.size());
  parallel_for(static_cast<std::int64_t>(blocks.size()), n_threads_, [&](std::int64_t task, int) {
    Cells sums(at(cell), 0);
    for (std::int64_t i = blocks[at(task)].begin; i < blocks[at(task)].end; ++i) {
      add_cell(sums.data(), direction + std::int64_t{partition_.rows()[i]} * cell, cell);
    }
    parts[at(task)] = std::move(sums);
  }, "totals");
  std::vector<Cells> totals(nodes.size(), Cells(at(cell), 0));
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    add_cell(totals[blocks[b].number].data(), parts[b].data(), cell);
  }
  return totals;
}

// Where every row counts once and no list asks for totals, those come with the histograms.
template <class Bin>
void NodeSearch<Bin>::count_rows(std::span<const NodePair> pairs, const std::int32_t* direction) {
  nodes_.resize(at(partition_.n_nodes()));
  totals_.resize(nodes_.size() * at(slots_.lanes));
  if (!has_copies_ && sparse_.empty()) {
    for (const NodePair& pair : pairs) {
      nodes_[at(pair.small)].count = partition_.node(pair.small).n_rows();
      if (pair.large >= 0) nodes_[at(pair.large)].count = partition_.node(pair.large).n_rows();
    }
    return;
  }
  std::vector<std::int32_t> small;
  for (const NodePair& pair : pairs) small.push_back(pair.small);
  std::vector<Cells> totals = sum_rows(small, direction);
  for (std::size_t p = 0; p < pairs.size(); ++p) {
    const NodePair& pair = pairs[p];
    if (pair.large >= 0) {
      const std::int32_t* both = total_of(pair.parent);
      std::int32_t* large = total_of(pair.large);
      for (int j = 0; j < slots_.lanes; ++j) large[j] = both[j] - totals[p][at(j)];
      nodes_[at(pair.large)].count = large[slots_.count_lane()];
    }
    nodes_[at(pair.small)].count = totals[p][at(slots_.count_lane())];
    std::copy(totals[p].begin(), totals[p].end(), total_of(pair.small));
  }
}

template <class Bin>
bool NodeSearch<Bin>::can_split(int node) const {
  return nodes_[at(node)].count >= 2 * std::int64_t{rules_.least_count};
}

template <class Bin>
int NodeSearch<Bin>::first_allowed_chunk(const std::uint8_t* allowed) const {
  for (std::size_t c = 0; c < chunks_.size(); ++c) {
    if (allowed == nullptr || chunks_[c].by_row) return static_cast<int>(c);
    for (int j = 0; j < chunks_[c].count; ++j) {
      if (allowed[dense_at_[at(chunks_[c].first + j)]] != 0) return static_cast<int>(c);
    }
  }
  return -1;
}

template <class Bin>
std::vector<typename NodeSearch<Bin>::Work> NodeSearch<Bin>::plan(
    std::span<const NodePair> pairs) {
  const auto n_columns = static_cast<std::int64_t>(dense_.size()) + (by_row_.empty() ? 0 : 1);
  const auto pays = [&](int node) {
    return n_columns > 0 &&
           partition_.node(node).n_rows() * n_columns >= kRowsABin * (n_cells_ / slots_.lanes);
  };
  std::vector<Work> all;
  all.reserve(pairs.size());
  for (const NodePair& pair : pairs) {
    Work work;
    work.pair = pair;
    work.search_small = pair.search && can_split(pair.small);
    work.search_large = pair.search && pair.large >= 0 && can_split(pair.large);
    Buffer parents;
    if (pair.parent >= 0) parents = std::move(nodes_[at(pair.parent)].histograms);
    if (work.search_large) {
      work.fill_large = !parents;
      if (work.fill_large && pays(pair.large)) parents = take_histograms();
      work.large = parents.cells.get();
      nodes_[at(pair.large)].histograms = std::move(parents);
    } else if (parents) {
      spare_.push_back(std::move(parents));
    }
    if (work.search_small && pays(pair.small)) {
      nodes_[at(pair.small)].histograms = take_histograms();
      work.small = nodes_[at(pair.small)].histograms.cells.get();
    }
    work.totals_chunk = first_allowed_chunk(pair.allowed);
    if (work.search_small || work.search_large) all.push_back(work);
  }
  return all;
}

template <class Bin>
void NodeSearch<Bin>::search(std::span<const NodePair> pairs, const std::int32_t* direction,
                             std::vector<NodeSplit>& splits) {
  count_rows(pairs, direction);
  splits.resize(nodes_.size());
  for (const NodePair& pair : pairs) {
    splits[at(pair.small)] = split_of(pair.small, {});
    if (pair.large >= 0) splits[at(pair.large)] = split_of(pair.large, {});
  }
  std::vector<Work> work = plan(pairs);
  found_.clear();
  if (!chunks_.empty()) search_chunks(work, direction, splits);
  if (!sparse_.empty()) search_sparse(work, direction);
  std::vector<PairBest> best(work.size());
  for (std::size_t g = 0; g < found_.size(); ++g) {
    if (work[groups_[g].work].finished) continue;
    const auto merge = [](Best& into, const Best& other) {
      if (other.feature >= 0) into.offer({other.bin, other.score}, other.feature);
    };
    merge(best[groups_[g].work].small, found_[g].small);
    merge(best[groups_[g].work].large, found_[g].large);
  }
  for (std::size_t w = 0; w < work.size(); ++w) {
    if (work[w].finished) continue;
    const auto finish = [&](int number, Best& one) {
      for (const auto& of_thread : bests_) {
        if (sparse_.empty()) break;
        const Best& other = of_thread[at(number)];
        if (other.feature >= 0) one.offer({other.bin, other.score}, other.feature);
      }
      splits[at(number)] = split_of(number, one);
    };
    if (work[w].search_small) finish(work[w].pair.small, best[w].small);
    if (work[w].search_large) finish(work[w].pair.large, best[w].large);
  }
}

template <class Bin>
NodeSplit NodeSearch<Bin>::split_of(int number, const Best& best) const {
  const NodeSums& node = nodes_[at(number)];
  NodeSplit split;
  split.count = node.count;
  if (best.feature < 0) return split;
  const float score = node_score(total_of(number), slots_, rules_.smoothing);
  if (!(best.score > score)) return split;
  split.feature = best.feature;
  split.bin = best.bin;
  split.gain = static_cast<double>(best.score) - static_cast<double>(score);
  return split;
}

template class NodeSearch<std::uint8_t>;
template class NodeSearch<std::uint16_t>;

}  // namespace marginboost
