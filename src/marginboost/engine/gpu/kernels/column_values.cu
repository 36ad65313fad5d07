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

// Marks the first of the keys that are equal but for the lowest bits of their doubles' keys.
extern "C" __global__ void mark_values(const Key* sorted, i64 n_rows, const i32* shifts,
                                       const i64* ends, u8* marks) {
  const Key* const keys = sorted + i64(blockIdx.y) * n_rows;
  u8* const out = marks + i64(blockIdx.y) * n_rows;
  const i64 begin = ends[2 * blockIdx.y], end = ends[2 * blockIdx.y + 1];
  const i32 shift = shifts[blockIdx.y];
  for (i64 i = global_thread(); i < n_rows; i += global_threads()) {
    bool is_first = i >= begin && i < end;
    if (is_first && i > begin) {
      const Key key = keys[i], before = keys[i - 1];
      is_first = key != before && (shift == 0 || wide_key(key) >> shift != wide_key(before) >> shift);
    }
    out[i] = is_first;
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
