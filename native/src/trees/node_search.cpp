#include "trees/node_search.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "marginboost/threads/thread_pool.hpp"

namespace marginboost {
namespace {

// Rows whose directions stay in the second cache while the features of a chunk pass over them.
constexpr std::int64_t kRowBlock = 2048;
// int32 of a chunk's histograms: small enough to stay in the second cache too.
constexpr std::int64_t kChunkCells = 1 << 15;
// Adds of a cell, and bins scanned, that are worth a second thread: some 50 microseconds.
constexpr std::int64_t kSmallWork = 1 << 12;
// A node's histograms are kept, to be subtracted from, where it has this many rows a bin: below it,
// to sum the rows again is faster than to read and write the histograms.
constexpr std::int64_t kRowsABin = 4;
// Kept histograms take at most this much memory.
constexpr std::int64_t kKeptBytes = std::int64_t{1} << 24;

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
  n_cells_ = n_tree_bins_ = 0;
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
    dense_places_.push_back(place);
    const std::int64_t cells = std::int64_t{columns_[f].n_bins} * slots_.lanes;
    const auto number = static_cast<int>(dense_.size());
    // Four features at a time are summed, so a chunk ends only after a multiple of four; and early
    // enough that every thread gets some of the root's.
    const bool opens =
        chunks_.empty() ||
        (chunks_.back().count % 4 == 0 &&
         (chunks_.back().cells + 4 * cells > kChunkCells ||
          chunks_.back().count * 2 * n_threads_ >= static_cast<int>(features.size())));
    if (opens) chunks_.push_back({number, 0, n_cells_, 0, 0});
    chunks_.back().count += 1;
    chunks_.back().cells += cells;
    chunks_.back().most_bins = std::max(chunks_.back().most_bins, columns_[f].n_bins);
    dense_.push_back(f);
    dense_at_.push_back(q);
    begins_.push_back(n_cells_);
    n_cells_ += cells;
  }
  for (NodeSums& node : nodes_) {
    if (node.histograms && at(n_cells_) == node.histograms->size()) {
      spare_.push_back(std::move(node.histograms));
    }
  }
  std::erase_if(spare_, [&](const auto& cells) { return cells->size() != at(n_cells_); });
  kept_ = static_cast<std::int64_t>(spare_.size());
  nodes_.clear();
  if (!sparse_.empty()) draw_lists();
}

template <class Bin>
std::unique_ptr<typename NodeSearch<Bin>::Cells> NodeSearch<Bin>::take_histograms() {
  if (!spare_.empty()) {
    auto cells = std::move(spare_.back());
    spare_.pop_back();
    return cells;
  }
  const std::int64_t bytes = n_cells_ * static_cast<std::int64_t>(sizeof(std::int32_t));
  if ((kept_ + 1) * bytes > kKeptBytes) return nullptr;
  ++kept_;
  return std::make_unique<Cells>(at(n_cells_));
}

template <class Bin>
typename NodeSearch<Bin>::Cells NodeSearch<Bin>::sum_rows(int node,
                                                          const std::int32_t* direction) const {
  const int cell = slots_.lanes;
  Cells total(at(cell), 0);
  const auto& here = partition_.node(node);
  for (std::int64_t i = here.begin; i < here.end; ++i) {
    add_cell(total.data(), direction + std::int64_t{partition_.rows()[i]} * cell, cell);
  }
  return total;
}

template <class Bin>
void NodeSearch<Bin>::sum_totals(std::span<const NodePair> pairs, const std::int32_t* direction) {
  const int cell = slots_.lanes;
  nodes_.resize(at(partition_.n_nodes()));
  for (const NodePair& pair : pairs) {
    Cells& total = nodes_[at(pair.small)].total;
    total = sum_rows(pair.small, direction);
    nodes_[at(pair.small)].score = node_score(total.data(), slots_, rules_.smoothing);
    if (pair.large < 0) continue;
    NodeSums& large = nodes_[at(pair.large)];
    large.total = nodes_[at(pair.parent)].total;
    for (int j = 0; j < cell; ++j) large.total[at(j)] -= total[at(j)];
    large.score = node_score(large.total.data(), slots_, rules_.smoothing);
  }
}

