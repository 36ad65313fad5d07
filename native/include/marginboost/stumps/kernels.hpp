// The inner loops, compiled once an instruction set and chosen at run time.
//
// All versions give the same bits: the sums are of integers, and everything else is one IEEE
// operation an element in a fixed order.
#pragma once

#include <cstdint>

#include "marginboost/loss.hpp"

namespace marginboost {

/// How outputs lie in a row of the direction g: `tiles` vectors of `lanes` int32, zero-padded.
struct Lanes {
  int lanes = 16;
  int tiles = 1;
  static Lanes of(int n_outputs);
  int padded() const { return lanes * tiles; }
};

/// Rows [begin, end) of one class, and what moves them.
struct RowSpan {
  std::int64_t begin = 0, end = 0;
  int label = 0;
};

/// The arrays of one shard that the row kernels read and write. Rows are grouped by class. An output
/// is a class, or a codeword's bit.
struct RowArrays {
  std::int64_t n_rows = 0;
  int n_outputs = 0;
  Lanes lanes;
  Loss loss = Loss::exponential;
  /// Outputs are the classes and the direction is the margins': a row's own output gets the sum of its
  /// weights. Otherwise the direction is the weights times the signs of the row's class.
  bool margins = true;
  double* exponentials = nullptr;       ///< n_rows x n_outputs: e; a row's own class holds ~0
  std::int32_t* direction = nullptr;    ///< tiles x n_rows x lanes: fixed-point g
  const std::int32_t* signs = nullptr;  ///< n_classes x padded outputs: -1, 0, +1; null for margins
  const std::uint8_t* side = nullptr;   ///< n_rows: which side of the weak classifier
  const double* weight = nullptr;       ///< n_rows, or null: all 1
  const std::int32_t* multiplicity = nullptr;  ///< n_rows, or null: all 1
};

/// factor[s * stride + c] multiplies e[i, c] of a row on side s.
struct Factors {
  const double* values = nullptr;
  std::int64_t stride = 0;
};

inline constexpr int kFeaturesAtOnce = 4;  ///< histograms filled together, to hide the adds' latency

struct Kernels {
  const char* name;
  /// hist[f][bin, lane] += g[row, lane] for n_features <= kFeaturesAtOnce features.
  void (*histogram8)(const std::int32_t* g, int lanes, const std::uint8_t* const* bins,
                     int n_features, std::int64_t n_rows, std::int32_t* const* hist);
  void (*histogram16)(const std::int32_t* g, int lanes, const std::uint16_t* const* bins,
                      int n_features, std::int64_t n_rows, std::int32_t* const* hist);
  /// The largest |total - 2 * prefix| over the first n_bins - 1 bins and all lanes.
  std::int64_t (*largest_edge)(const std::int32_t* hist, const std::int32_t* total, int lanes,
                               std::int64_t n_bins);
  /// The first bin where some lane's |total - 2 * prefix| is `size`, and all lanes' values there; -1
  /// if there is none.
  std::int64_t (*find_edge)(const std::int32_t* hist, const std::int32_t* total, int lanes,
                            std::int64_t n_bins, std::int32_t size, std::int32_t* edges);
  /// e *= factor, then g = fixed-point direction at `scale`; totals[lane] += g; returns the
  /// (multiplicity-weighted) number of rows with some e >= 1: of margins that are not positive.
  std::int64_t (*advance)(const RowArrays& rows, RowSpan span, Factors factors, double scale,
                          std::int32_t* totals);
  /// sums[side * stride + c] += fixed-point weight at e * factor (factors.values may be null: at
  /// e), for two sides; curvature likewise with u (1 - u), unless null.
  void (*sum)(const RowArrays& rows, RowSpan span, Factors factors, double scale, double* sums,
              double* curvature, std::int64_t stride);
  /// The bare vector add that the histogram is measured against: same bytes, no bins.
  void (*bare_add)(const std::int32_t* g, int lanes, int n_features, std::int64_t n_rows,
                   std::int32_t* const* hist);
};

/// The kernels in use: the best this CPU has, unless use_kernels chose others.
const Kernels& kernels();
/// Chooses by name ("avx512", "avx2", "neon", "portable", or "auto"); false if this CPU or build lacks it.
bool use_kernels(const char* name);

}  // namespace marginboost
