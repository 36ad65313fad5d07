// Small steps of a fit over arrays as long as the data, in one file, so that a first fit compiles few.
#include "common.cuh"

// Labels that are whole numbers; `type` as VALUE in column_keys.cuh.
__device__ inline i64 label_at(const void* labels, i32 type, i64 i) {
  switch (type) {
    case 2: return static_cast<const i8*>(labels)[i];
    case 3: return static_cast<const short*>(labels)[i];
    case 4: return static_cast<const i32*>(labels)[i];
    case 6: return static_cast<const u8*>(labels)[i];
    case 7: return static_cast<const u16*>(labels)[i];
    case 8: return static_cast<const u32*>(labels)[i];
    default: return static_cast<const i64*>(labels)[i];  // u64 too, if it is below 2^63
  }
}

// The least and the largest label. `ends` begins with the largest and the least number that there is.
extern "C" __global__ void label_ends(const void* labels, i32 type, i64 n, i64* ends) {
  i64 least = 0x7fffffffffffffffll, most = -least - 1;
  for (i64 i = global_thread(); i < n; i += global_threads()) {
    const i64 label = label_at(labels, type, i);
    least = min(least, label);
    most = max(most, label);
  }
  for (int step = WARP / 2; step > 0; step /= 2) {
    least = min(least, __shfl_down_sync(FULL_WARP, least, step));
    most = max(most, __shfl_down_sync(FULL_WARP, most, step));
  }
  if (threadIdx.x % WARP == 0) {
    atomicMin(ends, least);
    atomicMax(ends + 1, most);
  }
}

// How often each of `n_codes` labels from `least` on occurs.
constexpr int HELD_CODES = 2048;

extern "C" __global__ void count_labels(const void* labels, i32 type, i64 n, i64 least, i32 n_codes,
                                        u64* counts) {
  __shared__ u32 held[HELD_CODES];
  const bool holds = n_codes <= HELD_CODES;
  for (i32 c = threadIdx.x; holds && c < n_codes; c += blockDim.x) held[c] = 0;
  __syncthreads();
  for (i64 i = global_thread(); i < n; i += global_threads()) {
    const i64 code = label_at(labels, type, i) - least;
    if (holds) {
      atomicAdd(held + code, 1u);
    } else {
      atomicAdd(counts + code, u64(1));
    }
  }
  __syncthreads();
  for (i32 c = threadIdx.x; holds && c < n_codes; c += blockDim.x) {
    if (held[c]) atomicAdd(counts + c, static_cast<u64>(held[c]));
  }
}

// The number of each label, from a table, in one byte or in four.
extern "C" __global__ void number_labels(const void* labels, i32 type, i64 n, i64 least,
                                         const u32* numbers, i32 width, u8* out) {
  for (i64 i = global_thread(); i < n; i += global_threads()) {
    const u32 number = numbers[label_at(labels, type, i) - least];
    if (width == 1) {
      out[i] = static_cast<u8>(number);
    } else {
      reinterpret_cast<u32*>(out)[i] = number;
    }
  }
}