template <class Bin>
bool NodeSearch<Bin>::can_split(int node) const {
  return nodes_[at(node)].total[at(slots_.count_lane())] >= 2 * std::int64_t{rules_.least_count};
}

template <class Bin>
std::vector<typename NodeSearch<Bin>::Work> NodeSearch<Bin>::plan(
    std::span<const NodePair> pairs) {
  const std::int64_t n_bins = dense_.empty() ? 0 : n_cells_ / slots_.lanes /
                                                       static_cast<std::int64_t>(dense_.size());
  const auto pays = [&](int node) {
    return !dense_.empty() && partition_.node(node).n_rows() >= kRowsABin * n_bins;
  };
  std::vector<Work> all;
  for (const NodePair& pair : pairs) {
    Work work;
    work.pair = pair;
    work.search_small = pair.search && can_split(pair.small);
    work.search_large = pair.search && pair.large >= 0 && can_split(pair.large);
    std::unique_ptr<Cells> parents =
        pair.parent < 0 ? nullptr : std::move(nodes_[at(pair.parent)].histograms);
    if (work.search_large) {
      work.fill_large = parents == nullptr;
      if (work.fill_large && pays(pair.large)) parents = take_histograms();
      work.large = parents ? parents->data() : nullptr;
      nodes_[at(pair.large)].histograms = std::move(parents);
    } else if (parents) {
      spare_.push_back(std::move(parents));
    }
    if (work.search_small && pays(pair.small)) {
      nodes_[at(pair.small)].histograms = take_histograms();
      auto& kept = nodes_[at(pair.small)].histograms;
      work.small = kept ? kept->data() : nullptr;
    }
    if (work.search_small || work.search_large) all.push_back(work);
  }
  return all;
}

template <class Bin>
void NodeSearch<Bin>::search(std::span<const NodePair> pairs, const std::int32_t* direction,
                             std::vector<NodeSplit>& splits) {
  sum_totals(pairs, direction);
  splits.resize(nodes_.size());
  for (auto& best : bests_) best.assign(nodes_.size(), {});
  const std::vector<Work> work = plan(pairs);
  if (!dense_.empty()) search_dense(work, direction);
  if (!sparse_.empty()) search_sparse(work, direction);
  for (const NodePair& pair : pairs) {
    for (const int number : {pair.small, pair.large}) {
      if (number < 0) continue;
      const NodeSums& node = nodes_[at(number)];
      Best best;
      for (const auto& of_thread : bests_) {
        const Best& other = of_thread[at(number)];
        if (other.feature >= 0) best.offer({other.bin, other.score}, other.feature);
      }
      NodeSplit& split = splits[at(number)];
      split = {};
      split.count = node.total[at(slots_.count_lane())];
      if (best.feature < 0 || !(best.score > node.score)) continue;
      split.feature = best.feature;
      split.bin = best.bin;
      split.gain = static_cast<double>(best.score) - static_cast<double>(node.score);
    }
  }
}

template <class Bin>
void NodeSearch<Bin>::search_dense(std::span<const Work> work, const std::int32_t* direction) {
  const auto n_chunks = static_cast<std::int64_t>(chunks_.size());
  const auto n_tasks = static_cast<std::int64_t>(work.size()) * n_chunks;
  std::int64_t rows = 0, bins = 0;
  for (const Work& one : work) {
    for (const int node : {one.pair.small, one.fill_large ? one.pair.large : -1}) {
      if (node < 0) continue;
      rows += partition_.node(node).n_rows();
      bins += std::min(partition_.node(node).n_rows() * static_cast<std::int64_t>(dense_.size()),
                       n_cells_ / slots_.lanes);
    }
  }
  const std::int64_t size = static_cast<std::int64_t>(dense_.size()) * rows + 2 * bins;
  parallel_for(n_tasks, size < kSmallWork ? 1 : n_threads_, [&](std::int64_t task, int slot) {
    search_chunk(work[at(task / n_chunks)], chunks_[at(task % n_chunks)], direction,
                 scratch_[at(slot)], bests_[at(slot)]);
  }, "dense columns");
}

