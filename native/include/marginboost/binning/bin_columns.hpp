// The binned features, column by column, dense or sparse.
#pragma once

#include <cstdint>
#include <vector>

namespace marginboost {

/// One feature. A dense column has a bin per row. A sparse one lists the rows that are not in its
/// default bin, ascending. A column may have both: then the list is the faster one to sum over. A dense
/// column of mostly one bin may be listed by row instead, together with others: see RowEntries.
template <class Bin>
struct BinColumn {
  const Bin* dense = nullptr;           ///< n_rows, or null
  const std::int32_t* rows = nullptr;   ///< of the entries, or null
  const Bin* bins = nullptr;            ///< of the entries
  std::int64_t n_entries = 0;
  int default_bin = 0;
  int n_bins = 1;
  int row_cell = -1;  ///< number of its first bin in the RowEntries; -1: it is not in them
  bool is_sparse() const { return rows != nullptr; }
  bool is_by_row() const { return row_cell >= 0; }
};

/// Of each row, the bins that are not the default ones of their columns, ascending by column: a pass over
/// some rows reads their entries only. The bins of all these columns are numbered through.
struct RowEntries {
  std::vector<std::uint32_t> offsets;  ///< n_rows + 1, or empty
  std::vector<std::uint16_t> cells;    ///< the numbers of the bins
  int n_cells = 0;                     ///< of all columns
};

/// All features of a training set, with bins of one or two bytes.
template <class Bin>
class BinColumns {
 public:
  /// A dense matrix, one feature after the other. Columns that are mostly one bin are listed as well:
  /// by row, as long as these columns have at most kMostRowBins bins in all, then by column. Throws
  /// std::invalid_argument where a bin is not below its n_bins.
  BinColumns(const Bin* bins, std::int64_t n_rows, std::vector<std::int32_t> n_bins,
             int n_threads = 1);
  static constexpr int kMostRowBins = 1024;
  /// Lists of entries: those of feature f are offsets[f] to offsets[f + 1] - 1.
  BinColumns(const std::int64_t* offsets, const std::int32_t* rows, const Bin* bins,
             const std::int32_t* default_bins, std::int64_t n_rows,
             std::vector<std::int32_t> n_bins);

  std::int64_t n_rows() const { return n_rows_; }
  int n_features() const { return static_cast<int>(columns_.size()); }
  bool any_sparse() const { return any_sparse_; }
  const RowEntries& row_entries() const { return entries_; }
  const BinColumn<Bin>& operator[](int feature) const {
    return columns_[static_cast<std::size_t>(feature)];
  }

 private:
  void count_bins(int n_threads);
  void list_entries(int n_threads);
  void list_rows(int n_threads);

  std::int64_t n_rows_;
  bool any_sparse_ = false;
  std::vector<BinColumn<Bin>> columns_;
  std::vector<std::vector<std::int32_t>> own_rows_;
  std::vector<std::vector<Bin>> own_bins_;
  RowEntries entries_;
};

extern template class BinColumns<std::uint8_t>;
extern template class BinColumns<std::uint16_t>;

}  // namespace marginboost
