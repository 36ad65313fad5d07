// The rows that a search sees, as lists by node. Two lists take turns: a divided node's rows move to the
// other one, those of the left child from the front of its place and those of the right from the back.
// Their order does not matter, because all sums over them are of integers. BIN_BYTES: 1 or 2.
#include "common.cuh"
#include "tree_book.cuh"

#if BIN_BYTES == 1
using Bin = u8;
#else
using Bin = u16;
#endif

constexpr int THREADS = 256;
constexpr int ITEMS = 4;  // rows of a thread
constexpr int CHUNK = THREADS * ITEMS;

// Places for the chunk's rows that go left and right: reserved once per block. `n` rows are there.
struct Reserved {
  i32 place[ITEMS];  // counted from where the rows of that side begin

  __device__ Reserved(const bool (&goes_left)[ITEMS], i32 n, i32* left, i32* right) {
    __shared__ i32 lefts[THREADS / WARP], bases[2];
    const i32 lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    const u32 before = (1u << lane) - 1;
    u32 votes[ITEMS];
    i32 warp_lefts = 0;
#pragma unroll
    for (int j = 0; j < ITEMS; ++j) {
      votes[j] = __ballot_sync(FULL_WARP, goes_left[j]);
      warp_lefts += __popc(votes[j]);
    }
    if (lane == 0) lefts[warp] = warp_lefts;
    __syncthreads();
    if (threadIdx.x == 0) {
      i32 sum = 0;
      for (int w = 0; w < THREADS / WARP; ++w) sum += lefts[w];
      bases[0] = atomicAdd(left, sum);
      bases[1] = right == nullptr ? 0 : atomicAdd(right, n - sum);
    }
    __syncthreads();
    i32 left_place = bases[0], right_place = bases[1];
    for (int w = 0; w < warp; ++w) {
      left_place += lefts[w];
      right_place -= lefts[w];
    }
    // A warp's rows are ITEMS runs of lanes; the rows of the warps before it come first.
    for (int w = 0; w < warp; ++w) {
      for (int j = 0; j < ITEMS; ++j) right_place += present(n, w, j);
    }
#pragma unroll
    for (int j = 0; j < ITEMS; ++j) {
      const i32 lefts_before = __popc(votes[j] & before);
      const i32 rows = present(n, warp, j);
      place[j] = goes_left[j] ? left_place + lefts_before : right_place + lane - lefts_before;
      left_place += __popc(votes[j]);
      right_place += rows - __popc(votes[j]);
    }
    __syncthreads();  // the next chunk uses the same memory
  }

  // How many of a warp's lanes have a row in run j.
  static __device__ i32 present(i32 n, i32 warp, i32 j) {
    return min(WARP, max(0, n - (j * THREADS + warp * WARP)));
  }
};

// A tree begins: one node, and its search is this batch.
extern "C" __global__ void begin_tree(i32* at, i32 capacity) {
  const Book book(at, capacity);
  if (threadIdx.x != 0) return;
  for (int i = 0; i < STATE_SIZE; ++i) book.state[i] = 0;
  book.state[N_NODES] = book.state[N_LEAVES] = book.state[N_PAIRS] = 1;
  book.begin[0] = book.length[0] = book.buffer[0] = book.count[0] = book.depth[0] = 0;
  book.slot[0] = -1;
  book.best[0] = 0;
  book.cut[0] = make_int4(0, 0, 0, 0);
  book.parent[0] = -1;
  book.child[0] = 0;
  book.search[0] = 1;
}

// The rows in a sample, into the first list: those of some weight and a copy or more whose hash, mixed with
// a seed, is at most the limit. Where copies have been drawn, `multiplicity` counts those, and there are no
// hashes.
extern "C" __global__ void __launch_bounds__(THREADS)
    select_rows(const float* weights, const i32* multiplicity, const u64* hashes, i32 has_hashes,
                u64 seed, u64 limit, i64 n_rows, i32* list, i32* at, i32 capacity) {
  const Book book(at, capacity);
  __shared__ i32 copies;
  if (threadIdx.x == 0) copies = 0;
  __syncthreads();
  const i64 begin = i64(blockIdx.x) * CHUNK;
  const i32 n = static_cast<i32>(max(i64(0), min(i64(CHUNK), n_rows - begin)));
  bool taken[ITEMS];
#pragma unroll
  for (int j = 0; j < ITEMS; ++j) {
    const i32 i = j * THREADS + threadIdx.x;
    taken[j] = i < n && weights[begin + i] > 0.0F && multiplicity[begin + i] > 0;
    if (taken[j] && has_hashes) {
      // The finaliser of splitmix64, as in RowSample.
      u64 z = hashes[begin + i] ^ seed;
      z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
      z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
      taken[j] = (z ^ (z >> 31)) <= limit;
    }
  }
  const Reserved reserved(taken, n, book.length, nullptr);
  i32 sum = 0;
#pragma unroll
  for (int j = 0; j < ITEMS; ++j) {
    if (!taken[j]) continue;
    const i64 row = begin + j * THREADS + threadIdx.x;
    list[reserved.place[j]] = static_cast<i32>(row);
    sum += multiplicity[row];
  }
  if (sum) atomicAdd(&copies, sum);
  __syncthreads();
  if (threadIdx.x == 0 && copies) atomicAdd(book.count, copies);
}

// Divides the rows of this batch's nodes by their cuts.
extern "C" __global__ void __launch_bounds__(THREADS)
    divide_rows(const Bin* bins, i64 stride, const i32* multiplicity, i32 has_copies, i64 n_rows,
                i32* lists, i32* at, i32 capacity) {
  const Book book(at, capacity);
  __shared__ i32 copies;
  const i32 n_pairs = book.state[N_PAIRS], n_chunks = book.state[N_CHUNKS];
  for (i32 chunk = blockIdx.x; chunk < n_chunks; chunk += gridDim.x) {
    const i32 pair = find_end(book.chunk_end, n_pairs, chunk);
    const i32 node = book.parent[pair];
    const i32 before = chunk - (pair == 0 ? 0 : book.chunk_end[pair - 1]);
    const i32 length = book.length[node], n = min(CHUNK, length - before * CHUNK);
    const i64 place = book.begin[node];
    const i32 buffer = book.buffer[node];
    const i32* const from = lists + buffer * n_rows + place + i64(before) * CHUNK;
    i32* const to = lists + (1 - buffer) * n_rows + place;
    const int4 cut = book.cut[node];
    if (threadIdx.x == 0) copies = 0;
    i32 row[ITEMS];
    bool goes_left[ITEMS];
#pragma unroll
    for (int j = 0; j < ITEMS; ++j) {
      const i32 i = j * THREADS + threadIdx.x;
      row[j] = i < n ? from[i] : -1;
    }
#pragma unroll
    for (int j = 0; j < ITEMS; ++j) {
      goes_left[j] = row[j] >= 0 && i32(bins[row[j] * stride + cut.x]) <= cut.y;
    }
    const Reserved reserved(goes_left, n, book.left + pair, book.right + pair);
    i32 sum = 0;
#pragma unroll
    for (int j = 0; j < ITEMS; ++j) {
      if (row[j] < 0) continue;
      to[goes_left[j] ? reserved.place[j] : length - 1 - reserved.place[j]] = row[j];
      if (has_copies && goes_left[j]) sum += multiplicity[row[j]];
    }
    if (!has_copies) continue;
    if (sum) atomicAdd(&copies, sum);
    __syncthreads();
    if (threadIdx.x == 0 && copies) atomicAdd(book.left_count + pair, copies);
    __syncthreads();
  }
}
