// Copies of rows that a search sees, where rows count more than once.
#include "common.cuh"
#include "lane_sums.cuh"

constexpr int THREADS = 256;
// 2^64 over the golden ratio: the step from a copy's hash to the next one's.
constexpr u64 COPY_STEP = 0x9E3779B97F4A7C15ull;

// The finaliser of splitmix64, as in RowSample.
__device__ inline u64 mixed(u64 z) {
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
  return z ^ (z >> 31);
}

// A warp counts the copies of a row that are in the sample and not held out, then takes so much of the
// direction, which is a whole number times the copies that the fit sees.
extern "C" __global__ void __launch_bounds__(THREADS)
    draw_copies(const u64* hashes, const i32* copies, const i32* labels, const u64* bounds,
                const i32* multiplicity, const i32* direction, u64 seed, u64 limit, i64 n_rows,
                i32* drawn, i32* drawn_direction) {
  const i32 lane = threadIdx.x % WARP;
  const i64 n_warps = global_threads() / WARP;
  for (i64 row = global_thread() / WARP; row < n_rows; row += n_warps) {
    const u64 first = hashes[row], bound = bounds[labels[row]];
    i32 count = 0;
    for (i32 j = lane; j < copies[row]; j += WARP) {
      const u64 hash = first + j * COPY_STEP;
      count += hash >= bound && mixed(hash ^ seed) <= limit;
    }
    count = __shfl_sync(FULL_WARP, warp_sum(count), 0);
    if (lane == 0) drawn[row] = count;
    const i32 seen = multiplicity[row];
    for (i32 c = lane; seen > 0 && c < LANES; c += WARP) {
      drawn_direction[row * LANES + c] = direction[row * LANES + c] / seen * count;
    }
  }
}
