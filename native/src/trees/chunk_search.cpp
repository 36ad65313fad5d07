// The best splits of nodes by histograms of a few features at a time.
//
// Tasks are pairs of nodes and chunks of features: see search_tasks.cpp.
#include <algorithm>

#include "marginboost/threads/thread_pool.hpp"
#include "trees/node_search.hpp"

namespace marginboost {
namespace {

// Rows whose directions stay in the second cache while the features of a chunk pass over them.
constexpr std::int64_t kRowBlock = 2048;
// Adds of a cell, and bins scanned, that are worth a second thread.
constexpr std::int64_t kSmallWork = 1 << 12;

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

}  // namespace

template <class Bin>
void NodeSearch<Bin>::search_chunks(std::span<Work> work, const std::int32_t* direction,
                                    std::vector<NodeSplit>& splits) {
  const std::int64_t width =
      static_cast<std::int64_t>(dense_.size()) + (by_row_.empty() ? 0 : kByRowColumns);
  const std::int64_t all_bins = n_cells_ / slots_.lanes;
  std::int64_t size = 0;
  for (Work& one : work) {
    for (const int node : {one.pair.small, one.fill_large ? one.pair.large : -1}) {
      if (node < 0) continue;
      const std::int64_t adds = partition_.node(node).n_rows() * width;
      one.cost += adds + 2 * std::min(adds, all_bins);
    }
    size += one.cost;
  }
  const int threads = size < kSmallWork ? 1 : n_threads_;
  cut_groups(work, size, threads);
  const auto n_fills = static_cast<std::int64_t>(fills_.size());
  const auto n_tasks = static_cast<std::int64_t>(first_group_.size()) - 1;
  found_.assign(groups_.size(), {});
  const auto search = [&](std::int64_t number, int slot) {
    const Group& group = groups_[at(number)];
    Work& one = work[group.work];
    Scratch& scratch = scratch_[at(slot)];
    PairBest& best = found_[at(number)];
    if (group.column >= 0) return search_blocks(one, group, scratch, best);
    if (group.chunk >= 0) return search_chunk(one, group.chunk, direction, scratch, best);
    for (int c = 0; c < static_cast<int>(chunks_.size()); ++c) {
      search_chunk(one, c, direction, scratch, best);
    }
    if (!sparse_.empty()) return;
    if (one.search_small) splits[at(one.pair.small)] = split_of(one.pair.small, best.small);
    if (one.search_large) splits[at(one.pair.large)] = split_of(one.pair.large, best.large);
    one.finished = true;
  };
  // First what several tasks share: it takes longest. Groups that wait for it come after that.
  parallel_for(n_fills + n_tasks, threads, [&](std::int64_t task, int slot) {
    if (task >= n_fills) {
      const auto first = at(task - n_fills);
      for (std::int64_t g = first_group_[first]; g < first_group_[first + 1]; ++g) search(g, slot);
      return;
    }
    const Fill& fill = fills_[at(task)];
    fill_block(work[fill.work], fill, direction, scratch_[at(slot)]);
  }, "histograms");
  if (n_fills > 0) parallel_for(first_group_[0], threads, search, "scan of shared nodes");
}

template <class Bin>
std::int32_t* NodeSearch<Bin>::sums_of(const Work& work, const Fill& fill) {
  return fill.place < 0 ? work.small + chunks_[at(fill.chunk)].begin : partials_.get() + fill.place;
}

template <class Bin>
void NodeSearch<Bin>::fill_block(const Work& work, const Fill& block, const std::int32_t* direction,
                                 Scratch& scratch) {
  const Chunk& chunk = chunks_[at(block.chunk)];
  list_fours(chunk, work.pair.allowed, scratch.fours);
  if (scratch.fours.empty() && !chunk.by_row) return;
  fill(block.begin, block.end, chunk, scratch.fours, direction, sums_of(work, block));
}

// Adds up what the tasks summed of a feature, or of all that are listed by row, and searches it.
template <class Bin>
void NodeSearch<Bin>::search_blocks(const Work& work, const Group& group, Scratch& scratch,
                                    PairBest& best) {
  const Chunk& chunk = chunks_[at(group.chunk)];
  const std::uint8_t* allowed = work.pair.allowed;
  const auto may_split = [&](int column) {
    return allowed == nullptr || allowed[dense_at_[at(chunk.first + column)]] != 0;
  };
  Four one;
  std::int64_t begin = 0, cells = chunk.cells;
  bool is_first = true;
  if (!chunk.by_row) {
    if (!may_split(group.column)) return;
    for (int column = 0; column < group.column; ++column) is_first = is_first && !may_split(column);
    const auto number = at(chunk.first + group.column);
    one.numbers[one.count++] = number;
    begin = begins_[number] - chunk.begin;
    cells = std::int64_t{columns_[dense_[number]].n_bins} * slots_.lanes;
  }
  const std::span<const Fill> blocks(fills_.data() + group.first_block, at(group.n_blocks));
  std::int32_t* small = sums_of(work, blocks[0]);
  std::int32_t* large = work.subtract() ? work.large + chunk.begin : nullptr;
  for (const Fill& block : blocks.subspan(1)) {
    const std::int32_t* more = sums_of(work, block);
    for (std::int64_t c = begin; c < begin + cells; ++c) small[c] += more[c];
  }
  for (std::int64_t c = begin; large && c < begin + cells; ++c) large[c] -= small[c];
  const std::span<const Four> fours(&one, 1);
  const bool keep = group.chunk == work.totals_chunk && is_first;
  if (work.search_small) scan(work.pair.small, chunk, fours, allowed, small, scratch, keep, best.small);
  if (large) scan(work.pair.large, chunk, fours, allowed, large, scratch, keep, best.large);
}

// With fewer rows than bins, most bins are empty: those that are not are listed.
template <class Bin>
bool NodeSearch<Bin>::is_small(int node, const Chunk& chunk) const {
  return !chunk.by_row && partition_.node(node).n_rows() <= chunk.most_bins;
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
void NodeSearch<Bin>::search_chunk(const Work& work, int number, const std::int32_t* direction,
                                   Scratch& scratch, PairBest& best) {
  const NodePair& pair = work.pair;
  const Chunk& chunk = chunks_[at(number)];
  const bool keep = number == work.totals_chunk;
  // What a pair may not split, no node below it may: nobody reads those sums again.
  list_fours(chunk, pair.allowed, scratch.fours);
  const std::span<const Four> fours(scratch.fours);
  if (fours.empty() && !chunk.by_row) return;
  if (scratch.cells.size() < at(2 * chunk.cells)) scratch.cells.resize(at(2 * chunk.cells));
  std::int32_t* large =
      work.large ? work.large + chunk.begin : scratch.cells.data() + chunk.cells;
  const auto fill_node = [&](int node, std::int32_t* out) {
    fill(partition_.node(node).begin, partition_.node(node).end, chunk, fours, direction, out);
  };
  if (work.small == nullptr && is_small(pair.small, chunk)) {
    if (work.search_small || work.subtract()) {
      search_few(pair.small, work.search_small, chunk, fours, direction,
                 work.subtract() ? large : nullptr, scratch, keep, best.small);
    }
  } else {
    std::int32_t* small = work.small ? work.small + chunk.begin : scratch.cells.data();
    if (work.search_small || work.subtract()) fill_node(pair.small, small);
    if (work.search_small) {
      scan(pair.small, chunk, fours, pair.allowed, small, scratch, keep, best.small);
    }
    if (work.subtract()) {
      for (std::int64_t c = 0; c < chunk.cells; ++c) large[c] -= small[c];
    }
  }
  if (!work.search_large) return;
  if (work.fill_large && work.large == nullptr && is_small(pair.large, chunk)) {
    search_few(pair.large, true, chunk, fours, direction, nullptr, scratch, keep, best.large);
    return;
  }
  if (work.fill_large) fill_node(pair.large, large);
  scan(pair.large, chunk, fours, pair.allowed, large, scratch, keep, best.large);
}

// The cost of a feature here is that of the node's rows, not of the feature's bins.
template <class Bin>
void NodeSearch<Bin>::search_few(int node, bool search, const Chunk& chunk,
                                 std::span<const Four> fours, const std::int32_t* direction,
                                 std::int32_t* larger, Scratch& scratch, bool keep, Best& best) {
  const int cell = slots_.lanes;
  const auto& here = partition_.node(node);
  const std::int64_t n_words = (chunk.most_bins + 63) / 64;
  const std::int64_t stride = std::int64_t{chunk.most_bins} * cell;
  if (scratch.clean.size() < at(4 * stride)) scratch.clean.assign(at(4 * stride), 0);
  if (scratch.marks.size() < at(4 * n_words)) scratch.marks.assign(at(4 * n_words), 0);
  if (scratch.listed.size() < at(chunk.most_bins)) scratch.listed.resize(at(chunk.most_bins));
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
      const std::size_t n = take_marked(marks[j], n_words, scratch.listed.data());
      const std::size_t number = four.numbers[j];
      const std::span<const std::int32_t> listed(scratch.listed.data(), n);
      if (search && j == 0 && &four == fours.data()) {  // any feature's bins add up to the node
        scratch.total.assign(at(cell), 0);
        for (const std::int32_t bin : listed) {
          add_cell(scratch.total.data(), hist[0] + std::int64_t{bin} * cell, cell);
        }
        if (keep) std::copy(scratch.total.begin(), scratch.total.end(), total_of(node));
      }
      if (search) {
        best.offer(scan_column(dense_[number], hist[j], listed, scratch.total.data()),
                   dense_[number]);
      }
      std::int32_t* from = larger ? larger + (begins_[number] - chunk.begin) : nullptr;
      for (const std::int32_t bin : listed) {
        std::int32_t* own = hist[j] + std::int64_t{bin} * cell;
        if (from != nullptr) {
          std::int32_t* rest = from + std::int64_t{bin} * cell;
          for_cell(cell, [=](int c) { rest[c] -= own[c]; });
        }
        for_cell(cell, [=](int c) { own[c] = 0; });
      }
    }
  }
}

