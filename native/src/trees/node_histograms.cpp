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
  const bool small = rows * static_cast<std::int64_t>(dense_.size()) + n_nodes * n_tree_bins_ <
                     kSmallWork;
  const int threads = small ? 1 : n_threads_;
  parallel_for(n_nodes, threads,
               [&](std::int64_t q, int) { std::fill_n(out + q * stride, stride, 0); });
  parallel_for(n_nodes * n_chunks, threads, [&](std::int64_t task, int slot) {
    const Chunk& chunk = chunks_[at(task % n_chunks)];
    const std::int64_t q = task / n_chunks;
    std::vector<Four>& fours = scratch_[at(slot)].fours;
    list_fours(chunk, nullptr, fours);
    add_rows(nodes[at(q)], chunk, fours, direction, dense_places_,
             out + q * stride + dense_places_[at(chunk.first)]);
  });
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
std::vector<typename NodeSearch<Bin>::Cells> NodeSearch<Bin>::totals_of(
    std::span<const std::int32_t> nodes, const std::int32_t* direction,
    const std::int32_t* histograms) const {
  std::vector<Cells> totals(nodes.size());
  parallel_for(static_cast<std::int64_t>(nodes.size()), dense_.empty() ? n_threads_ : 1,
               [&](std::int64_t q, int) {
                 if (dense_.empty()) {
                   totals[at(q)] = sum_rows(nodes[at(q)], direction);
                   return;
                 }
                 // Bins are fewer than rows, and any feature's add up to the node.
                 const int cell = slots_.lanes;
                 totals[at(q)].assign(at(cell), 0);
                 const std::int32_t* bins =
                     histograms + q * n_tree_bins_ * cell + dense_places_[0];
                 for (std::int64_t b = 0; b < columns_[dense_[0]].n_bins; ++b) {
                   add_cell(totals[at(q)].data(), bins + b * cell, cell);
                 }
               });
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

}  // namespace marginboost
