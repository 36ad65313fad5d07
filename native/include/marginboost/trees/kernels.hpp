// The inner loops of vector-leaf trees, compiled once an instruction set and chosen at run time.
//
// A row's exponentials are read as `tiles` tiles of `lanes` floats, the classes in the first lanes - 2 of
// each; they are kept without the lanes that are always 0, where that saves some. For the search of a tree the tiles are added up to one tile of int32, with a random sign per
// class, and its two remaining lanes hold the row's mass and count: so one vector addition per feature
// carries everything that a split is judged by.
//
// All versions give the same bits: what is summed over rows is whole numbers, and what is summed in
// floats has one order.
#pragma once

#include <cstddef>
#include <cstdint>

#include "marginboost/loss.hpp"

namespace marginboost {

/// Far outside of what a sum can see, and far inside of what a float holds with a factor on top.
inline constexpr float kSmallestRatio = 0x1p-60F;
inline constexpr float kLargestRatio = 0x1p+60F;
inline constexpr float kLogTwo = 0.693147180559945309F;
/// Losses are summed in units this many times (as a power of two) as fine as those of masses.
inline constexpr int kLossBits = 20;

/// Where the classes lie.
struct Slots {
  int lanes = 16;
  int tiles = 1;
  int stored = 16;  ///< floats of a row as it is kept: at least its classes
  static Slots of(int n_classes);
  int per_tile() const { return lanes - 2; }
  int of_class(int label) const { return label / per_tile() * lanes + label % per_tile(); }
  /// The lane of the direction that a class is added to.
  int lane_of_class(int label) const { return label % per_tile(); }
  int padded() const { return lanes * tiles; }
  /// Whether a row is kept in fewer floats than its tiles have.
  bool packed() const { return stored < padded(); }
  /// Where a class is in a row as it is kept.
  int stored_at(int label) const { return packed() ? label : of_class(label); }
  int mass_lane() const { return lanes - 2; }
  int count_lane() const { return lanes - 1; }
};

/// The arrays of one shard that the row kernels read and write. Rows are grouped by class.
struct TreeRows {
  Slots slots;
  Loss loss = Loss::exponential;
  float* exponentials = nullptr;         ///< n_rows x stored: e; a row's own class holds ~0, padding 0
  std::int32_t* direction = nullptr;     ///< n_rows x lanes: the direction, mass and count
  const std::uint16_t* leaf = nullptr;   ///< n_rows: which leaf of the last tree
  const float* weight = nullptr;         ///< n_rows, or null: all 1
  const std::int32_t* multiplicity = nullptr;  ///< n_rows, or null: all 1
  const float* pair_weights = nullptr;  ///< slots: what the pairs of these rows count, or null: all 1
};

/// How a row moves, and the units in which its direction is then kept.
struct TreeStep {
  const float* up = nullptr;    ///< leaves x slots
  const float* down = nullptr;  ///< leaves: of the span's own class
  std::int64_t down_stride = 1;
  const float* signs = nullptr;   ///< slots: -1 or +1
  const float* floors = nullptr;  ///< slots: the least e; 0 for padding
  float scale = 1.0F;            ///< units of the direction in 1
  float mass_scale = 1.0F;       ///< units of the mass in 1
  double loss_scale = 1.0;       ///< units of the loss in 1
};

/// What is known of rows after a step.
struct TreeAdvance {
  std::int64_t wrong = 0;  ///< rows (with multiplicity) with some e >= 1: of margins not positive
  std::int64_t loss = 0;   ///< the sum of their losses, in units of the step
};

/// What a split search reads of one node and feature, and asks of both sides.
struct SplitScan {
  const std::int32_t* hist = nullptr;   ///< n_bins x lanes
  const std::int32_t* total = nullptr;  ///< lanes: of the node
  Slots slots;
  std::int64_t n_bins = 0;
  const std::int32_t* listed = nullptr;  ///< the bins that hold rows, ascending; null: all n_bins
  std::int64_t n_listed = 0;
  std::int32_t least_count = 1;
  float smoothing = 0.0F;  ///< added to both masses
};

struct SplitFound {
  std::int64_t bin = -1;  ///< -1: none
  float score = -1.0F;    ///< of both sides together
};

/// Entries of a sparse column, and where they go.
struct ListEntries {
  const std::int32_t* rows = nullptr;   ///< of all entries of the column
  const std::int32_t* which = nullptr;  ///< n: the entries to add
  std::int64_t n = 0;
  const std::uint16_t* place_of_row = nullptr;  ///< which histogram a row is added to
  std::int64_t stride = 0;                      ///< int32 from one histogram to the next
  std::int64_t default_bin = 0;                 ///< of which there are no entries
  std::int64_t n_words = 0;                     ///< of the marks of a histogram
};

struct TreeKernels {
  /// Moves the rows [begin, end) of class `label` and forms their direction.
  TreeAdvance (*advance)(const TreeRows& rows, std::int64_t begin, std::int64_t end, int label,
                           const TreeStep& step);
  /// against[leaf x slots] += fixed-point weights of the rows; own[leaf] += their masses.
  void (*leaf_sums)(const TreeRows& rows, std::int64_t begin, std::int64_t end, double scale,
                    std::int32_t* against, double* own);
  /// hist[f][bin, :] += direction[row, :] for the rows that `order` names (null: begin to begin + n).
  void (*add_rows8)(const std::int32_t* direction, const Slots& slots, const std::uint32_t* order,
                    std::int64_t begin, std::int64_t n, const std::uint8_t* const* bins,
                    int n_features, std::int32_t* const* hist);
  void (*add_rows16)(const std::int32_t* direction, const Slots& slots, const std::uint32_t* order,
                     std::int64_t begin, std::int64_t n, const std::uint16_t* const* bins,
                     int n_features, std::int32_t* const* hist);
  /// The same for few rows, setting the bit of every bin in marks[f] that gets one.
  void (*mark_rows8)(const std::int32_t* direction, const Slots& slots, const std::uint32_t* order,
                     std::int64_t n, const std::uint8_t* const* bins, int n_features,
                     std::int32_t* const* hist, std::uint64_t* const* marks);
  void (*mark_rows16)(const std::int32_t* direction, const Slots& slots,
                      const std::uint32_t* order, std::int64_t n, const std::uint16_t* const* bins,
                      int n_features, std::int32_t* const* hist, std::uint64_t* const* marks);
  /// The same for columns that are listed by row (see RowEntries): hist[cell, :] += direction[row, :] for
  /// all cells of the rows; total[:] += direction[row, :].
  void (*add_entries)(const std::int32_t* direction, const Slots& slots, const std::uint32_t* order,
                      std::int64_t begin, std::int64_t n, const std::uint32_t* offsets,
                      const std::uint16_t* cells, std::int32_t* hist, std::int32_t* total);
  /// hist[place * stride + bin * lanes + :] += direction[row, :] for entries of a sparse column. Names the
  /// places of histograms that get any, whose default bins counted none before, and returns how many
  /// there are; the first lane of a default bin counts the entries. marks, if not null: as in mark_rows.
  std::size_t (*add_list8)(const std::int32_t* direction, const Slots& slots,
                           const ListEntries& list, const std::uint8_t* bins, std::int32_t* hist,
                           std::uint64_t* marks, std::int32_t* places);
  std::size_t (*add_list16)(const std::int32_t* direction, const Slots& slots,
                            const ListEntries& list, const std::uint16_t* bins, std::int32_t* hist,
                            std::uint64_t* marks, std::int32_t* places);
  /// The first bin of largest score: sum over the lanes of classes of G^2 / (mass + smoothing), of the
  /// rows at or below the bin and of those above it.
  SplitFound (*scan)(const SplitScan& scan);
};

/// Those that belong to kernels().
const TreeKernels& tree_kernels();

}  // namespace marginboost
