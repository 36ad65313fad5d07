// A vector add and nothing else: what `histogram.py` holds the histogram kernel against.
#include <algorithm>
#include <cstdint>

// g: n_tiles x n_rows x lanes. Blocks of rows stay in cache while n_features pass over them, each
// adding to 1 KiB of its own.
extern "C" void bare_add(std::int32_t* sums, const std::int32_t* g, std::int64_t n_tiles,
                         std::int64_t n_rows, std::int64_t lanes, std::int64_t row_block,
                         std::int64_t n_features) {
  constexpr std::int64_t kWide = 256;
  for (std::int64_t tile = 0; tile < n_tiles; ++tile) {
    for (std::int64_t row = 0; row < n_rows; row += row_block) {
      const std::int64_t size = std::min(row_block, n_rows - row) * lanes;
      const std::int32_t* block = g + (tile * n_rows + row) * lanes;
      for (std::int64_t f = 0; f < n_features; ++f) {
        std::int32_t* __restrict into = sums + f * kWide;
        for (std::int64_t i = 0; i + kWide <= size; i += kWide) {
          const std::int32_t* __restrict from = block + i;
          for (std::int64_t j = 0; j < kWide; ++j) into[j] += from[j];
        }
      }
    }
  }
}
