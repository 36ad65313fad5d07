// The binned features, column by column, dense or sparse.
#pragma once

#include <cstdint>
#include <vector>

namespace marginboost {

/// One feature. A dense column has a bin a row. A sparse one lists the rows that are not in its
/// default bin, ascending. A column may have both: then the list is the faster one to sum over.
template <class Bin>
struct BinColumn {
  const Bin* dense = nullptr;           ///< n_rows, or null
  const std::int32_t* rows = nullptr;   ///< of the entries, or null
  const Bin* bins = nullptr;            ///< of the entries
  std::int64_t n_entries = 0;
  int default_bin = 0;
  int n_bins = 1;
  bool is_sparse() const { return rows != nullptr; }
};

/// All features of a training set, with bins of one or two bytes.
template <class Bin>
class BinColumns {
 public:
  /// A dense matrix, a feature after the other. Columns that are mostly one bin get a list as well.
  BinColumns(const Bin* bins, std::int64_t n_rows, std::vector<std::int32_t> n_bins);
  /// Lists of entries: those of feature f are offsets[f] to offsets[f + 1] - 1.
  BinColumns(const std::int64_t* offsets, const std::int32_t* rows, const Bin* bins,
             const std::int32_t* default_bins, std::int64_t n_rows,
             std::vector<std::int32_t> n_bins);

  std::int64_t n_rows() const { return n_rows_; }
  int n_features() const { return static_cast<int>(columns_.size()); }
  bool any_sparse() const { return any_sparse_; }
  const BinColumn<Bin>& operator[](int feature) const {
    return columns_[static_cast<std::size_t>(feature)];
  }

 private:
  std::int64_t n_rows_;
  bool any_sparse_ = false;
  std::vector<BinColumn<Bin>> columns_;
  std::vector<std::vector<std::int32_t>> own_rows_;
  std::vector<std::vector<Bin>> own_bins_;
};

extern template class BinColumns<std::uint8_t>;
extern template class BinColumns<std::uint16_t>;

}  // namespace marginboost