// With fewer rows than bins, most bins are empty: those that are not are listed.
template <class Bin>
bool NodeSearch<Bin>::is_small(int node, const Chunk& chunk) const {
  return partition_.node(node).n_rows() <= chunk.most_bins;
}

template <class Bin>
void NodeSearch<Bin>::list_fours(const Chunk& chunk, const std::uint8_t* allowed,
                                 std::vector<Four>& out) const {
  out.clear();
  for (int j = 0; j < chunk.count; ++j) {
    const auto number = at(chunk.first + j);
    if (allowed != nullptr && allowed[dense_at_[number]] == 0) continue;
    if (out.empty() || out.back().count == 4) out.emplace_back();
    Four& four = out.back();
    four.numbers[four.count++] = number;
  }
}

template <class Bin>
void NodeSearch<Bin>::search_chunk(const Work& work, const Chunk& chunk,
                                   const std::int32_t* direction, Scratch& scratch,
                                   std::vector<Best>& best) const {
  const NodePair& pair = work.pair;
  // What a pair may not split, no node below it may: nobody reads those sums again.
  list_fours(chunk, pair.allowed, scratch.fours);
  const std::span<const Four> fours(scratch.fours);
  if (fours.empty()) return;
  if (scratch.cells.size() < at(2 * chunk.cells)) scratch.cells.resize(at(2 * chunk.cells));
  std::int32_t* large =
      work.large ? work.large + chunk.begin : scratch.cells.data() + chunk.cells;
  const bool subtract = work.search_large && !work.fill_large;
  if (work.small == nullptr && is_small(pair.small, chunk)) {
    if (work.search_small || subtract) {
      search_few(pair.small, work.search_small, chunk, fours, direction,
                 subtract ? large : nullptr, scratch, best);
    }
  } else {
    std::int32_t* small = work.small ? work.small + chunk.begin : scratch.cells.data();
    if (work.search_small || subtract) fill(pair.small, chunk, fours, direction, small);
    if (work.search_small) scan_chunk(pair.small, chunk, fours, small, best);
    if (subtract) {
      for (std::int64_t c = 0; c < chunk.cells; ++c) large[c] -= small[c];
    }
  }
  if (!work.search_large) return;
  if (work.fill_large && work.large == nullptr && is_small(pair.large, chunk)) {
    search_few(pair.large, true, chunk, fours, direction, nullptr, scratch, best);
    return;
  }
  if (work.fill_large) fill(pair.large, chunk, fours, direction, large);
  scan_chunk(pair.large, chunk, fours, large, best);
}

// The cost of a feature here is that of the node's rows, not of the feature's bins.
template <class Bin>
void NodeSearch<Bin>::search_few(int node, bool search, const Chunk& chunk,
                                 std::span<const Four> fours, const std::int32_t* direction,
                                 std::int32_t* larger, Scratch& scratch,
                                 std::vector<Best>& best) const {
  const int cell = slots_.lanes;
  const auto& here = partition_.node(node);
  const std::int64_t n_words = (chunk.most_bins + 63) / 64;
  const std::int64_t stride = std::int64_t{chunk.most_bins} * cell;
  if (scratch.clean.size() < at(4 * stride)) scratch.clean.assign(at(4 * stride), 0);
  if (scratch.marks.size() < at(4 * n_words)) scratch.marks.assign(at(4 * n_words), 0);
  scratch.listed.resize(at(chunk.most_bins));
  for (const Four& four : fours) {
    const int count = four.count;
    const Bin* bins[4];
    std::int32_t* hist[4];
    std::uint64_t* marks[4];
    for (int j = 0; j < count; ++j) {
      bins[j] = columns_[dense_[four.numbers[j]]].dense;
      hist[j] = scratch.clean.data() + j * stride;
      marks[j] = scratch.marks.data() + j * n_words;
    }
    const std::uint32_t* order = partition_.rows() + here.begin;
    if constexpr (sizeof(Bin) == 1) {
      tree_kernels().mark_rows8(direction, slots_, order, here.n_rows(), bins, count, hist, marks);
    } else {
      tree_kernels().mark_rows16(direction, slots_, order, here.n_rows(), bins, count, hist, marks);
    }
    for (int j = 0; j < count; ++j) {
      std::size_t n = 0;
      for (std::int64_t w = 0; w < n_words; ++w) {
        for (std::uint64_t left = marks[j][w]; left != 0; left &= left - 1) {
          scratch.listed[n++] = static_cast<std::int32_t>(64 * w + std::countr_zero(left));
        }
        marks[j][w] = 0;
      }
      const std::size_t number = four.numbers[j];
      const std::span<const std::int32_t> listed(scratch.listed.data(), n);
      if (search) scan_column(node, dense_[number], hist[j], listed, best);
      std::int32_t* from = larger ? larger + (begins_[number] - chunk.begin) : nullptr;
      for (const std::int32_t bin : listed) {
        std::int32_t* own = hist[j] + std::int64_t{bin} * cell;
        for (int c = 0; from && c < cell; ++c) from[std::int64_t{bin} * cell + c] -= own[c];
        std::fill_n(own, cell, 0);
      }
    }
  }
}

