// The values of columns: where some are missing, their keys, tables of them, and their bins.
#include "common.cuh"
#include "column_keys.cuh"

// Rows of a tile, which are also the threads of a block, and columns of a tile.
constexpr int TILE = 256;
constexpr int COLUMNS = 8;

// Marks the columns in which a row that counts has no value. X is an array of `outer` times `inner`
// values; its rows lie along the outer axis if `by_row`.
extern "C" __global__ void find_missing(const Value* x, i64 outer, i64 inner, i32 by_row,
                                        const double* weights, i32 has_weights, i32* missing) {
  for (i64 i = global_thread(); i < outer * inner; i += global_threads()) {
    if (x[i] == x[i]) continue;
    const i64 first = i / inner, second = i - first * inner;
    const i64 row = by_row ? first : second, column = by_row ? second : first;
    if (!has_weights || weights[row] > 0.0) atomicOr(missing + column, 1);
  }
}

// What is read: row i is `order[i]`, or i itself; column c is `source[c]`, with `fill[c]` for NaN.
struct Selection {
  const Value* x;
  i64 row_stride, column_stride;
  const i64* order;
  const i32* source;
  const double* fill;
};

// Loads some rows and columns, by whichever of the two lies side by side.
__device__ inline void load_tile(Value* tile, const Selection& from, i64 first, i32 rows, i32 column,
                                 i32 columns) {
  const bool by_row = from.column_stride == 1;
  __syncthreads();  // the tile before has been read
  for (i32 i = threadIdx.x; i < TILE * columns; i += TILE) {
    const i32 r = by_row ? i / columns : i % TILE, c = by_row ? i % columns : i / TILE;
    if (r >= rows) continue;
    const i64 row = from.order ? from.order[first + r] : first + r;
    Value value = from.x[row * from.row_stride + from.source[column + c] * from.column_stride];
    if (value != value) value = static_cast<Value>(from.fill[column + c]);
    tile[r * (COLUMNS + 1) + c] = value;
  }
  __syncthreads();
}

__device__ inline i32 smaller(i64 a, i64 b) { return static_cast<i32>(a < b ? a : b); }

// Writes the keys of some columns, one column after the other. PACKED: below the number of the column.
template <class Out, bool PACKED>
__device__ inline void write_keys(const Selection& from, i64 n_rows, i32 first_column, i32 n_columns,
                                  Out* out) {
  __shared__ Value tile[TILE * (COLUMNS + 1)];
  const i64 first = i64(blockIdx.x) * TILE;
  const i32 rows = smaller(TILE, n_rows - first);
  const i32 begin = i32(blockIdx.y) * COLUMNS;
  const i32 columns = smaller(COLUMNS, n_columns - begin);
  load_tile(tile, from, first, rows, first_column + begin, columns);
  if (i32(threadIdx.x) >= rows) return;
  for (i32 c = 0; c < columns; ++c) {
    const Out key = key_of(tile[threadIdx.x * (COLUMNS + 1) + c]);
    const i64 number = begin + c;
    out[number * n_rows + first + threadIdx.x] = PACKED ? key | static_cast<Out>(u64(number) << 32) : key;
  }
}

extern "C" __global__ void load_keys(const Value* x, i64 row_stride, i64 column_stride,
                                     const i64* order, i32 has_order, const i32* source,
                                     const double* fill, i64 n_rows, i32 first_column, i32 n_columns,
                                     Key* out) {
  const Selection from = {x, row_stride, column_stride, has_order ? order : nullptr, source, fill};
  write_keys<Key, false>(from, n_rows, first_column, n_columns, out);
}

extern "C" __global__ void load_packed_keys(const Value* x, i64 row_stride, i64 column_stride,
                                            const i64* order, i32 has_order, const i32* source,
                                            const double* fill, i64 n_rows, i32 first_column,
                                            i32 n_columns, u64* out) {
  const Selection from = {x, row_stride, column_stride, has_order ? order : nullptr, source, fill};
  write_keys<u64, true>(from, n_rows, first_column, n_columns, out);
}

