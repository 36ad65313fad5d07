// Histograms of nodes whose rows are a part of the whole: to be added up and searched elsewhere.
#include <algorithm>

#include "marginboost/threads/thread_pool.hpp"
#include "trees/node_search.hpp"

namespace marginboost {
namespace {

// Adds of a cell that are worth a second thread.
constexpr std::int64_t kSmallWork = 1 << 12;

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

}  // namespace

template <class Bin>
void NodeSearch<Bin>::histograms(std::span<const std::int32_t> nodes,
                                 const std::int32_t* direction, std::int32_t* out) {
  const auto n_nodes = static_cast<std::int64_t>(nodes.size());
  const auto n_chunks = static_cast<std::int64_t>(chunks_.size());
  const std::int64_t stride = n_tree_bins_ * slots_.lanes;
  std::int64_t rows = 0;
  for (const std::int32_t node : nodes) rows += partition_.node(node).n_rows();
  const bool small = rows * static_cast<std::int64_t>(dense_.size() + 1) + n_nodes * n_tree_bins_ <
                     kSmallWork;
  const int threads = small ? 1 : n_threads_;
  parallel_for(n_nodes, threads,
               [&](std::int64_t q, int) { std::fill_n(out + q * stride, stride, 0); });
  parallel_for(n_nodes * n_chunks, threads, [&](std::int64_t task, int slot) {
    const Chunk& chunk = chunks_[at(task % n_chunks)];
    const std::int64_t q = task / n_chunks;
    const auto& here = partition_.node(nodes[at(q)]);
    if (chunk.by_row) {
      write_by_row(here.begin, here.end, chunk, direction, scratch_[at(slot)], out + q * stride);
      return;
    }
    std::vector<Four>& fours = scratch_[at(slot)].fours;
    list_fours(chunk, nullptr, fours);
    add_rows(here.begin, here.end, chunk, fours, direction, dense_places_,
             out + q * stride + dense_places_[at(chunk.first)]);
  }, "histograms");
  if (sparse_.empty() && other_places_.empty()) return;
  const std::vector<Cells> totals = totals_of(nodes, direction, out);
  for (std::int64_t q = 0; q < n_nodes; ++q) {
    for (const std::int64_t place : other_places_) {
      std::copy(totals[at(q)].begin(), totals[at(q)].end(), out + q * stride + place);
    }
  }
  if (sparse_.empty()) return;
  searched_.assign(nodes.begin(), nodes.end());
  histograms_of_lists(direction, totals, out);
}

template <class Bin>
void NodeSearch<Bin>::write_by_row(std::int64_t begin, std::int64_t end, const Chunk& chunk,
                                   const std::int32_t* direction, Scratch& scratch,
                                   std::int32_t* out) const {
  const int cell = slots_.lanes;
  if (scratch.cells.size() < at(chunk.cells)) scratch.cells.resize(at(chunk.cells));
  fill(begin, end, chunk, {}, direction, scratch.cells.data());
  for (const ByRow& one : by_row_) {
    const BinColumn<Bin>& column = columns_[one.feature];
    std::copy_n(scratch.cells.data() + std::int64_t{column.row_cell} * cell,
                std::int64_t{column.n_bins} * cell, out + one.place);
    add_rest(column, {}, scratch.cells.data() + chunk.cells - cell, out + one.place);
  }
}

template <class Bin>
std::vector<typename NodeSearch<Bin>::Cells> NodeSearch<Bin>::totals_of(
    std::span<const std::int32_t> nodes, const std::int32_t* direction,
    const std::int32_t* histograms) const {
  if (dense_.empty()) return sum_rows(nodes, direction);
  // Bins are fewer than rows, and any feature's add up to the node.
  const int cell = slots_.lanes;
  std::vector<Cells> totals(nodes.size(), Cells(at(cell), 0));
  for (std::size_t q = 0; q < nodes.size(); ++q) {
    const std::int32_t* bins =
        histograms + static_cast<std::int64_t>(q) * n_tree_bins_ * cell + dense_places_[0];
    for (std::int64_t b = 0; b < columns_[dense_[0]].n_bins; ++b) {
      add_cell(totals[q].data(), bins + b * cell, cell);
    }
  }
  return totals;
}

template std::vector<NodeSearch<std::uint8_t>::Cells> NodeSearch<std::uint8_t>::totals_of(
    std::span<const std::int32_t>, const std::int32_t*, const std::int32_t*) const;
template std::vector<NodeSearch<std::uint16_t>::Cells> NodeSearch<std::uint16_t>::totals_of(
    std::span<const std::int32_t>, const std::int32_t*, const std::int32_t*) const;
template void NodeSearch<std::uint8_t>::histograms(std::span<const std::int32_t>,
                                                   const std::int32_t*, std::int32_t*);
template void NodeSearch<std::uint16_t>::histograms(std::span<const std::int32_t>,
                                                    const std::int32_t*, std::int32_t*);
template void NodeSearch<std::uint16_t>::write_by_row(std::int64_t, std::int64_t, const Chunk&,
                                            const std::int32_t*, Scratch&, std::int32_t*) const;
template void NodeSearch<std::uint8_t>::write_by_row(std::int64_t, std::int64_t, const Chunk&,
                                            const std::int32_t*, Scratch&, std::int32_t*) const;

}  // namespace marginboost
