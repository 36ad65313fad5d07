// The best split of every new node, from histograms. A warp has a feature of a pair of nodes; its
// threads first add up the bins, one thread per lane, then score them, one thread per bin.
#include "common.cuh"
#include "tree_book.cuh"
#include "lane_sums.cuh"

constexpr int STRIDE = LANES + 1;  // so that the bins of a lane lie in different banks
static_assert(2 * LANES <= WARP);  // a thread adds up at most one lane of either node
constexpr int AHEAD = 16;

// Where a pair's sums lie. The large one's histogram lies where its parent's was.
struct Pair {
  i32* small;
  i32* large;  // null: there is none
  bool kept;
};

// Adds n of up to 32 bins to the running sum of one lane of one node, noting each step.
__device__ inline i32 add_bins(const Pair& pair, i32 lane, i64 first_bin, i32 n, i32 sum,
                               i32* prefix) {
  const bool is_large = lane >= LANES;
  const i32 cell = is_large ? lane - LANES : lane;
  i32* const from = (is_large ? pair.large : pair.small) + first_bin * LANES + cell;
  const i32* const less = pair.small + first_bin * LANES + cell;
  const bool subtracts = is_large && pair.kept;
  i32* const out = prefix + (is_large ? WARP * STRIDE : 0) + cell;
  for (i32 first = 0; first < n; first += AHEAD) {
    i32 value[AHEAD];
#pragma unroll
    for (int j = 0; j < AHEAD; ++j) value[j] = first + j < n ? from[(first + j) * LANES] : 0;
    if (subtracts) {
#pragma unroll
      for (int j = 0; j < AHEAD; ++j) value[j] -= first + j < n ? less[(first + j) * LANES] : 0;
#pragma unroll
      for (int j = 0; j < AHEAD; ++j) {
        if (first + j < n) from[(first + j) * LANES] = value[j];
      }
    }
#pragma unroll
    for (int j = 0; j < AHEAD; ++j) {
      sum += value[j];
      out[(first + j) * STRIDE] = sum;
    }
  }
  return sum;
}

// A split's score above its place in 64 bits, so that the largest is the first of the best; 0: none.
__device__ inline u64 judge(const i32* left, const i32* total, i32 least_count, float smoothing,
                            u32 place) {
  const i32 count = left[LANES - 1];
  if (count < least_count || total[LANES - 1] - count < least_count) return 0;
  const float score = score_of([&](int c) { return left[c]; }, smoothing) +
                      score_of([&](int c) { return total[c] - left[c]; }, smoothing);
  return u64(__float_as_uint(score)) << 32 | static_cast<u32>(~place);
}

extern "C" __global__ void scan_nodes(i32* pool, i64 node_sums, const i32* begins, i32 n_features,
                                      i32 least_count, float smoothing, const u8* allowed,
                                      i32 has_allowed, i32* totals, i32* at, i32 capacity) {
  SHARED_BYTES(buffer);
  __shared__ i32 total[2 * LANES];
  const Book book(at, capacity);
  const i32 number = book.state[FIRST_PAIR] + i32(blockIdx.y);
  if (number >= book.state[END_PAIR]) return;
  const i32 small = book.small[number];
  if (small < 0) return;
  const i32 large = book.large[number];
  const Pair pair{pool + book.small_slot[number] * node_sums,
                  large < 0 ? nullptr : pool + book.large_slot[number] * node_sums,
                  book.kept[number] != 0};
  // Other blocks may be writing where the parent's histogram was, so its total is kept elsewhere.
  for (i32 c = threadIdx.x; c < LANES; c += blockDim.x) {
    const i64 place = node_sums - LANES + c;
    total[c] = pair.small[place];
    if (large >= 0) {
      total[LANES + c] = pair.kept ? totals[i64(book.parent[number]) * LANES + c] - total[c]
                                  : pair.large[place];
    }
    if (blockIdx.x == 0) {
      totals[i64(small) * LANES + c] = total[c];
      if (large >= 0) totals[i64(large) * LANES + c] = total[LANES + c];
    }
  }
  __syncthreads();
  const i32 lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
  const i32 feature = i32(blockIdx.x) * (blockDim.x / WARP) + warp;
  if (feature >= n_features) return;
  // What a pair may not split, no node below it may: nobody reads these sums again.
  if (has_allowed && !allowed[i64(number) * n_features + feature]) return;
  i32* const prefix = reinterpret_cast<i32*>(buffer) + warp * 2 * WARP * STRIDE;
  const i32 begin = begins[feature], n_bins = begins[feature + 1] - begin;
  const i32 n_lanes = large < 0 ? LANES : 2 * LANES;
  i32 sum = 0;
  u64 best[2] = {};
  for (i32 first = 0; first < n_bins; first += WARP) {
    const i32 n = min(WARP, n_bins - first);
    if (lane < n_lanes) sum = add_bins(pair, lane, begin + first, n, sum, prefix);
    __syncwarp();
    if (first + lane + 1 < n_bins) {
      const u32 place = begin + first + lane;
#pragma unroll
      for (int side = 0; side < 2; ++side) {
        if (side == 1 && large < 0) break;
        const u64 found = judge(prefix + (side * WARP + lane) * STRIDE, total + side * LANES,
                                least_count, smoothing, place);
        best[side] = max(best[side], found);
      }
    }
    __syncwarp();
  }
#pragma unroll
  for (int side = 0; side < 2; ++side) {
    for (int step = WARP / 2; step > 0; step /= 2) {
      best[side] = max(best[side], __shfl_xor_sync(FULL_WARP, best[side], step));
    }
  }
  if (lane != 0) return;
  if (best[0]) atomicMax(book.best + small, best[0]);
  if (best[1]) atomicMax(book.best + large, best[1]);
}