// Counts neighbours of the sorted keys by the highest bit in which they differ, as doubles, and finds
// where the finite numbers begin and end. A row of the grid for each column.
extern "C" __global__ void survey_keys(const Key* sorted, i64 n_rows, u64* differing, i64* ends) {
  __shared__ u32 counts[65];
  for (i32 i = threadIdx.x; i < 65; i += blockDim.x) counts[i] = 0;
  __syncthreads();
  const Key* const keys = sorted + i64(blockIdx.y) * n_rows;
  i64* const begin_and_end = ends + 2 * i64(blockIdx.y);
  for (i64 i = global_thread(); i < n_rows; i += global_threads()) {
    const Key key = keys[i], before = keys[i > 0 ? i - 1 : 0];
    if (!is_lowest(key) && (i == 0 || is_lowest(before))) begin_and_end[0] = i;
    if (is_highest(key) && (i == 0 || !is_highest(before))) begin_and_end[1] = i;
    if (key == before || is_highest(key) || is_lowest(before)) continue;
    atomicAdd(counts + 64 - __clzll(static_cast<i64>(wide_key(key) ^ wide_key(before))), 1u);
  }
  __syncthreads();
  for (i32 i = threadIdx.x; i < 65; i += blockDim.x) {
    if (counts[i]) atomicAdd(differing + 65 * i64(blockIdx.y) + i, static_cast<u64>(counts[i]));
  }
}

// Whether a key is the first of those that are equal but for the lowest bits of their doubles' keys.
__device__ inline bool is_value(const Key* keys, i64 i, i64 begin, i64 end, i32 shift) {
  if (i < begin || i >= end) return false;
  if (i == begin) return true;
  const Key key = keys[i], before = keys[i - 1];
  return key != before && (shift == 0 || wide_key(key) >> shift != wide_key(before) >> shift);
}

constexpr int STRETCH = 8 * TILE;  // keys of a block

// Counts the values of each stretch of a column. A row of the grid for each column.
extern "C" __global__ void count_values(const Key* sorted, i64 n_rows, const i32* shifts,
                                        const i64* ends, i64* counts) {
  const Key* const keys = sorted + i64(blockIdx.y) * n_rows;
  const i64 begin = ends[2 * blockIdx.y], end = ends[2 * blockIdx.y + 1];
  const i64 first = i64(blockIdx.x) * STRETCH;
  i32 count = 0;
  for (i64 i = first + threadIdx.x; i < first + STRETCH && i < n_rows; i += TILE) {
    count += is_value(keys, i, begin, end, shifts[blockIdx.y]);
  }
  count = block_sum(count);
  if (threadIdx.x == 0) counts[i64(blockIdx.y) * gridDim.x + blockIdx.x] = count;
}

// Writes the values, and how many of the column's rows come before each. `firsts`: where those of each
// stretch go. `counted`: how many rows come before each key of all columns, if rows count.
extern "C" __global__ void write_values(const Key* sorted, i64 n_rows, const i32* shifts,
                                        const i64* ends, const i64* firsts, const i64* counted,
                                        i32 has_counted, Key* values, i64* before) {
  __shared__ i32 of_warp[TILE / WARP];
  const i64 base = i64(blockIdx.y) * n_rows;
  const Key* const keys = sorted + base;
  const i64 begin = ends[2 * blockIdx.y], end = ends[2 * blockIdx.y + 1];
  const i64 first = i64(blockIdx.x) * STRETCH;
  const i32 warp = threadIdx.x / WARP, lane = threadIdx.x % WARP;
  i64 to = firsts[i64(blockIdx.y) * gridDim.x + blockIdx.x];
  for (i64 from = first; from < first + STRETCH && from < n_rows; from += TILE) {
    const i64 i = from + threadIdx.x;
    const bool is_one = i < n_rows && is_value(keys, i, begin, end, shifts[blockIdx.y]);
    const unsigned votes = __ballot_sync(FULL_WARP, is_one);
    if (lane == 0) of_warp[warp] = __popc(votes);
    __syncthreads();
    i32 place = __popc(votes & ((1u << lane) - 1)), all = 0;
    for (i32 w = 0; w < TILE / WARP; ++w) {
      if (w < warp) place += of_warp[w];
      all += of_warp[w];
    }
    if (is_one) {
      values[to + place] = keys[i];
      before[to + place] = has_counted ? counted[base + i] - counted[base + begin] : i - begin;
    }
    to += all;
    __syncthreads();  // the counts have been read
  }
}

