// The best threshold of every feature's histogram, and the best of all features.
//
// A block takes a feature. Its threads divide the bins into segments, LANES neighbouring threads per
// segment, one per output of the tile: the sums of the segments give each its start, and then each walks
// its bins. An edge is the total less twice what lies at or below the bin.
#include "common.cuh"

constexpr int BLOCK = 256;
constexpr int SEGMENTS = BLOCK / LANES;

enum Criterion { LARGEST = 0, SUM = 1, SQUARES = 2 };

// The histogram of one feature, all outputs.
struct Feature {
  const i32* hist;
  const i32* totals;  // of the outputs, over all bins
  int n_bins, common, padded;

  __device__ Feature(const i32* all, const i32* specs, int feature, int n_features, int n_padded)
      : hist(all + i64(specs[2 * feature]) * n_padded),
        totals(all + i64(specs[2 * n_features]) * n_padded),
        n_bins(specs[2 * feature + 2] - specs[2 * feature]),
        common(specs[2 * feature + 1]),
        padded(n_padded) {}
};

// One thread's segment of the bins, and where its prefix sum starts. Sums wrap, and fit in the end.
struct Segment {
  int begin, end, length;
  u32 total, before, missing;  // `missing`: what the commonest bin must hold

  __device__ Segment(const Feature& feature, int output) {
    __shared__ u32 parts[BLOCK];
    const int number = threadIdx.x / LANES, lane = threadIdx.x % LANES;
    length = (feature.n_bins + SEGMENTS - 1) / SEGMENTS;
    begin = min(number * length, feature.n_bins);
    end = min(begin + length, feature.n_bins);
    u32 sum = 0;
    for (int b = begin; b < end; ++b) sum += u32(feature.hist[i64(b) * feature.padded + output]);
    __syncthreads();  // an earlier tile's parts have been read
    parts[threadIdx.x] = sum;
    __syncthreads();
    before = 0;
    u32 all = 0;
    for (int s = 0; s < SEGMENTS; ++s) {
      const u32 part = parts[s * LANES + lane];
      if (s < number) before += part;
      all += part;
    }
    total = u32(feature.totals[output]);
    missing = feature.common >= 0 ? total - all : 0;
    if (feature.common >= 0 && feature.common < begin) before += missing;
  }
};

// Calls visit(bin, edge, is) as often in every thread; `is`: the bin is one to divide after.
template <class Visit>
__device__ inline void walk(const Feature& feature, int output, Visit visit) {
  const Segment segment(feature, output);
  u32 below = segment.before;
  for (int i = 0; i < segment.length; ++i) {
    const int b = segment.begin + i;
    if (b < segment.end) below += u32(feature.hist[i64(b) * feature.padded + output]);
    if (b < segment.end && b == feature.common) below += segment.missing;
    visit(b, i32(segment.total - 2 * below), b < segment.end && b + 1 < feature.n_bins);
  }
}

// A candidate; of equal sizes that of the lower rank is better.
struct Candidate {
  i64 size = -1;
  u64 rank = 0;

  __device__ void consider(i64 other_size, u64 other_rank) {
    if (other_size > size || (other_size == size && other_rank < rank)) {
      size = other_size;
      rank = other_rank;
    }
  }
  // The best of a block, in its thread 0.
  __device__ void reduce() {
    __shared__ i64 sizes[BLOCK / WARP];
    __shared__ u64 ranks[BLOCK / WARP];
    reduce_warp();
    __syncthreads();
    if (threadIdx.x % WARP == 0) {
      sizes[threadIdx.x / WARP] = size;
      ranks[threadIdx.x / WARP] = rank;
    }
    __syncthreads();
    for (int w = 0; threadIdx.x == 0 && w < BLOCK / WARP; ++w) consider(sizes[w], ranks[w]);
  }

 private:
  __device__ void reduce_warp() {
    for (int step = WARP / 2; step > 0; step /= 2) {
      const i64 other_size = __shfl_down_sync(FULL_WARP, size, step);
      const u64 other_rank = __shfl_down_sync(FULL_WARP, rank, step);
      consider(other_size, other_rank);
    }
  }
};

