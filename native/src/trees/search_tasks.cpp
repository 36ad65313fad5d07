// How the search for splits is divided into tasks.
//
// A task is a pair of nodes and a chunk of features, or some small pairs and all features. The rows of a
// large pair are divided among several tasks, whose sums are added up: they are whole numbers, so the bits
// are those of one task.
#include <algorithm>

#include "trees/node_search.hpp"

namespace marginboost {
namespace {

// A task's least share of the work.
constexpr std::int64_t kLeastShare = 1 << 10;
constexpr std::int64_t kTasksAThread = 6;
// The least rows of a task where several share a node, also by the bins that must be added up later.
constexpr std::int64_t kLeastRows = 512, kLeastRowsABin = 2;

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

}  // namespace

// Groups that wait for shared sums come first, then those of one chunk, then those of all chunks.
template <class Bin>
void NodeSearch<Bin>::cut_groups(std::span<Work> work, std::int64_t size, int threads) {
  groups_.clear();
  fills_.clear();
  first_group_.clear();
  const std::int64_t share = std::max(kLeastShare, size / (kTasksAThread * threads));
  const auto is_small_pair = [&](const Work& one) { return threads == 1 || one.cost <= share; };
  std::int64_t n_partials = 0;
  for (std::size_t w = 0; w < work.size(); ++w) {
    if (!is_small_pair(work[w])) cut_pair(w, work[w], share, n_partials);
  }
  const auto waits = [](const Group& group) { return group.column >= 0; };
  const auto first = std::stable_partition(groups_.begin(), groups_.end(), waits);
  for (std::int64_t g = first - groups_.begin(); g < std::ssize(groups_); ++g) {
    first_group_.push_back(g);
  }
  std::int64_t in_task = share;
  for (std::size_t w = 0; w < work.size(); ++w) {
    if (!is_small_pair(work[w])) continue;
    if (in_task >= share) {
      first_group_.push_back(std::ssize(groups_));
      in_task = 0;
    }
    groups_.push_back({w, -1});
    in_task += work[w].cost;
  }
  if (first_group_.empty()) first_group_.push_back(std::ssize(groups_));
  if (first_group_.back() < std::ssize(groups_)) first_group_.push_back(std::ssize(groups_));
  if (n_partials > n_partials_) {
    partials_ = std::make_unique_for_overwrite<std::int32_t[]>(at(n_partials));
    n_partials_ = n_partials;
  }
}

template <class Bin>
void NodeSearch<Bin>::cut_pair(std::size_t number, const Work& work, std::int64_t share,
                               std::int64_t& n_partials) {
  const auto& node = partition_.node(work.pair.small);
  for (int c = 0; c < static_cast<int>(chunks_.size()); ++c) {
    const Chunk& chunk = chunks_[at(c)];
    const std::int64_t columns = chunk.by_row ? kByRowColumns : chunk.count;
    const std::int64_t bins = chunk.cells / slots_.lanes / columns;
    std::int64_t n_blocks = 1;
    if (!work.fill_large && (work.search_small || work.search_large)) {
      n_blocks = std::min((node.n_rows() * columns + share - 1) / share,
                          node.n_rows() / std::max(kLeastRows, kLeastRowsABin * bins));
    }
    if (n_blocks <= 1) {
      groups_.push_back({number, c});
      continue;
    }
    const auto first = static_cast<std::int64_t>(fills_.size());
    for (std::int64_t b = 0; b < n_blocks; ++b) {
      const bool in_place = b == 0 && work.small != nullptr;
      fills_.push_back({number, c, node.begin + node.n_rows() * b / n_blocks,
                        node.begin + node.n_rows() * (b + 1) / n_blocks,
                        in_place ? -1 : n_partials});
      if (!in_place) n_partials += chunk.cells;
    }
    for (int column = 0; column < (chunk.by_row ? 1 : chunk.count); ++column) {
      groups_.push_back({number, c, first, n_blocks, column});
    }
  }
}

template void NodeSearch<std::uint8_t>::cut_groups(std::span<Work>, std::int64_t, int);
template void NodeSearch<std::uint8_t>::cut_pair(std::size_t, const Work&, std::int64_t,
                                                    std::int64_t&);
template void NodeSearch<std::uint16_t>::cut_groups(std::span<Work>, std::int64_t, int);
template void NodeSearch<std::uint16_t>::cut_pair(std::size_t, const Work&, std::int64_t,
                                                    std::int64_t&);

}  // namespace marginboost
