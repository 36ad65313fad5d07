// The best split of every node of a slab, by weighted Gini impurity.
//
// A block takes a feature and a node. It turns the histogram into prefix sums in place, and then a
// thread a bin scores a split: sum of squares over sum of both parts, the squares added one label after
// the other, as the reference does.
#include "common.cuh"

constexpr int BLOCK = 256;

// Prefix sums over the bins of cells[bin * apart], in place, for `n_series` neighbouring series; the
// commonest bin first gets what the others lack of totals[series].
template <class T>
__device__ inline void accumulate(T* cells, const T* totals, int n_bins, int n_series, int common) {
  __shared__ T parts[BLOCK];
  const int together = min(n_series, BLOCK), n_segments = BLOCK / together;
  const int number = threadIdx.x / together, lane = threadIdx.x % together;
  const int length = (n_bins + n_segments - 1) / n_segments;
  const int begin = min(number * length, n_bins), end = min(begin + length, n_bins);
  for (int first = 0; first < n_series; first += together) {
    const int series = first + lane;
    const bool is = number < n_segments && series < n_series;
    T sum = 0;
    for (int b = begin; is && b < end; ++b) sum += cells[i64(b) * n_series + series];
    __syncthreads();  // earlier parts have been read
    parts[threadIdx.x] = sum;
    __syncthreads();
    if (!is) continue;
    T before = 0, all = 0;
    for (int s = 0; s < n_segments; ++s) {
      const T part = parts[s * together + lane];
      if (s < number) before += part;
      all += part;
    }
    const T missing = common >= 0 ? totals[series] - all : 0;
    if (common >= 0 && common < begin) before += missing;
    for (int b = begin; b < end; ++b) {
      T& cell = cells[i64(b) * n_series + series];
      before += cell;
      if (b == common) before += missing;
      cell = before;
    }
  }
  __syncthreads();
}

// The better of two scores; of equal ones the first.
struct Best {
  double score = -1.0;
  int at = 0;

  __device__ void consider(double other, int other_at) {
    if (other > score || (other == score && other_at < at)) {
      score = other;
      at = other_at;
    }
  }
  // The best of a block, in its thread 0.
  __device__ void reduce() {
    __shared__ double scores[BLOCK / WARP];
    __shared__ int places[BLOCK / WARP];
    for (int step = WARP / 2; step > 0; step /= 2) {
      const double other = __shfl_down_sync(FULL_WARP, score, step);
      const int other_at = __shfl_down_sync(FULL_WARP, at, step);
      consider(other, other_at);
    }
    __syncthreads();
    if (threadIdx.x % WARP == 0) {
      scores[threadIdx.x / WARP] = score;
      places[threadIdx.x / WARP] = at;
    }
    __syncthreads();
    for (int w = 0; threadIdx.x == 0 && w < BLOCK / WARP; ++w) consider(scores[w], places[w]);
  }
};

// The score of a split with `left` at or below it; -1 where one part is empty.
__device__ inline double score_of(const u32* left, const u32* totals, int n_labels) {
  double left_squares = 0.0, right_squares = 0.0;
  u32 left_total = 0, right_total = 0;
  for (int l = 0; l < n_labels; ++l) {
    const u32 on_left = left[l], on_right = totals[l] - on_left;
    left_squares += double(on_left) * double(on_left);
    right_squares += double(on_right) * double(on_right);
    left_total += on_left;
    right_total += on_right;
  }
  if (left_total == 0 || right_total == 0) return -1.0;
  return left_squares / double(left_total) + right_squares / double(right_total);
}

// Block x is a feature of the slab, y a node. scores, places: nodes x features of the slab.
extern "C" __global__ void __launch_bounds__(256)
    scan_splits(u32* hist, u64* weights, i32 weighted, double least,
                const u32* __restrict__ masses, const u64* __restrict__ node_weights,
                const i32* __restrict__ specs, i32 first_node, i32 n_labels, i32 slab_feature,
                i32 slab_bins, double* __restrict__ scores, i32* __restrict__ places) {
  const int feature = slab_feature + blockIdx.x, node = first_node + blockIdx.y;
  const int first_bin = specs[2 * feature] - specs[2 * slab_feature];
  const int n_bins = specs[2 * feature + 2] - specs[2 * feature], common = specs[2 * feature + 1];
  const u32* const totals = masses + i64(node) * n_labels;
  u32* const cells = hist + (i64(blockIdx.y) * slab_bins + first_bin) * n_labels;
  u64* const heavy = weights + (weighted ? i64(blockIdx.y) * slab_bins + first_bin : 0);
  int n_present = 0;
  for (int l = 0; l < n_labels && n_present < 2; ++l) n_present += totals[l] > 0;
  Best best;
  if (n_present > 1 && n_bins > 1) {  // the same in all threads
    accumulate(cells, totals, n_bins, n_labels, common);
    if (weighted) accumulate(heavy, node_weights + node, n_bins, 1, common);
    for (int b = threadIdx.x; b + 1 < n_bins; b += BLOCK) {
      if (weighted) {
        const u64 on_left = heavy[b], on_right = heavy[n_bins - 1] - on_left;
        if (double(min(on_left, on_right)) < least) continue;
      }
      best.consider(score_of(cells + i64(b) * n_labels, totals, n_labels), b);
    }
  }
  best.reduce();
  if (threadIdx.x != 0) return;
  scores[i64(blockIdx.y) * gridDim.x + blockIdx.x] = best.score;
  places[i64(blockIdx.y) * gridDim.x + blockIdx.x] = best.at;
}

// Block x is a node. splits: nodes x (feature, bin, masses, left masses); kept where an earlier slab has
// a score as high. `fresh`: this is the first slab.
extern "C" __global__ void __launch_bounds__(256)
    choose_splits(const u32* __restrict__ hist, const u32* __restrict__ masses,
                  const double* __restrict__ scores, const i32* __restrict__ places,
                  const i32* __restrict__ specs, i32 first_node, i32 n_labels, i32 slab_feature,
                  i32 n_features, i32 slab_bins, i32 fresh, double* best_score,
                  i64* __restrict__ splits) {
  __shared__ int chosen;
  const int node = first_node + blockIdx.x;
  i64* const split = splits + i64(node) * (2 + 2 * n_labels);
  const double* const here = scores + i64(blockIdx.x) * n_features;
  Best best;
  for (int f = threadIdx.x; f < n_features; f += BLOCK) best.consider(here[f], f);
  best.reduce();
  if (threadIdx.x == 0) {
    const double before = fresh ? -1.0 : best_score[node];
    chosen = best.score > before ? best.at : -1;
    best_score[node] = best.score > before ? best.score : before;
  }
  __syncthreads();
  if (chosen < 0 && !fresh) return;
  const int bin = chosen < 0 ? 0 : places[i64(blockIdx.x) * n_features + chosen];
  const int feature = slab_feature + (chosen < 0 ? 0 : chosen);
  const i64 at = i64(blockIdx.x) * slab_bins + specs[2 * feature] - specs[2 * slab_feature] + bin;
  for (int l = threadIdx.x; l < n_labels; l += BLOCK) {
    split[2 + l] = masses[i64(node) * n_labels + l];
    split[2 + n_labels + l] = chosen < 0 ? 0 : hist[at * n_labels + l];
  }
  if (threadIdx.x == 0) {
    split[0] = chosen < 0 ? -1 : feature;
    split[1] = bin;
  }
}