template <class Bin>
void NodeSearch<Bin>::fill(int node, const Chunk& chunk, std::span<const Four> fours,
                           const std::int32_t* direction, std::int32_t* out) const {
  std::fill_n(out, chunk.cells, 0);
  add_rows(node, chunk, fours, direction, begins_, out);
}

template <class Bin>
void NodeSearch<Bin>::add_rows(int node, const Chunk& chunk, std::span<const Four> fours,
                               const std::int32_t* direction,
                               const std::vector<std::int64_t>& begins, std::int32_t* out) const {
  const std::int64_t chunk_begin = begins[at(chunk.first)];
  const auto& here = partition_.node(node);
  for (std::int64_t begin = here.begin; begin < here.end; begin += kRowBlock) {
    const std::int64_t n = std::min(kRowBlock, here.end - begin);
    const std::uint32_t* order = partition_.in_order() ? nullptr : partition_.rows() + begin;
    for (const Four& four : fours) {
      const int count = four.count;
      const Bin* bins[4];
      std::int32_t* hist[4];
      for (int j = 0; j < count; ++j) {
        const std::size_t number = four.numbers[j];
        bins[j] = columns_[dense_[number]].dense;
        hist[j] = out + (begins[number] - chunk_begin);
      }
      if constexpr (sizeof(Bin) == 1) {
        tree_kernels().add_rows8(direction, slots_, order, begin, n, bins, count, hist);
      } else {
        tree_kernels().add_rows16(direction, slots_, order, begin, n, bins, count, hist);
      }
    }
  }
}

template <class Bin>
void NodeSearch<Bin>::scan_chunk(int node, const Chunk& chunk, std::span<const Four> fours,
                                 const std::int32_t* hist, std::vector<Best>& best) const {
  for (const Four& four : fours) {
    for (int j = 0; j < four.count; ++j) {
      const std::size_t number = four.numbers[j];
      scan_column(node, dense_[number], hist + (begins_[number] - chunk.begin), {}, best);
    }
  }
}

template <class Bin>
void NodeSearch<Bin>::scan_column(int node, int feature, const std::int32_t* hist,
                                  std::span<const std::int32_t> listed,
                                  std::vector<Best>& best) const {
  SplitScan scan;
  scan.hist = hist;
  scan.total = nodes_[at(node)].total.data();
  scan.slots = slots_;
  scan.n_bins = columns_[feature].n_bins;
  scan.listed = listed.data();
  scan.n_listed = static_cast<std::int64_t>(listed.size());
  scan.least_count = rules_.least_count;
  scan.smoothing = rules_.smoothing;
  best[at(node)].offer(tree_kernels().scan(scan), feature);
}

template class NodeSearch<std::uint8_t>;
template class NodeSearch<std::uint16_t>;

}  // namespace marginboost
