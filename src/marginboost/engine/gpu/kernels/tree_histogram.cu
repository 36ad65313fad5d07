// Histograms of a tree's open nodes: masses by node, feature, bin and label, in whole numbers.
//
// A slab is a range of nodes and a range of features; its histogram is nodes x bins x labels. As for
// stumps a thread adds a pack of rows to all features of a group, and rows of a feature's commonest bin
// are left out.
#include "common.cuh"
#include "bin_packs.cuh"

constexpr int BLOCK = 512;

// What is known of the rows of a pack: where their cells begin (-1: nowhere) and what they add.
struct Pack {
  i64 base[ROWS];
  u32 mass[ROWS];

  __device__ Pack(const i32* node, const i32* label, const i32* masses, i64 first_row, int first_node,
                  int n_nodes, i64 node_cells) {
#pragma unroll
    for (int i = 0; i < ROWS; ++i) {
      const int q = __ldg(node + first_row + i) - first_node;
      mass[i] = u32(__ldg(masses + first_row + i));
      const bool is = q >= 0 && q < n_nodes && mass[i];
      base[i] = is ? q * node_cells + __ldg(label + first_row + i) : -1;
    }
  }
};

template <class Bin, class Index>
__device__ inline void add_masses(u32* cells, int n_labels, const SomeBins<Bin>& bins, int common,
                                  const Pack& pack) {
#pragma unroll
  for (int i = 0; i < ROWS; ++i) {
    const int bin = bins[i];
    if (bin == common || pack.base[i] < 0) continue;
    atomicAdd(cells + Index(pack.base[i]) + Index(bin) * n_labels, pack.mass[i]);
  }
}

// Block x is group x % n_groups of features, for one share of the rows. The slab's histogram begins
// with the bins of feature `slab_feature` and has slab_bins of them per node.
template <class Bin>
__device__ inline void fill_shared(const i32* __restrict__ node, const i32* __restrict__ label,
                                   const i32* __restrict__ mass, const Bin* __restrict__ bins,
                                   const i32* __restrict__ specs, const i32* __restrict__ groups,
                                   i64 n_packs, i64 stride, i32 n_groups, i32 first_node, i32 n_nodes,
                                   i32 n_labels, i32 slab_feature, i32 slab_bins, u32* hist) {
  SHARED_BYTES(buffer);
  u32* const cells = reinterpret_cast<u32*>(buffer);
  const int group = blockIdx.x % n_groups;
  const int first = groups[2 * group], last = groups[2 * group + 1];
  const i32 first_bin = spec_of(specs, first).x;
  const i32 node_cells = (spec_of(specs, last).x - first_bin) * n_labels;
  for (int i = threadIdx.x; i < node_cells * n_nodes; i += BLOCK) cells[i] = 0;
  __syncthreads();

  const Share share(n_packs, blockIdx.x / n_groups, gridDim.x / n_groups);
  for (i64 at = share.begin + threadIdx.x; at < share.end; at += BLOCK) {
    const Pack pack(node, label, mass, at * ROWS, first_node, n_nodes, node_cells);
    SomeBins<Bin> here = load_bins(bins, first * stride + at * ROWS);
    for (int f = first; f < last; ++f) {
      const int2 spec = spec_of(specs, f);
      const SomeBins<Bin> now = here;
      if (f + 1 < last) here = load_bins(bins, (f + 1) * stride + at * ROWS);
      add_masses<Bin, i32>(cells + (spec.x - first_bin) * n_labels, n_labels, now, spec.y, pack);
    }
  }
  __syncthreads();

  const i64 offset = i64(first_bin - spec_of(specs, slab_feature).x) * n_labels;
  for (int i = threadIdx.x; i < node_cells * n_nodes; i += BLOCK) {
    if (!cells[i]) continue;
    atomicAdd(hist + i64(i / node_cells) * slab_bins * n_labels + offset + i % node_cells, cells[i]);
  }
}

// Features of too many cells for shared memory: block x is feature wide[x % n_wide].
template <class Bin>
__device__ inline void fill_global(const i32* __restrict__ node, const i32* __restrict__ label,
                                   const i32* __restrict__ mass, const Bin* __restrict__ bins,
                                   const i32* __restrict__ specs, const i32* __restrict__ wide,
                                   i64 n_packs, i64 stride, i32 n_wide, i32 first_node, i32 n_nodes,
                                   i32 n_labels, i32 slab_feature, i32 slab_bins, u32* hist) {
  const int feature = wide[blockIdx.x % n_wide];
  const int2 spec = spec_of(specs, feature);
  u32* const cells = hist + i64(spec.x - spec_of(specs, slab_feature).x) * n_labels;
  const Share share(n_packs, blockIdx.x / n_wide, gridDim.x / n_wide);
  for (i64 at = share.begin + threadIdx.x; at < share.end; at += BLOCK) {
    const SomeBins<Bin> here = load_bins(bins, feature * stride + at * ROWS);
    const Pack pack(node, label, mass, at * ROWS, first_node, n_nodes, i64(slab_bins) * n_labels);
    add_masses<Bin, i64>(cells, n_labels, here, spec.y, pack);
  }
}

