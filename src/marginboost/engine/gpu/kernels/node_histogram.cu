// Sums of the direction by node, feature and bin: whole numbers, so that no order of adding shows.
// BIN_BYTES: 1 or 2; THREADS: a multiple of the cell and of a warp.
#include "common.cuh"
#include "tree_book.cuh"
#include "lane_sums.cuh"

constexpr int PER_WORD = 4 / BIN_BYTES;
constexpr u32 BIN_MASK = BIN_BYTES == 1 ? 0xffu : 0xffffu;
constexpr int WORDS_AHEAD = 4;

// Where the features of a word begin; -1 past the last one.
struct alignas(4 * PER_WORD) Starts {
  i32 of[PER_WORD];
};

template <bool partial>
__device__ __forceinline__ void add_word(i32* to, Starts starts, u32 word, i32 value) {
#pragma unroll
  for (int j = 0; j < PER_WORD; ++j) {
    const u32 bin = word >> (8 * BIN_BYTES * j) & BIN_MASK;
    if (!partial || starts.of[j] >= 0) atomicAdd(to + starts.of[j] + bin * LANES, value);
  }
}

// Adds some rows of a list to `to`, which is where the thread's lane of the first bin lies; returns the
// sum of the thread's rows. Only the last word may have places that no feature has. Words are loaded ahead of the adding: no compiler
// may move a load past an atomic.
__device__ __forceinline__ i32 add_rows_to(i32* to, const Starts* starts, const i32* rows, i32 n,
                                           const i32* g, const u32* bins, i32 stride, i32 words) {
  const i32 lane = threadIdx.x % LANES, step = THREADS / LANES;
  const i32 full = words - 1;
  const Starts last = starts[full];
  i32 sum = 0, i = threadIdx.x / LANES;
  i64 row = i < n ? rows[i] : 0;
  for (; i < n; i += step) {
    const i32 value = g[row * LANES + lane];
    const u32* const words_here = bins + row * stride;
    row = i + step < n ? rows[i + step] : 0;
    const u32 last_word = __ldg(words_here + full);
    if (value == 0) continue;
    sum += value;
    for (i32 first = 0; first < full; first += WORDS_AHEAD) {
      u32 word[WORDS_AHEAD];
#pragma unroll
      for (int w = 0; w < WORDS_AHEAD; ++w) {
        word[w] = first + w < full ? __ldg(words_here + first + w) : 0;
      }
#pragma unroll
      for (int w = 0; w < WORDS_AHEAD; ++w) {
        if (first + w < full) {
          const Starts here = starts[first + w];
          add_word<false>(to, here, word[w], value);
        }
      }
    }
    add_word<true>(to, last, last_word, value);
  }
  return sum;
}

// A block takes a run of items, each a chunk of a node's rows for a group of features: the chunks of a
// node follow each other, and their sums leave shared memory once. A group: its first word and the word
// after its last, the first of its sums, and how many they are; 0: too many for shared memory. The last
// sums of a node are those of all its rows.
extern "C" __global__ void __launch_bounds__(THREADS, 3)
    add_rows(const i32* lists, i64 n_rows, const i32* g, const u32* bins, i32 stride,
             const i32* offsets, const int4* groups, i32 n_groups, i32* pool, i64 node_sums, i32* at,
             i32 capacity) {
  SHARED_BYTES(buffer);
  __shared__ i32 total[LANES];
  i32* const sums = reinterpret_cast<i32*>(buffer);
  const Book book(at, capacity);
  const i32 n_work = book.state[N_WORK], n_chunks = book.state[N_WORK_CHUNKS];
  const i32 first_slot = book.state[FIRST_SLOT];
  const i64 items = i64(n_groups) * n_chunks;
  const i64 share = (items + gridDim.x - 1) / gridDim.x;
  const i64 end = min(items, (blockIdx.x + 1) * share);
  for (i64 item = blockIdx.x * share; item < end;) {
    const bool is_first = item < n_chunks;
    const int4 group = groups[item / n_chunks];
    const i32 chunk = static_cast<i32>(item % n_chunks);
    const i32 work = find_end(book.work_end, n_work, chunk);
    const i32 first_chunk = work == 0 ? 0 : book.work_end[work - 1];
    const i32 end_chunk = static_cast<i32>(min(i64(book.work_end[work]), chunk + (end - item)));
    item += end_chunk - chunk;
    const i32 node = book.work_node[work];
    const i32 begin_row = (chunk - first_chunk) * ADD_CHUNK;
    const i32 end_row = min(book.length[node], (end_chunk - first_chunk) * ADD_CHUNK);
    const i32* const rows = lists + book.buffer[node] * n_rows + book.begin[node] + begin_row;
    i32* const out = pool + (first_slot + work) * node_sums;
    const i32 words = group.y - group.x, n_sums = group.w;
    i32* const starts = sums + n_sums;  // next to the sums, whose number is one of whole vectors
    const i32 shift = n_sums == 0 ? 0 : group.z;
    for (i32 i = threadIdx.x; i < words * PER_WORD; i += THREADS) {
      const i32 offset = offsets[group.x * PER_WORD + i];
      starts[i] = offset < 0 ? -1 : offset - shift;
    }
    if (threadIdx.x < LANES) total[threadIdx.x] = 0;
    for (i32 i = threadIdx.x; i < n_sums / 4; i += THREADS) {
      reinterpret_cast<int4*>(sums)[i] = make_int4(0, 0, 0, 0);
    }
    __syncthreads();
    const i32 lane = threadIdx.x % LANES;
    const Starts* const of_words = reinterpret_cast<const Starts*>(starts);
    const i32 n = end_row - begin_row;
    const i32 sum =
        n_sums == 0
            ? add_rows_to(out + lane, of_words, rows, n, g, bins + group.x, stride, words)
            : add_rows_to(sums + lane, of_words, rows, n, g, bins + group.x, stride, words);
    if (is_first && sum) atomicAdd(total + lane, sum);
    __syncthreads();
    if (is_first && threadIdx.x < LANES && total[threadIdx.x]) {
      atomicAdd(out + node_sums - LANES + threadIdx.x, total[threadIdx.x]);
    }
    for (i32 i = threadIdx.x; i < n_sums; i += THREADS) {
      if (sums[i]) atomicAdd(out + group.z + i, sums[i]);
    }
    __syncthreads();
  }
}