// The keys on both sides of each cut, then the smallest of each column and its median. `specs` as in
// column_cuts.cu; a block has a column.
extern "C" __global__ void keys_of_cuts(const Key* keys, i64 n_keys, const i64* specs, i32 n_columns,
                                        const i64* cuts, i64 n_cuts, const i64* medians, Key* out) {
  const i64 column = blockIdx.x;
  const i64 first_key = specs[5 * column], first_cut = specs[5 * column + 4];
  const i64 end = column + 1 < n_columns ? specs[5 * column + 9] : n_cuts;
  for (i64 i = first_cut + threadIdx.x; i < end; i += blockDim.x) {
    out[i] = keys[first_key + cuts[i] - 1];
    out[n_cuts + i] = keys[first_key + cuts[i]];
  }
  if (threadIdx.x == 0) {
    const bool any = first_key < n_keys;
    out[2 * n_cuts + column] = any ? keys[first_key] : 0;
    out[2 * n_cuts + n_columns + column] = any ? keys[first_key + medians[column]] : 0;
  }
}

// The number of thresholds below x.
__device__ inline i32 bin_of(const double* thresholds, i32 n, double x) {
  i32 below = 0;
  while (n > 0) {
    const i32 half = (n + 1) / 2;
    if (thresholds[below + half - 1] < x) below += half;
    n -= half;
  }
  return below;
}

// Bins all columns. `most_shared`: thresholds that a block's shared memory holds; where those of a
// block's columns are more, they are read where they are.
template <class Bin>
__device__ inline void write_bins(const Selection& from, i64 n_rows, i32 n_columns,
                                  const double* thresholds, const i64* offsets, i32 most_shared,
                                  Bin* out) {
  SHARED_BYTES(buffer);
  double* const held = reinterpret_cast<double*>(buffer);
  __shared__ Value tile[TILE * (COLUMNS + 1)];
  const i32 begin = i32(blockIdx.y) * COLUMNS;
  const i32 columns = smaller(COLUMNS, n_columns - begin);
  const i64 first_threshold = offsets[begin];
  const i64 count = offsets[begin + columns] - first_threshold;
  const double* here = thresholds + first_threshold;
  if (count <= most_shared) {
    for (i32 i = threadIdx.x; i < count; i += TILE) held[i] = here[i];
    here = held;
  }
  for (i64 first = i64(blockIdx.x) * TILE; first < n_rows; first += i64(gridDim.x) * TILE) {
    const i32 rows = smaller(TILE, n_rows - first);
    load_tile(tile, from, first, rows, begin, columns);
    if (i32(threadIdx.x) >= rows) continue;
    for (i32 c = 0; c < columns; ++c) {
      const i64 at = offsets[begin + c];
      const i32 n = static_cast<i32>(offsets[begin + c + 1] - at);
      const double value = static_cast<double>(tile[threadIdx.x * (COLUMNS + 1) + c]);
      out[i64(begin + c) * n_rows + first + threadIdx.x] =
          static_cast<Bin>(bin_of(here + (at - first_threshold), n, value));
    }
  }
}

extern "C" __global__ void bin_rows_1(const Value* x, i64 row_stride, i64 column_stride,
                                      const i64* order, i32 has_order, const i32* source,
                                      const double* fill, i64 n_rows, i32 n_columns,
                                      const double* thresholds, const i64* offsets, i32 most_shared,
                                      u8* out) {
  const Selection from = {x, row_stride, column_stride, has_order ? order : nullptr, source, fill};
  write_bins(from, n_rows, n_columns, thresholds, offsets, most_shared, out);
}

extern "C" __global__ void bin_rows_2(const Value* x, i64 row_stride, i64 column_stride,
                                      const i64* order, i32 has_order, const i32* source,
                                      const double* fill, i64 n_rows, i32 n_columns,
                                      const double* thresholds, const i64* offsets, i32 most_shared,
                                      u16* out) {
  const Selection from = {x, row_stride, column_stride, has_order ? order : nullptr, source, fill};
  write_bins(from, n_rows, n_columns, thresholds, offsets, most_shared, out);
}