template <class Bin>
void NodeSearch<Bin>::fill(std::int64_t begin, std::int64_t end, const Chunk& chunk,
                           std::span<const Four> fours, const std::int32_t* direction,
                           std::int32_t* out) const {
  std::fill_n(out, chunk.cells, 0);
  if (!chunk.by_row) return add_rows(begin, end, chunk, fours, direction, begins_, out);
  const RowEntries& entries = columns_.row_entries();
  const std::uint32_t* order = partition_.in_order() ? nullptr : partition_.rows() + begin;
  tree_kernels().add_entries(direction, slots_, order, begin, end - begin, entries.offsets.data(),
                             entries.cells.data(), out, out + chunk.cells - slots_.lanes);
}

template <class Bin>
void NodeSearch<Bin>::add_rows(std::int64_t first, std::int64_t last, const Chunk& chunk,
                               std::span<const Four> fours, const std::int32_t* direction,
                               const std::vector<std::int64_t>& begins, std::int32_t* out) const {
  const std::int64_t chunk_begin = begins[at(chunk.first)];
  for (std::int64_t begin = first; begin < last; begin += kRowBlock) {
    const std::int64_t n = std::min(kRowBlock, last - begin);
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
void NodeSearch<Bin>::scan(int node, const Chunk& chunk, std::span<const Four> fours,
                           const std::uint8_t* allowed, const std::int32_t* hist, Scratch& scratch,
                           bool keep, Best& best) {
  const int cell = slots_.lanes;
  scratch.total.assign(at(cell), 0);
  std::int32_t* total = scratch.total.data();
  if (chunk.by_row) {
    std::copy_n(hist + chunk.cells - cell, cell, total);
  } else {  // any feature's bins add up to the node
    const std::size_t number = fours[0].numbers[0];
    const std::int32_t* bins = hist + (begins_[number] - chunk.begin);
    for (std::int64_t b = 0; b < columns_[dense_[number]].n_bins; ++b) {
      add_cell(total, bins + b * cell, cell);
    }
  }
  if (keep) std::copy(scratch.total.begin(), scratch.total.end(), total_of(node));
  if (chunk.by_row) return scan_by_row(allowed, hist, total, scratch, best);
  for (const Four& four : fours) {
    for (int j = 0; j < four.count; ++j) {
      const int feature = dense_[four.numbers[j]];
      const std::int32_t* bins = hist + (begins_[four.numbers[j]] - chunk.begin);
      best.offer(scan_column(feature, bins, {}, total), feature);
    }
  }
}

template <class Bin>
void NodeSearch<Bin>::scan_by_row(const std::uint8_t* allowed, const std::int32_t* hist,
                                  const std::int32_t* total, Scratch& scratch, Best& best) const {
  const int cell = slots_.lanes;
  for (const ByRow& one : by_row_) {
    if (allowed != nullptr && allowed[one.at] == 0) continue;
    const BinColumn<Bin>& column = columns_[one.feature];
    const std::int32_t* bins = hist + std::int64_t{column.row_cell} * cell;
    std::int64_t count = 0;  // of the entries: one side of every split has no others
    for (std::int64_t b = 0; b < column.n_bins; ++b) count += bins[b * cell + slots_.count_lane()];
    if (count < rules_.least_count) continue;
    scratch.column.assign(bins, bins + std::int64_t{column.n_bins} * cell);
    add_rest(column, {}, total, scratch.column.data());
    best.offer(scan_column(one.feature, scratch.column.data(), {}, total), one.feature);
  }
}

template <class Bin>
SplitFound NodeSearch<Bin>::scan_column(int feature, const std::int32_t* hist,
                                        std::span<const std::int32_t> listed,
                                        const std::int32_t* total) const {
  SplitScan scan;
  scan.hist = hist;
  scan.total = total;
  scan.slots = slots_;
  scan.n_bins = columns_[feature].n_bins;
  scan.listed = listed.data();
  scan.n_listed = static_cast<std::int64_t>(listed.size());
  scan.least_count = rules_.least_count;
  scan.smoothing = rules_.smoothing;
  return tree_kernels().scan(scan);
}

template void NodeSearch<std::uint8_t>::search_chunks(std::span<Work>, const std::int32_t*,
                                                         std::vector<NodeSplit>&);
template void NodeSearch<std::uint8_t>::list_fours(const Chunk&, const std::uint8_t*,
                                          std::vector<Four>&) const;
template void NodeSearch<std::uint8_t>::fill(std::int64_t, std::int64_t, const Chunk&,
                                    std::span<const Four>, const std::int32_t*,
                                    std::int32_t*) const;
template void NodeSearch<std::uint8_t>::add_rows(std::int64_t, std::int64_t, const Chunk&,
                                        std::span<const Four>, const std::int32_t*,
                                        const std::vector<std::int64_t>&, std::int32_t*) const;
template SplitFound NodeSearch<std::uint8_t>::scan_column(int, const std::int32_t*,
                                                 std::span<const std::int32_t>,
                                                 const std::int32_t*) const;
template void NodeSearch<std::uint16_t>::search_chunks(std::span<Work>, const std::int32_t*,
                                                         std::vector<NodeSplit>&);
template void NodeSearch<std::uint16_t>::list_fours(const Chunk&, const std::uint8_t*,
                                          std::vector<Four>&) const;
template void NodeSearch<std::uint16_t>::fill(std::int64_t, std::int64_t, const Chunk&,
                                    std::span<const Four>, const std::int32_t*,
                                    std::int32_t*) const;
template void NodeSearch<std::uint16_t>::add_rows(std::int64_t, std::int64_t, const Chunk&,
                                        std::span<const Four>, const std::int32_t*,
                                        const std::vector<std::int64_t>&, std::int32_t*) const;
template SplitFound NodeSearch<std::uint16_t>::scan_column(int, const std::int32_t*,
                                                 std::span<const std::int32_t>,
                                                 const std::int32_t*) const;
template std::int32_t* NodeSearch<std::uint8_t>::sums_of(const Work&, const Fill&);
template void NodeSearch<std::uint8_t>::fill_block(const Work&, const Fill&, const std::int32_t*, Scratch&);
template void NodeSearch<std::uint8_t>::search_blocks(const Work&, const Group&, Scratch&, PairBest&);
template bool NodeSearch<std::uint8_t>::is_small(int, const Chunk&) const;
template void NodeSearch<std::uint8_t>::search_chunk(const Work&, int, const std::int32_t*, Scratch&,
                                PairBest&);
template void NodeSearch<std::uint8_t>::search_few(int, bool, const Chunk&, std::span<const Four>, const std::int32_t*,
                              std::int32_t*, Scratch&, bool, Best&);
template void NodeSearch<std::uint8_t>::scan(int, const Chunk&, std::span<const Four>, const std::uint8_t*,
                        const std::int32_t*, Scratch&, bool, Best&);
template void NodeSearch<std::uint8_t>::scan_by_row(const std::uint8_t*, const std::int32_t*, const std::int32_t*,
                               Scratch&, Best&) const;
template std::int32_t* NodeSearch<std::uint16_t>::sums_of(const Work&, const Fill&);
template void NodeSearch<std::uint16_t>::fill_block(const Work&, const Fill&, const std::int32_t*, Scratch&);
template void NodeSearch<std::uint16_t>::search_blocks(const Work&, const Group&, Scratch&, PairBest&);
template bool NodeSearch<std::uint16_t>::is_small(int, const Chunk&) const;
template void NodeSearch<std::uint16_t>::search_chunk(const Work&, int, const std::int32_t*, Scratch&,
                                PairBest&);
template void NodeSearch<std::uint16_t>::search_few(int, bool, const Chunk&, std::span<const Four>, const std::int32_t*,
                              std::int32_t*, Scratch&, bool, Best&);
template void NodeSearch<std::uint16_t>::scan(int, const Chunk&, std::span<const Four>, const std::uint8_t*,
                        const std::int32_t*, Scratch&, bool, Best&);
template void NodeSearch<std::uint16_t>::scan_by_row(const std::uint8_t*, const std::int32_t*, const std::int32_t*,
                               Scratch&, Best&) const;

}  // namespace marginboost
