// Sums of weights by leaf and class, of all rows. BIN_BYTES: 1 or 2.
#include "common.cuh"
#include "weights.cuh"

#if BIN_BYTES == 1
using Bin = u8;
#else
using Bin = u16;
#endif

// A sum of whole numbers in two parts, for which shared memory has atomics of its own: at most 4096 of
// them, so that the low one holds its sum.
constexpr int LOW_BITS = 20;
constexpr u64 LOW_MASK = (1u << LOW_BITS) - 1;

// Walks every row to its leaf, and sums the masses by class and leaf. Rows are grouped by class, so a
// block has few of them; `most_cells`: sums that shared memory has room for.
extern "C" __global__ void place_rows(const Bin* bins, i64 stride, const int4* cuts,
                                      const i32* leaf_of_node, i32* leaf, const i32* labels,
                                      const float* masses, const float* weights,
                                      const i32* multiplicity, double scale, i32 n_leaves,
                                      i64 n_rows, i32 rows_a_block, i32 most_cells, u64* own) {
  SHARED_BYTES(buffer);
  u32* const low = reinterpret_cast<u32*>(buffer);
  u32* const high = low + most_cells;
  const i64 begin = i64(blockIdx.x) * rows_a_block;
  const i64 end = min(n_rows, begin + rows_a_block);
  if (begin >= end) return;
  const i32 first = labels[begin];
  const i64 cells = i64(labels[end - 1] - first + 1) * n_leaves;
  const bool shares = cells <= most_cells;
  if (shares) {
    for (i32 i = threadIdx.x; i < cells; i += blockDim.x) low[i] = high[i] = 0;
  }
  __syncthreads();
  u64* const all = own + i64(first) * n_leaves;
  for (i64 row = begin + threadIdx.x; row < end; row += blockDim.x) {
    i32 node = 0;
    for (int4 cut = cuts[0]; cut.z > 0; cut = cuts[node]) {
      node = cut.z + (i32(bins[row * stride + cut.x]) > cut.y);
    }
    const i32 q = leaf_of_node[node];
    leaf[row] = q;
    const double mass = static_cast<double>(masses[row]) * (scale * static_cast<double>(weights[row]));
    const u64 value = static_cast<u64>(__double2ll_rn(mass) * multiplicity[row]);
    const i64 cell = i64(labels[row] - first) * n_leaves + q;
    if (value == 0) continue;
    if (shares) {
      atomicAdd(low + cell, static_cast<u32>(value & LOW_MASK));
      if (value >> LOW_BITS) atomicAdd(high + cell, static_cast<u32>(value >> LOW_BITS));
    } else {
      atomicAdd(all + cell, value);
    }
  }
  if (!shares) return;
  __syncthreads();
  for (i32 i = threadIdx.x; i < cells; i += blockDim.x) {
    const u64 sum = low[i] + (u64(high[i]) << LOW_BITS);
    if (sum) atomicAdd(all + i, sum);
  }
}

// Sums the weights of a tile of classes by class and leaf. `shares`: the sums fit in shared memory.
extern "C" __global__ void sum_leaves(const float* e, const i32* leaf, const i32* labels,
                                      const float* pair_weights, const float* weights,
                                      const i32* multiplicity, float scale, i32 n_leaves,
                                      i64 n_rows, i32 k, i32 rows_a_block, i32 tile_classes, i32 shares, i32* against) {
  SHARED_BYTES(buffer);
  i32* const sums = reinterpret_cast<i32*>(buffer);
  const i64 begin = i64(blockIdx.x) * rows_a_block;
  const i64 end = min(n_rows, begin + rows_a_block);
  const i32 first = i32(blockIdx.y) * tile_classes;
  const i32 classes = min(tile_classes, k - first);
  i32* const all = against + i64(first) * n_leaves;
  const i64 cells = i64(classes) * n_leaves;
  if (shares) {
    for (i32 i = threadIdx.x; i < cells; i += blockDim.x) sums[i] = 0;
    __syncthreads();
  }
  for (i64 row = begin + threadIdx.x; row < end; row += blockDim.x) {
    const i32 q = leaf[row], copies = multiplicity[row];
    const float unit = scale * weights[row];
    if (unit == 0.0F) continue;
    const float* const e_row = e + i64(first) * n_rows + row;
    const float* const pairs = PAIRED ? pair_weights + i64(labels[row]) * k + first : nullptr;
#pragma unroll 4
    for (i32 c = 0; c < classes; ++c) {
      float u = weight_of(e_row[c * n_rows]);
      if (PAIRED) u *= pairs[c];
      const i32 value = rounded(u * unit) * copies;
      if (value == 0) continue;
      if (shares) {
        atomicAdd(sums + c * n_leaves + q, value);
      } else {
        atomicAdd(all + i64(c) * n_leaves + q, value);
      }
    }
  }
  if (!shares) return;
  __syncthreads();
  for (i32 i = threadIdx.x; i < cells; i += blockDim.x) {
    if (sums[i]) atomicAdd(all + i, sums[i]);
  }
}
