// The margins of rows. e is class-major, so that a warp's rows lie side by side whatever the number of
// classes; the direction is row-major, for the histograms.
#include "common.cuh"
#include "lane_sums.cuh"
#include "weights.cuh"

constexpr float SMALLEST_RATIO = 0x1p-60F;
constexpr float LARGEST_RATIO = 0x1p60F;

// All e = 1, and a row's own almost 0.
extern "C" __global__ void restart(float* e, const i32* labels, i64 n_rows, i32 k) {
  for (i64 i = global_thread(); i < n_rows * k; i += global_threads()) {
    const i64 r = i / n_rows;
    e[i] = labels[i - r * n_rows] == r ? SMALLEST_RATIO : 1.0F;
  }
}

// Moves e of a tile of a row's classes, and loads it; 0 past the last class.
__device__ __forceinline__ void move_tile(float (&values)[TILE_CLASSES], float* e, i64 n_rows, i32 first,
                                          i32 k, const float* up, i32 n_leaves, float down) {
#pragma unroll
  for (int j = 0; j < TILE_CLASSES; ++j) {
    values[j] = first + j < k ? e[(first + j) * n_rows] : 0.0F;
  }
  float factor[TILE_CLASSES];
#pragma unroll
  for (int j = 0; j < TILE_CLASSES; ++j) {
    factor[j] = first + j < k ? up[i64(first + j) * n_leaves] : 0.0F;
  }
#pragma unroll
  for (int j = 0; j < TILE_CLASSES; ++j) {
    if (first + j < k) {
      const float moved = max(values[j] * (factor[j] * down), SMALLEST_RATIO);
      values[j] = min(moved, LARGEST_RATIO);
      e[(first + j) * n_rows] = values[j];
    }
  }
}

// Moves the margins by the leaves' factors, then forms the direction. Counts the rows that err, and sums
// the losses.
extern "C" __global__ void __launch_bounds__(128, 4)
    advance(float* e, i32* g, float* masses, const i32* leaf, const i32* labels,
            const float* weights, const i32* multiplicity, const float* up, const float* down,
            const float* signs, const float* pair_weights, i32 n_leaves, i64 n_rows, i32 k,
            float scale, float mass_scale, double loss_scale, u64* totals) {
  __shared__ u64 block_totals[2];
  if (threadIdx.x < 2) block_totals[threadIdx.x] = 0;
  __syncthreads();
  const i64 row = global_thread();
  i32 wrong = 0;
  i64 loss = 0;
  if (row < n_rows) {
    const i32 q = leaf[row], y = labels[row], copies = multiplicity[row];
    const float weight = weights[row];
    const float down_here = down[i64(y) * n_leaves + q];
    float* const e_row = e + row;
    const float* const pairs = pair_weights + i64(y) * k;
    bool any = false;
    float values[TILE_CLASSES];
    // A row's weights: summed tile after tile, and with their signs by lane of the direction.
    float sum[LANES] = {};
    float losses[LANES] = {};
    float before[TILE_CLASSES] = {};
    bool second = true;
    float signed_sum[TILE_CLASSES] = {};
    for (i32 first = 0; first < k; first += TILE_CLASSES) {
      move_tile(values, e_row, n_rows, first, k, up + q, n_leaves, down_here);
#pragma unroll
      for (int j = 0; j < TILE_CLASSES; ++j) {
        if (first + j < k) {
          any |= values[j] >= 1.0F;
          float u = weight_of(values[j]);
          if (PAIRED) u *= pairs[first + j];
          sum[j] += u;
          signed_sum[j] += u * signs[first + j];
        }
      }
      if (LOSS == 1 && PAIRED) {
#pragma unroll
        for (int j = 0; j < TILE_CLASSES; ++j) {
          if (first + j < k) losses[j] += log_one_plus(values[j]) * pairs[first + j];
        }
      } else if (LOSS == 1) {
        // Two tiles to a logarithm: (1 + a)(1 + b) = 1 + (a + b + ab).
        second = first / TILE_CLASSES % 2 == 1;
#pragma unroll
        for (int j = 0; j < TILE_CLASSES; ++j) {
          const float a = before[j], b = values[j];
          if (second) losses[j] += log_one_plus((a + b) + a * b);
          before[j] = b;
        }
      }
    }
    if (LOSS == 1 && !PAIRED && !second) {
#pragma unroll
      for (int j = 0; j < TILE_CLASSES; ++j) losses[j] += log_one_plus(before[j]);
    }
    const float mass = sum_lanes(sum);
    masses[row] = mass;
    const float unit = scale * weight;
    const i32 own = y % TILE_CLASSES;
    const i32 of_own = rounded(signs[y] * mass * unit);
    int4* const out = reinterpret_cast<int4*>(g + row * LANES);
    i32 lane[LANES];
#pragma unroll
    for (int j = 0; j < TILE_CLASSES; ++j) {
      lane[j] = rounded(signed_sum[j] * -unit);
      if (j == own) lane[j] += of_own;
      lane[j] *= copies;
    }
    lane[LANES - 2] = rounded(mass * (mass_scale * weight)) * copies;
    lane[LANES - 1] = copies;
#pragma unroll
    for (int j = 0; j < LANES; j += 4) {
      out[j / 4] = make_int4(lane[j], lane[j + 1], lane[j + 2], lane[j + 3]);
    }
    if (any) wrong = copies;
    const float row_loss = LOSS == 0 ? mass : sum_lanes(losses);
    loss = __double2ll_rn(static_cast<double>(row_loss) * (loss_scale * weight)) * copies;
  }
  wrong = warp_sum(wrong);
  loss = warp_sum(loss);
  if (threadIdx.x % WARP == 0) {
    if (wrong) atomicAdd(&block_totals[0], static_cast<u64>(wrong));
    atomicAdd(&block_totals[1], static_cast<u64>(loss));
  }
  __syncthreads();
  if (threadIdx.x < 2 && block_totals[threadIdx.x]) {
    atomicAdd(totals + threadIdx.x, block_totals[threadIdx.x]);
  }
}