// The class of row i, if rows are grouped by class: how many classes end at or before it.
__device__ inline i32 class_of(const i64* offsets, i32 n_classes, i64 row) {
  i32 low = 0, high = n_classes;  // the first class that ends after the row
  while (low < high) {
    const i32 middle = (low + high) / 2;
    if (offsets[middle + 1] <= row) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

extern "C" __global__ void row_labels(const i64* offsets, i32 n_classes, i64 n, i32* out) {
  for (i64 i = global_thread(); i < n; i += global_threads()) out[i] = class_of(offsets, n_classes, i);
}

extern "C" __global__ void fill_words(u32 word, i64 n, u32* out) {
  for (i64 i = global_thread(); i < n; i += global_threads()) out[i] = word;
}

// The lower halves of words.
extern "C" __global__ void lower_halves(const u64* words, i64 n, u32* out) {
  for (i64 i = global_thread(); i < n; i += global_threads()) out[i] = static_cast<u32>(words[i]);
}

// The hash of a row: the numbers of its class and of its bins, added up. `begins`: of each feature's bins
// in the table.
extern "C" __global__ void hash_rows(const u8* bins, i32 width, i64 n_rows, i32 n_features,
                                     const i64* offsets, i32 n_classes, const u64* of_class,
                                     const u64* of_bin, const i64* begins, u64* out) {
  for (i64 i = global_thread(); i < n_rows; i += global_threads()) {
    u64 hash = of_class[class_of(offsets, n_classes, i)];
    for (i32 f = 0; f < n_features; ++f) {
      hash += of_bin[begins[f] + bin_at(bins, width, i64(f) * n_rows + i)];
    }
    out[i] = hash;
  }
}

// Rows whose hash is below the bound of their class, ascending: first how many each stretch of rows has,
// then, with the sums of those, which they are.
constexpr int BELOW_THREADS = 256;
constexpr int BELOW_STRETCH = 8 * BELOW_THREADS;

__device__ inline bool is_below(const u64* hashes, i64 n, const i64* offsets, i32 n_classes,
                                const u64* bounds, i64 i) {
  return i < n && hashes[i] < bounds[class_of(offsets, n_classes, i)];
}

extern "C" __global__ void count_below(const u64* hashes, i64 n, const i64* offsets, i32 n_classes,
                                       const u64* bounds, i64* counts) {
  const i64 first = i64(blockIdx.x) * BELOW_STRETCH;
  i32 count = 0;
  for (i64 i = first + threadIdx.x; i < first + BELOW_STRETCH; i += BELOW_THREADS) {
    count += is_below(hashes, n, offsets, n_classes, bounds, i);
  }
  count = block_sum(count);
  if (threadIdx.x == 0) counts[blockIdx.x] = count;
}

extern "C" __global__ void write_below(const u64* hashes, i64 n, const i64* offsets, i32 n_classes,
                                       const u64* bounds, const i64* firsts, i64* rows) {
  __shared__ i32 of_warp[BELOW_THREADS / WARP];
  const i32 warp = threadIdx.x / WARP, lane = threadIdx.x % WARP;
  const i64 first = i64(blockIdx.x) * BELOW_STRETCH;
  i64 to = firsts[blockIdx.x];
  for (i64 from = first; from < first + BELOW_STRETCH && from < n; from += BELOW_THREADS) {
    const i64 i = from + threadIdx.x;
    const bool is_one = is_below(hashes, n, offsets, n_classes, bounds, i);
    const unsigned votes = __ballot_sync(FULL_WARP, is_one);
    if (lane == 0) of_warp[warp] = __popc(votes);
    __syncthreads();
    i32 place = __popc(votes & ((1u << lane) - 1)), all = 0;
    for (i32 w = 0; w < BELOW_THREADS / WARP; ++w) {
      if (w < warp) place += of_warp[w];
      all += of_warp[w];
    }
    if (is_one) rows[to + place] = i;
    to += all;
    __syncthreads();  // the counts have been read
  }
}

// Whether two neighbours are equal.
extern "C" __global__ void find_repeats(const u64* sorted, i64 n, i32* found) {
  for (i64 i = global_thread() + 1; i < n; i += global_threads()) {
    if (sorted[i] == sorted[i - 1]) *found = 1;
  }
}

// Replaces counts by the sums of those before; writes every `step`th of them, and the sum of all. One
// block of 1024 threads.
extern "C" __global__ void scan_counts(i64* counts, i64 n, i64 step, i64* firsts) {
  __shared__ i64 sums[1024];
  const i64 share = (n + 1023) / 1024;
  const i64 begin = min(n, share * threadIdx.x), end = min(n, begin + share);
  i64 sum = 0;
  for (i64 i = begin; i < end; ++i) sum += counts[i];
  sums[threadIdx.x] = sum;
  __syncthreads();
  for (i32 reach = 1; reach < 1024; reach *= 2) {
    const i64 before = i32(threadIdx.x) >= reach ? sums[threadIdx.x - reach] : 0;
    __syncthreads();
    sums[threadIdx.x] += before;
    __syncthreads();
  }
  i64 before = sums[threadIdx.x] - sum;
  for (i64 i = begin; i < end; ++i) {
    const i64 count = counts[i];
    counts[i] = before;
    if (i % step == 0) firsts[i / step] = before;
    before += count;
  }
  if (threadIdx.x == 1023) firsts[n / step] = before;
}
