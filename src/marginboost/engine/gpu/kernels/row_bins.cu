// Bins by row: what rows are walked, divided and added up by. BIN_BYTES: 1 or 2.
#include "common.cuh"

#if BIN_BYTES == 1
using Bin = u8;
#else
using Bin = u16;
#endif
constexpr int PER_WORD = 4 / BIN_BYTES;

// The bins by row, from those by feature: a thread for every row, so that a warp reads and writes
// neighbours. `words`: of a row of the output, the last one filled up with zeros.
extern "C" __global__ void transpose_bins(const Bin* by_feature, i64 n_rows, i32 n_features, u32* out,
                                          i32 words) {
  for (i64 row = global_thread(); row < n_rows; row += global_threads()) {
    for (i32 w = 0; w < words; ++w) {
      u32 word = 0;
#pragma unroll
      for (int j = 0; j < PER_WORD; ++j) {
        const i64 feature = w * PER_WORD + j;
        if (feature < n_features) word |= u32(by_feature[feature * n_rows + row]) << (8 * BIN_BYTES * j);
      }
      out[row * words + w] = word;
    }
  }
}

// The bins of a tree's features side by side, in words.
extern "C" __global__ void gather_features(const Bin* bins, i64 stride, i64 n_rows,
                                           const i32* features, i32 n_features, u32* out,
                                           i32 words) {
  for (i64 i = global_thread(); i < n_rows * words; i += global_threads()) {
    const i64 row = i / words;
    const i32 first = static_cast<i32>(i - row * words) * PER_WORD;
    const Bin* here = bins + row * stride;
    u32 word = 0;
#pragma unroll
    for (int j = 0; j < PER_WORD; ++j) {
      if (first + j < n_features) word |= u32(here[features[first + j]]) << (8 * BIN_BYTES * j);
    }
    out[i] = word;
  }
}
