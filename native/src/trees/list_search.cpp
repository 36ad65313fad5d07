// The best splits on sparse columns, which list their entries.
#include <algorithm>

#include "marginboost/threads/thread_pool.hpp"
#include "trees/node_search.hpp"

namespace marginboost {
namespace {

// With so many bins, those of a node are listed where it has entries in less than half of them.
constexpr std::int64_t kManyBins = 16;

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

}  // namespace

// The entries of the rows that the search sees: every batch of nodes walks over them again.
template <class Bin>
void NodeSearch<Bin>::draw_lists() {
  lists_.clear();
  std::int64_t n_entries = 0;
  for (const std::int32_t f : sparse_) {
    lists_.push_back({columns_[f].rows, columns_[f].bins, columns_[f].n_entries});
    n_entries += columns_[f].n_entries;
  }
  if (partition_.sees_all()) return;
  if (drawn_rows_.size() < at(n_entries)) {
    drawn_rows_.resize(at(n_entries));
    drawn_bins_.resize(at(n_entries));
  }
  std::vector<std::int64_t> begins(lists_.size() + 1, 0);
  for (std::size_t q = 0; q < lists_.size(); ++q) begins[q + 1] = begins[q] + lists_[q].size;
  const std::int32_t* node_of_row = partition_.node_of_row();
  for_lists([&](std::size_t q, int) {
    List& list = lists_[q];
    std::int32_t* rows = drawn_rows_.data() + begins[q];
    Bin* bins = drawn_bins_.data() + begins[q];
    std::int64_t n = 0;
    for (std::int64_t j = 0; j < list.size; ++j) {
      rows[n] = list.rows[j];
      bins[n] = list.bins[j];
      n += node_of_row[list.rows[j]] >= 0 ? 1 : 0;
    }
    list = {rows, bins, n};
  });
}

template <class Bin>
template <class Visit>
void NodeSearch<Bin>::for_lists(const Visit& visit) {
  constexpr std::int64_t kMostListsATask = 32, kTasksAThread = 4, kSmallWork = 1 << 12;
  const auto n_lists = static_cast<std::int64_t>(lists_.size());
  std::int64_t n_entries = 0;
  for (const List& list : lists_) n_entries += list.size;
  const std::int64_t share =
      std::clamp<std::int64_t>(n_lists / (kTasksAThread * n_threads_), 1, kMostListsATask);
  const int threads = n_entries < kSmallWork && n_lists < 2 * kMostListsATask ? 1 : n_threads_;
  parallel_for((n_lists + share - 1) / share, threads, [&](std::int64_t task, int slot) {
    const std::int64_t end = std::min(n_lists, (task + 1) * share);
    for (std::int64_t q = task * share; q < end; ++q) visit(at(q), slot);
  }, "sparse columns");
}

// A list is walked once for all nodes of the batch; what it does not name is in the default bin.
template <class Bin>
void NodeSearch<Bin>::search_sparse(std::span<const Work> work, const std::int32_t* direction) {
  searched_.clear();
  allowed_.clear();
  for (const Work& one : work) {
    if (one.search_small) searched_.push_back(one.pair.small);
    if (one.search_large) searched_.push_back(one.pair.large);
    allowed_.resize(searched_.size(), one.pair.allowed);
  }
  for (auto& best : bests_) best.assign(nodes_.size(), {});
  place_rows(true);
  for_lists([&](std::size_t q, int slot) {
    search_list(q, direction, scratch_[at(slot)], bests_[at(slot)]);
  });
  place_rows(false);
}

// Between searches no row has a place.
template <class Bin>
void NodeSearch<Bin>::place_rows(bool searched) {
  place_of_row_.resize(at(columns_.n_rows()), kNoPlace);
  const std::vector<RowBlock> blocks = row_blocks(searched_);
  parallel_for(static_cast<std::int64_t>(blocks.size()), n_threads_, [&](std::int64_t task, int) {
    const RowBlock& block = blocks[at(task)];
    const std::uint16_t place = searched ? static_cast<std::uint16_t>(block.number) : kNoPlace;
    for (std::int64_t i = block.begin; i < block.end; ++i) {
      place_of_row_[partition_.rows()[i]] = place;
    }
  }, "place rows");
}

// Adds the entries of a list to the histograms of their nodes, which must be zero: that of the node in
// place p begins p * stride after `hist`. Names the places of those nodes in scratch.places, and returns
// how many there are. The default bin, empty until it gets the rest, counts the entries in its first
// lane. Sets the bits of the bins that get any in `marks`, if it is not null: as many words per place as
// the bins need.
template <class Bin>
std::size_t NodeSearch<Bin>::add_entries(std::size_t number, const std::int32_t* direction,
                                         std::int32_t* hist, std::int64_t stride,
                                         std::uint64_t* marks, Scratch& scratch) const {
  const List& list = lists_[number];
  const BinColumn<Bin>& column = columns_[sparse_[number]];
  if (scratch.places.size() < searched_.size() + 1) scratch.places.resize(searched_.size() + 1);
  if (scratch.entries.size() < at(list.size + 1)) scratch.entries.resize(at(list.size + 1));
  // First which entries matter, without a branch that could not be foreseen; then the sums.
  std::size_t n = 0;
  for (std::int64_t j = 0; j < list.size; ++j) {
    scratch.entries[n] = static_cast<std::int32_t>(j);
    n += place_of_row_[at(list.rows[j])] != kNoPlace ? 1 : 0;
  }
  ListEntries entries;
  entries.rows = list.rows;
  entries.which = scratch.entries.data();
  entries.n = static_cast<std::int64_t>(n);
  entries.place_of_row = place_of_row_.data();
  entries.stride = stride;
  entries.default_bin = column.default_bin;
  entries.n_words = (column.n_bins + 63) / 64;
  std::int32_t* places = scratch.places.data();
  if constexpr (sizeof(Bin) == 1) {
    return tree_kernels().add_list8(direction, slots_, entries, list.bins, hist, marks, places);
  } else {
    return tree_kernels().add_list16(direction, slots_, entries, list.bins, hist, marks, places);
  }
}

// The default bin gets what the others leave of the node.
template <class Bin>
void NodeSearch<Bin>::add_rest(const BinColumn<Bin>& column, std::span<const std::int32_t> listed,
                               const std::int32_t* total, std::int32_t* hist) const {
  const int cell = slots_.lanes;
  std::int32_t* rest = hist + std::int64_t{column.default_bin} * cell;
  rest[0] = 0;
  const auto add_bin = [&](std::int64_t bin) {
    if (bin != column.default_bin) add_cell(rest, hist + bin * cell, cell);
  };
  for (const std::int32_t bin : listed) add_bin(bin);
  for (std::int64_t b = 0; listed.empty() && b < column.n_bins; ++b) add_bin(b);
  for (int c = 0; c < cell; ++c) rest[c] = total[c] - rest[c];
}

// The cost is that of the entries, and of the bins that they are in: a node with few entries has few.
template <class Bin>
void NodeSearch<Bin>::search_list(std::size_t number, const std::int32_t* direction,
                                  Scratch& scratch, std::vector<Best>& best) const {
  const std::int32_t feature = sparse_[number];
  const auto may_split = [&](const std::uint8_t* allowed) {
    return allowed == nullptr || allowed[sparse_at_[number]] != 0;
  };
  if (std::none_of(allowed_.begin(), allowed_.end(), may_split)) return;
  const BinColumn<Bin>& column = columns_[feature];
  const std::int64_t stride = std::int64_t{column.n_bins} * slots_.lanes;
  const std::size_t n_cells = searched_.size() * at(stride);
  if (scratch.clean.size() < n_cells) scratch.clean.assign(n_cells, 0);
  const std::int64_t n_words = (column.n_bins + 63) / 64;
  std::uint64_t* marks = nullptr;
  if (column.n_bins >= kManyBins) {
    const std::size_t n_marks = searched_.size() * at(n_words);
    if (scratch.marks.size() < n_marks) scratch.marks.assign(n_marks, 0);
    if (scratch.listed.size() < at(column.n_bins)) scratch.listed.resize(at(column.n_bins));
    marks = scratch.marks.data();
  }
  std::int32_t* hist = scratch.clean.data();
  const std::size_t n_touched = add_entries(number, direction, hist, stride, marks, scratch);
  for (std::size_t s = 0; s < n_touched; ++s) {
    const std::int32_t place = scratch.places[s];
    std::int32_t* own = hist + place * stride;
    const std::int32_t n_entries = own[std::int64_t{column.default_bin} * slots_.lanes];
    std::span<const std::int32_t> listed;
    if (marks != nullptr) {
      std::uint64_t* set = marks + place * n_words;
      set[column.default_bin >> 6] |= std::uint64_t{1} << (column.default_bin & 63);
      const std::size_t n = take_marked(set, n_words, scratch.listed.data());
      if (2 * n < at(column.n_bins)) listed = {scratch.listed.data(), n};
    }
    // An entry may count more than once, but only with multiplicities.
    if ((n_entries >= rules_.least_count || has_copies_) && may_split(allowed_[at(place)])) {
      const int node = searched_[at(place)];
      const std::int32_t* total = total_of(node);
      add_rest(column, listed, total, own);
      best[at(node)].offer(scan_column(feature, own, listed, total), feature);
    }
    if (listed.empty()) {
      std::fill_n(own, stride, 0);
    } else {
      const int cell = slots_.lanes;
      for (const std::int32_t bin : listed) std::fill_n(own + std::int64_t{bin} * cell, cell, 0);
    }
  }
}

template <class Bin>
void NodeSearch<Bin>::histograms_of_lists(const std::int32_t* direction,
                                          const std::vector<Cells>& totals, std::int32_t* out) {
  const std::int64_t stride = n_tree_bins_ * slots_.lanes;
  place_rows(true);
  for_lists([&](std::size_t q, int slot) {
    std::int32_t* hist = out + sparse_places_[q];
    add_entries(q, direction, hist, stride, nullptr, scratch_[at(slot)]);
    for (std::size_t place = 0; place < totals.size(); ++place) {
      add_rest(columns_[sparse_[q]], {}, totals[place].data(),
               hist + static_cast<std::int64_t>(place) * stride);
    }
  });
  place_rows(false);
}

template void NodeSearch<std::uint8_t>::draw_lists();
template void NodeSearch<std::uint16_t>::draw_lists();
template void NodeSearch<std::uint8_t>::place_rows(bool);
template std::size_t NodeSearch<std::uint8_t>::add_entries(std::size_t, const std::int32_t*,
                                                       std::int32_t*, std::int64_t,
                                                       std::uint64_t*, Scratch&) const;
template void NodeSearch<std::uint8_t>::add_rest(const BinColumn<std::uint8_t>&,
                                                   std::span<const std::int32_t>,
                                                   const std::int32_t*, std::int32_t*) const;
template void NodeSearch<std::uint16_t>::place_rows(bool);
template std::size_t NodeSearch<std::uint16_t>::add_entries(std::size_t, const std::int32_t*,
                                                       std::int32_t*, std::int64_t,
                                                       std::uint64_t*, Scratch&) const;
template void NodeSearch<std::uint16_t>::add_rest(const BinColumn<std::uint16_t>&,
                                                    std::span<const std::int32_t>,
                                                    const std::int32_t*, std::int32_t*) const;
template void NodeSearch<std::uint8_t>::search_list(std::size_t, const std::int32_t*, Scratch&,
                                                    std::vector<Best>&) const;
template void NodeSearch<std::uint16_t>::search_list(std::size_t, const std::int32_t*, Scratch&,
                                                     std::vector<Best>&) const;
template void NodeSearch<std::uint8_t>::histograms_of_lists(const std::int32_t*,
                                                            const std::vector<Cells>&,
                                                            std::int32_t*);
template void NodeSearch<std::uint16_t>::histograms_of_lists(const std::int32_t*,
                                                             const std::vector<Cells>&,
                                                             std::int32_t*);
template void NodeSearch<std::uint8_t>::search_sparse(std::span<const Work>, const std::int32_t*);
template void NodeSearch<std::uint16_t>::search_sparse(std::span<const Work>, const std::int32_t*);

}  // namespace marginboost
