// Histograms of the direction: its sums by feature, bin and output, in whole numbers.
//
// A thread takes one lane of ROWS neighbouring rows and adds them to all features of a group, so that
// the direction is read once per group; the lanes of a row are neighbouring threads. The rows of a
// feature's commonest bin are left out: what they add up to is what the others lack of the total, and
// for features that are mostly one value hardly anything is left to add.
#include "common.cuh"
#include "bin_packs.cuh"

constexpr int BLOCK = 512;

struct Values {
  i32 of[ROWS];
  __device__ Values(const i32* g, i64 first_row, int lane) {
#pragma unroll
    for (int i = 0; i < ROWS; ++i) of[i] = __ldg(g + (first_row + i) * LANES + lane);
  }
};

template <class Bin>
__device__ inline void add_rows(i32* cells, int apart, const SomeBins<Bin>& bins, int common,
                                const Values& values) {
#pragma unroll
  for (int i = 0; i < ROWS; ++i) {
    const int bin = bins[i];
    if (bin != common) atomicAdd(cells + i64(bin) * apart, values.of[i]);
  }
}

// Block x is group x % n_groups of features [groups[q], groups[q + 1]), whose histograms fit in shared
// memory, for one share of the rows; block y is a tile. hist: (all bins + 1) x padded outputs; the last
// row gets the totals. `next` is made zero, for the histograms after.
template <class Bin>
__device__ inline void fill_shared(const i32* __restrict__ g, const Bin* __restrict__ bins,
                                   const i32* __restrict__ specs, const i32* __restrict__ groups,
                                   i64 n_packs, i64 stride, i32 n_groups, i32 n_features,
                                   i32 n_outputs, i32* hist, i32* next) {
  SHARED_BYTES(buffer);
  const int padded = gridDim.y * LANES;
  i32* const cells = reinterpret_cast<i32*>(buffer);
  const i64 n_bins = spec_of(specs, n_features).x;  // of all features
  const i64 n_blocks = i64(gridDim.x) * gridDim.y;
  for (i64 i = (i64(blockIdx.y) * gridDim.x + blockIdx.x) * BLOCK + threadIdx.x;
       i < (n_bins + 1) * padded; i += n_blocks * BLOCK) {
    next[i] = 0;
  }
  const int group = blockIdx.x % n_groups;
  const int first = groups[2 * group], last = groups[2 * group + 1];
  const i32 first_bin = spec_of(specs, first).x;
  const i32 n_cells = (spec_of(specs, last).x - first_bin) * LANES;
  i32* const totals = cells + n_cells;
  for (int i = threadIdx.x; i < n_cells + LANES; i += BLOCK) cells[i] = 0;
  __syncthreads();

  const int lane = threadIdx.x % LANES;
  const i32* const tile = g + i64(blockIdx.y) * stride * LANES;
  const Share share(n_packs, blockIdx.x / n_groups, gridDim.x / n_groups);
  // Lanes beyond the outputs have nothing to add.
  const i64 end = int(blockIdx.y) * LANES + lane < n_outputs ? share.end : 0;
  u32 total = 0;
  for (i64 pack = share.begin + threadIdx.x / LANES; pack < end; pack += BLOCK / LANES) {
    const Values values(tile, pack * ROWS, lane);
#pragma unroll
    for (int i = 0; i < ROWS; ++i) total += u32(values.of[i]);
    if (first == last) continue;
    SomeBins<Bin> here = load_bins(bins, first * stride + pack * ROWS);
    for (int f = first; f < last; ++f) {
      const int2 spec = spec_of(specs, f);
      const SomeBins<Bin> now = here;
      if (f + 1 < last) here = load_bins(bins, (f + 1) * stride + pack * ROWS);
      add_rows(cells + (spec.x - first_bin) * LANES + lane, LANES, now, spec.y, values);
    }
  }
  atomicAdd(totals + lane, i32(total));
  __syncthreads();

  i32* const to = hist + blockIdx.y * LANES;
  for (int i = threadIdx.x; i < n_cells; i += BLOCK) {
    if (cells[i]) atomicAdd(to + (first_bin + i64(i) / LANES) * padded + i % LANES, cells[i]);
  }
  if (group == 0 && threadIdx.x < LANES) {
    atomicAdd(to + n_bins * padded + threadIdx.x, totals[threadIdx.x]);
  }
}

// Features of too many bins for shared memory: block x is feature wide[x % n_wide].
template <class Bin>
__device__ inline void fill_global(const i32* __restrict__ g, const Bin* __restrict__ bins,
                                   const i32* __restrict__ specs, const i32* __restrict__ wide,
                                   i64 n_packs, i64 stride, i32 n_wide, i32 n_outputs, i32* hist) {
  const int padded = gridDim.y * LANES;
  const int feature = wide[blockIdx.x % n_wide];
  const int2 spec = spec_of(specs, feature);
  const int lane = threadIdx.x % LANES;
  const i32* const tile = g + i64(blockIdx.y) * stride * LANES;
  i32* const cells = hist + i64(spec.x) * padded + blockIdx.y * LANES + lane;
  if (int(blockIdx.y) * LANES + lane >= n_outputs) return;
  const Share share(n_packs, blockIdx.x / n_wide, gridDim.x / n_wide);
  for (i64 pack = share.begin + threadIdx.x / LANES; pack < share.end; pack += BLOCK / LANES) {
    const SomeBins<Bin> here = load_bins(bins, feature * stride + pack * ROWS);
    add_rows(cells, padded, here, spec.y, Values(tile, pack * ROWS, lane));
  }
}

#define PARAMETERS(Bin)                                                                        \
  const i32 *__restrict__ g, const Bin *__restrict__ bins, const i32 *__restrict__ specs,      \
      const i32 *__restrict__ features, i64 n_packs, i64 stride

extern "C" __global__ void __launch_bounds__(512, 2)
    fill_shared_1(PARAMETERS(u8), i32 n_groups, i32 n_features, i32 n_outputs, i32* hist,
                  i32* next) {
  fill_shared(g, bins, specs, features, n_packs, stride, n_groups, n_features, n_outputs, hist, next);
}
extern "C" __global__ void __launch_bounds__(512, 2)
    fill_shared_2(PARAMETERS(u16), i32 n_groups, i32 n_features, i32 n_outputs, i32* hist,
                  i32* next) {
  fill_shared(g, bins, specs, features, n_packs, stride, n_groups, n_features, n_outputs, hist, next);
}
extern "C" __global__ void __launch_bounds__(512, 2)
    fill_global_1(PARAMETERS(u8), i32 n_wide, i32 n_outputs, i32* hist) {
  fill_global(g, bins, specs, features, n_packs, stride, n_wide, n_outputs, hist);
}
extern "C" __global__ void __launch_bounds__(512, 2)
    fill_global_2(PARAMETERS(u16), i32 n_wide, i32 n_outputs, i32* hist) {
  fill_global(g, bins, specs, features, n_packs, stride, n_wide, n_outputs, hist);
}