// The first bin, then a positive edge, then the first output.
__device__ inline u64 rank_of(int bin, i32 edge, int output) {
  return (u64(bin) * 2 + (edge < 0 ? 1 : 0)) << 32 | u64(output);
}

__device__ inline Candidate largest_edge(const Feature& feature, int n_outputs) {
  Candidate best;
  for (int first = 0; first < n_outputs; first += LANES) {
    const int output = first + threadIdx.x % LANES;
    walk(feature, output, [&](int bin, i32 edge, bool is) {
      if (!is || output >= n_outputs) return;
      best.consider(edge < 0 ? -i64(edge) : i64(edge), rank_of(bin, edge, output));
    });
  }
  return best;
}

// Scores add up over the tiles in `scores`, one per bin; each is written by one thread.
__device__ inline Candidate highest_score(const Feature& feature, int n_outputs, int criterion,
                                          i64* scores) {
  Candidate best;
  for (int first = 0; first < n_outputs; first += LANES) {
    const int output = first + threadIdx.x % LANES;
    walk(feature, output, [&](int bin, i32 edge, bool is) {
      const i64 coarse = edge >> 6;
      i64 score = criterion == SUM ? (edge < 0 ? -i64(edge) : i64(edge)) : coarse * coarse;
      if (output >= n_outputs) score = 0;
      for (int step = LANES / 2; step > 0; step /= 2) {
        score += __shfl_xor_sync(FULL_WARP, score, step);
      }
      if (!is || threadIdx.x % LANES != 0) return;
      if (first > 0) score += scores[bin];
      scores[bin] = score;
      if (first + LANES >= n_outputs) best.consider(score, rank_of(bin, 0, 0));
    });
  }
  return best;
}

// answer: feature, bin, output and edge of the best stump. `records`: two numbers per feature;
// `ticket` is 0 before and after.
extern "C" __global__ void __launch_bounds__(256)
    best_stump(const i32* __restrict__ hist, const i32* __restrict__ specs, i32 n_features,
               i32 n_outputs, i32 padded, i32 criterion, i64* scores, i64* records, u32* ticket,
               i64* answer) {
  __shared__ bool is_last;
  const Feature feature(hist, specs, blockIdx.x, n_features, padded);
  Candidate best = criterion == LARGEST
                       ? largest_edge(feature, n_outputs)
                       : highest_score(feature, n_outputs, criterion, scores + specs[2 * blockIdx.x]);
  best.reduce();
  if (threadIdx.x == 0) {
    volatile i64* const record = records + 2 * blockIdx.x;
    record[0] = best.size;
    record[1] = i64(best.rank);
    __threadfence();  // the record before the ticket
    is_last = atomicAdd(ticket, 1u) == gridDim.x - 1;
  }
  __syncthreads();
  if (!is_last) return;
  __threadfence();
  const volatile i64* const all = records;
  Candidate first;  // by feature
  for (int f = threadIdx.x; f < n_features; f += BLOCK) first.consider(all[2 * f], u64(f));
  first.reduce();
  if (threadIdx.x != 0) return;
  *ticket = 0;
  const bool found = first.size >= 0;
  const u64 rank = found ? u64(all[2 * first.rank + 1]) : 0;
  const i64 size = found ? first.size : 0;
  answer[0] = found ? i64(first.rank) : -1;
  answer[1] = i64(rank >> 33);
  answer[2] = i64(rank & 0xffffffffu);
  answer[3] = rank >> 32 & 1 ? -size : size;
}

// Puts what the commonest bins must hold into the histogram.
extern "C" __global__ void __launch_bounds__(256)
    complete(i32* hist, const i32* __restrict__ specs, i32 n_features, i32 padded) {
  const Feature feature(hist, specs, blockIdx.x, n_features, padded);
  if (feature.common < 0) return;
  for (int first = 0; first < padded; first += LANES) {
    const int output = first + threadIdx.x % LANES;
    const Segment segment(feature, output);
    if (threadIdx.x >= LANES) continue;
    hist[(i64(specs[2 * blockIdx.x]) + feature.common) * padded + output] += i32(segment.missing);
  }
}
