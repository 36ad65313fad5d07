#include "marginboost/binning/bin_columns.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <stdexcept>
#include <utility>

#include "marginboost/threads/thread_pool.hpp"

namespace marginboost {
namespace {

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

// Every entry of a list is looked at for every batch of nodes, a row of a dense column only for its
// own node and with a shorter way to its direction: a list pays where it is this much shorter.
constexpr std::int64_t kRowsAnEntry = 10;
// Cells that are worth a second thread, the least rows of a task, and tasks per thread.
constexpr std::int64_t kSmallWork = 1 << 16;
constexpr std::int64_t kRowsABlock = 1 << 15;
constexpr std::int64_t kTasksAThread = 4;

}  // namespace

template <class Bin>
BinColumns<Bin>::BinColumns(const Bin* bins, std::int64_t n_rows, std::vector<std::int32_t> n_bins,
                            int n_threads)
    : n_rows_(n_rows), columns_(n_bins.size()), own_rows_(n_bins.size()), own_bins_(n_bins.size()) {
  for (std::size_t f = 0; f < columns_.size(); ++f) {
    columns_[f].dense = bins + static_cast<std::int64_t>(f) * n_rows;
    columns_[f].n_bins = n_bins[f];
  }
  count_bins(n_threads);
  list_entries(n_threads);
  if (entries_.n_cells > 0) list_rows(n_threads);
}

// Finds the commonest bin of every column, and decides which columns are listed.
template <class Bin>
void BinColumns<Bin>::count_bins(int n_threads) {
  const auto d = static_cast<std::int64_t>(columns_.size());
  const std::int64_t wanted = (kTasksAThread * n_threads + d - 1) / std::max<std::int64_t>(d, 1);
  const std::int64_t n_blocks =
      std::clamp<std::int64_t>(wanted, 1, (n_rows_ + kRowsABlock - 1) / kRowsABlock + 1);
  const std::int64_t block = (n_rows_ + n_blocks - 1) / n_blocks;
  std::vector<std::vector<std::int64_t>> counts(at(d * n_blocks));
  const int threads = n_rows_ * d < kSmallWork ? 1 : n_threads;
  parallel_for(d * n_blocks, threads, [&](std::int64_t task, int) {
    const BinColumn<Bin>& column = columns_[at(task / n_blocks)];
    const Bin* begin = column.dense + std::min(n_rows_, task % n_blocks * block);
    const Bin* end = column.dense + std::min(n_rows_, (task % n_blocks + 1) * block);
    if (begin < end && *std::max_element(begin, end) >= column.n_bins) {
      throw std::invalid_argument(
          "every bin must be below its feature's n_bins, which must be at least 1.");
    }
    // Four tables in turn: an add need not wait for the one before it on the same bin.
    const std::size_t n = at(std::max(1, column.n_bins));
    std::vector<std::int64_t> four(4 * n, 0);
    const Bin* here = begin;
    for (; here + 4 <= end; here += 4) {
      for (std::size_t j = 0; j < 4; ++j) ++four[j * n + here[j]];
    }
    for (; here < end; ++here) ++four[*here];
    for (std::size_t b = 0; b < n; ++b) four[b] += four[n + b] + four[2 * n + b] + four[3 * n + b];
    four.resize(n);
    counts[at(task)] = std::move(four);
  }, "count bins");
  std::int64_t n_listed = 0;
  for (std::int64_t f = 0; f < d; ++f) {
    std::vector<std::int64_t>& sums = counts[at(f * n_blocks)];
    for (std::int64_t q = 1; q < n_blocks; ++q) {
      const std::vector<std::int64_t>& more = counts[at(f * n_blocks + q)];
      std::transform(sums.begin(), sums.end(), more.begin(), sums.begin(), std::plus<>());
    }
    const auto most = std::max_element(sums.begin(), sums.end());
    const std::int64_t others = n_rows_ - *most;
    BinColumn<Bin>& column = columns_[at(f)];
    if (others * kRowsAnEntry > n_rows_ || column.n_bins < 2) continue;
    column.default_bin = static_cast<int>(most - sums.begin());
    column.n_entries = others;
    const bool fits = entries_.n_cells + column.n_bins <= kMostRowBins &&
                      n_listed + others <= std::numeric_limits<std::uint32_t>::max();
    if (fits) {
      column.row_cell = entries_.n_cells;
      entries_.n_cells += column.n_bins;
      n_listed += others;
    } else {
      any_sparse_ = true;
      // An empty vector has no address, and a null list would mean a dense column.
      static const std::int32_t no_rows = 0;
      column.rows = &no_rows;
    }
  }
}

template <class Bin>
void BinColumns<Bin>::list_entries(int n_threads) {
  const auto d = static_cast<std::int64_t>(columns_.size());
  parallel_for(d, n_rows_ * d < kSmallWork ? 1 : n_threads, [&](std::int64_t f, int) {
    BinColumn<Bin>& column = columns_[at(f)];
    if (!column.is_sparse() || column.n_entries == 0) return;
    auto& rows = own_rows_[at(f)];
    auto& bins = own_bins_[at(f)];
    rows.reserve(at(column.n_entries));
    bins.reserve(at(column.n_entries));
    for (std::int64_t i = 0; i < n_rows_; ++i) {
      if (column.dense[i] == column.default_bin) continue;
      rows.push_back(static_cast<std::int32_t>(i));
      bins.push_back(column.dense[i]);
    }
    column.rows = rows.data();
    column.bins = bins.data();
  }, "list entries");
}

template <class Bin>
void BinColumns<Bin>::list_rows(int n_threads) {
  constexpr std::int64_t kBlock = 4096;
  const std::int64_t n_blocks = (n_rows_ + kBlock - 1) / kBlock;
  const int threads = n_blocks < 2 ? 1 : n_threads;
  entries_.offsets.resize(at(n_rows_ + 1));
  std::vector<std::int64_t> begins(at(n_blocks + 1), 0);
  // Of each row, first how many entries it has before it within its block.
  parallel_for(n_blocks, threads, [&](std::int64_t block, int) {
    const std::int64_t first = block * kBlock, n = std::min(kBlock, n_rows_ - first);
    std::array<std::uint16_t, kBlock> counts = {};
    for (const BinColumn<Bin>& column : columns_) {
      if (!column.is_by_row()) continue;
      const Bin* bins = column.dense + first;
      const auto usual = static_cast<Bin>(column.default_bin);
      for (std::int64_t i = 0; i < n; ++i) counts[at(i)] += bins[i] != usual ? 1 : 0;
    }
    std::uint32_t before = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      entries_.offsets[at(first + i)] = before;
      before += counts[at(i)];
    }
    begins[at(block + 1)] = before;
  }, "list rows");
  for (std::int64_t block = 0; block < n_blocks; ++block) begins[at(block + 1)] += begins[at(block)];
  entries_.offsets.back() = static_cast<std::uint32_t>(begins.back());
  entries_.cells.resize(at(begins.back()));
  parallel_for(n_blocks, threads, [&](std::int64_t block, int) {
    const std::int64_t first = block * kBlock, n = std::min(kBlock, n_rows_ - first);
    std::array<std::uint32_t, kBlock> to;
    for (std::int64_t i = 0; i < n; ++i) {
      to[at(i)] = entries_.offsets[at(first + i)] += static_cast<std::uint32_t>(begins[at(block)]);
    }
    for (const BinColumn<Bin>& column : columns_) {
      if (!column.is_by_row()) continue;
      const Bin* bins = column.dense + first;
      for (std::int64_t i = 0; i < n; ++i) {
        if (bins[i] == column.default_bin) continue;
        entries_.cells[to[at(i)]++] = static_cast<std::uint16_t>(column.row_cell + bins[i]);
      }
    }
  }, "list rows");
}

template <class Bin>
BinColumns<Bin>::BinColumns(const std::int64_t* offsets, const std::int32_t* rows, const Bin* bins,
                            const std::int32_t* default_bins, std::int64_t n_rows,
                            std::vector<std::int32_t> n_bins)
    : n_rows_(n_rows), any_sparse_(true), columns_(n_bins.size()) {
  static const std::int32_t no_rows = 0;
  for (std::size_t f = 0; f < columns_.size(); ++f) {
    columns_[f].n_entries = offsets[f + 1] - offsets[f];
    columns_[f].rows = columns_[f].n_entries > 0 ? rows + offsets[f] : &no_rows;
    columns_[f].bins = bins + offsets[f];
    columns_[f].default_bin = default_bins[f];
    columns_[f].n_bins = n_bins[f];
  }
}

template class BinColumns<std::uint8_t>;
template class BinColumns<std::uint16_t>;

}  // namespace marginboost
