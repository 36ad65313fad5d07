#include "marginboost/binning/bin_columns.hpp"

#include <algorithm>

namespace marginboost {
namespace {

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

// Every entry of a list is looked at for every batch of nodes, a row of a dense column only for its
// own node and with a shorter way to its direction: a list pays where it is this much shorter.
constexpr std::int64_t kRowsAnEntry = 10;

}  // namespace

template <class Bin>
BinColumns<Bin>::BinColumns(const Bin* bins, std::int64_t n_rows, std::vector<std::int32_t> n_bins)
    : n_rows_(n_rows), columns_(n_bins.size()), own_rows_(n_bins.size()), own_bins_(n_bins.size()) {
  for (std::size_t f = 0; f < columns_.size(); ++f) {
    const Bin* column = bins + static_cast<std::int64_t>(f) * n_rows;
    columns_[f].dense = column;
    columns_[f].n_bins = n_bins[f];
    std::vector<std::int64_t> counts(at(std::max(1, n_bins[f])), 0);
    for (std::int64_t i = 0; i < n_rows; ++i) ++counts[column[i]];
    const auto most = std::max_element(counts.begin(), counts.end());
    const std::int64_t others = n_rows - *most;
    if (others * kRowsAnEntry > n_rows) continue;
    any_sparse_ = true;
    const auto usual = static_cast<Bin>(most - counts.begin());
    own_rows_[f].reserve(at(others));
    own_bins_[f].reserve(at(others));
    for (std::int64_t i = 0; i < n_rows; ++i) {
      if (column[i] == usual) continue;
      own_rows_[f].push_back(static_cast<std::int32_t>(i));
      own_bins_[f].push_back(column[i]);
    }
    columns_[f].default_bin = usual;
    columns_[f].n_entries = others;
    // An empty vector has no address, and a null list would mean a dense column.
    static const std::int32_t no_rows = 0;
    columns_[f].rows = others > 0 ? own_rows_[f].data() : &no_rows;
    columns_[f].bins = own_bins_[f].data();
  }
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