#define PARAMETERS(Bin)                                                                           \
  const i32 *__restrict__ node, const i32 *__restrict__ label, const i32 *__restrict__ mass,      \
      const Bin *__restrict__ bins, const i32 *__restrict__ specs,                                \
      const i32 *__restrict__ features, i64 n_packs, i64 stride, i32 n_groups, i32 first_node,    \
      i32 n_nodes, i32 n_labels, i32 slab_feature, i32 slab_bins, u32 *hist
#define ARGUMENTS                                                                                 \
  node, label, mass, bins, specs, features, n_packs, stride, n_groups, first_node, n_nodes,       \
      n_labels, slab_feature, slab_bins, hist

extern "C" __global__ void __launch_bounds__(512, 2) fill_shared_1(PARAMETERS(u8)) {
  fill_shared(ARGUMENTS);
}
extern "C" __global__ void __launch_bounds__(512, 2) fill_shared_2(PARAMETERS(u16)) {
  fill_shared(ARGUMENTS);
}
extern "C" __global__ void __launch_bounds__(512, 2) fill_global_1(PARAMETERS(u8)) {
  fill_global(ARGUMENTS);
}
extern "C" __global__ void __launch_bounds__(512, 2) fill_global_2(PARAMETERS(u16)) {
  fill_global(ARGUMENTS);
}

// The masses of all nodes by label, and what their rows weigh (where `weighted`). `shared`: the sums
// are made in shared memory first, n_nodes of 8 bytes and then n_nodes x n_labels of 4.
extern "C" __global__ void __launch_bounds__(512)
    node_totals(const i32* __restrict__ node, const i32* __restrict__ label,
                const i32* __restrict__ mass, const i64* __restrict__ weight, i32 weighted,
                i64 n_rows, i32 n_nodes, i32 n_labels, i32 shared, u32* masses, i64* weights) {
  SHARED_BYTES(room);
  const i64 n_cells = i64(n_nodes) * n_labels;
  u64* const node_weights = shared ? reinterpret_cast<u64*>(room) : reinterpret_cast<u64*>(weights);
  u32* const cells = shared ? reinterpret_cast<u32*>(room + 8 * i64(n_nodes)) : masses;
  for (i64 i = threadIdx.x; shared && i < n_nodes; i += BLOCK) node_weights[i] = 0;
  for (i64 i = threadIdx.x; shared && i < n_cells; i += BLOCK) cells[i] = 0;
  __syncthreads();
  for (i64 row = global_thread(); row < n_rows; row += global_threads()) {
    const int q = node[row];
    if (q < 0) continue;
    if (mass[row]) atomicAdd(cells + i64(q) * n_labels + label[row], u32(mass[row]));
    if (weighted) atomicAdd(node_weights + q, u64(weight[row]));
  }
  __syncthreads();
  for (i64 i = threadIdx.x; shared && i < n_cells; i += BLOCK) {
    if (cells[i]) atomicAdd(masses + i, cells[i]);
  }
  for (i64 i = threadIdx.x; shared && weighted && i < n_nodes; i += BLOCK) {
    if (node_weights[i]) atomicAdd(reinterpret_cast<u64*>(weights) + i, node_weights[i]);
  }
}

// The weights of the rows of a slab by node and bin; block x is a feature, y a share of the rows.
extern "C" __global__ void __launch_bounds__(512)
    fill_weights(const i32* __restrict__ node, const i64* __restrict__ weight,
                 const u8* __restrict__ bins, i32 width, const i32* __restrict__ specs, i64 n_rows,
                 i64 stride, i32 first_node, i32 n_nodes, i32 slab_feature, i32 slab_bins, u64* hist) {
  const int feature = slab_feature + blockIdx.x;
  const int2 spec = spec_of(specs, feature);
  const i64 offset = spec.x - spec_of(specs, slab_feature).x;
  for (i64 row = i64(blockIdx.y) * BLOCK + threadIdx.x; row < n_rows; row += i64(gridDim.y) * BLOCK) {
    const int q = node[row] - first_node;
    if (q < 0 || q >= n_nodes) continue;
    const int bin = bin_at(bins, width, feature * stride + row);
    if (bin != spec.y) atomicAdd(hist + i64(q) * slab_bins + offset + bin, u64(weight[row]));
  }
}
