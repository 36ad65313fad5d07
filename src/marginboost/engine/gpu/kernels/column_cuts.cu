// Cuts: where the bins of columns end, from how often each of their values occurs. The rules are those of
// `balanced_cuts` in native/include/marginboost/binning/cuts.hpp; a block has a column.
#include "common.cuh"

constexpr int WARPS = 8;

// The table of a column: rows before each value, and in all.
struct Table {
  const i64* counts;
  i64 n_values, total;

  __device__ i64 before(i64 value) const { return value < n_values ? counts[value] : total; }
};

// The first of [low, high) that fulfils a condition which, once fulfilled, stays so; `high` if none does.
// A warp asks for 32 of them at a time.
template <class Condition>
__device__ inline i64 first_that(i64 low, i64 high, const Condition& condition) {
  const i64 lane = threadIdx.x % WARP;
  while (low < high) {
    const i64 step = (high - low + WARP - 1) / WARP;
    const i64 at = low + lane * step + step - 1;
    const unsigned votes = __ballot_sync(FULL_WARP, at >= high || condition(at));
    if (votes == 0) return high;
    low += (__ffs(static_cast<i32>(votes)) - 1) * step;
    high = min(high, low + step - 1);
  }
  return low;
}

// The end of the fullest bin that begins at a value: at most `capacity` rows, or one value.
__device__ inline i64 bin_end(const Table& table, i64 first, i64 capacity) {
  const i64 limit = table.before(first) + capacity;
  const i64 most = min(table.n_values + 1, first + capacity + 1);  // every value has a row
  const i64 over = first_that(first + 1, most, [&](i64 v) { return table.before(v) > limit; });
  return max(first + 1, over - 1);
}

// The beginning of the fullest bin that ends before a value.
__device__ inline i64 bin_begin(const Table& table, i64 last, i64 capacity) {
  const i64 limit = table.before(last) - capacity;
  const i64 fits = first_that(max(i64(0), last - capacity), last,
                              [&](i64 v) { return table.before(v) >= limit; });
  return min(last - 1, fits);
}

__device__ inline bool fits_into(const Table& table, i64 capacity, i32 max_bins) {
  i64 end = 0;
  for (i32 bin = 0; bin < max_bins && end < table.n_values; ++bin) end = bin_end(table, end, capacity);
  return end == table.n_values;
}

// The smallest capacity with which the values fit into the bins; each warp tries one.
__device__ inline i64 smallest_capacity(const Table& table, i32 max_bins) {
  __shared__ i32 fits[WARPS];
  const i32 warp = threadIdx.x / WARP;
  i64 high = max_bins > 1 ? min(table.total, 2 * table.total / (max_bins - 1) + 1) : table.total;
  i64 low = 1;
  while (low < high) {
    const i64 step = (high - low + WARPS - 1) / WARPS;
    const i64 mine = low + warp * step + step - 1;
    const bool mine_fits = mine >= high || fits_into(table, mine, max_bins);
    __syncthreads();  // the last answers have been read
    if (threadIdx.x % WARP == 0) fits[warp] = mine_fits;
    __syncthreads();
    i32 found = 0;
    while (found < WARPS && !fits[found]) ++found;
    if (found == WARPS) return high;
    low += found * step;
    high = min(high, low + step - 1);
  }
  return low;
}

__device__ inline i64 magnitude(i64 value) { return value < 0 ? -value : value; }

// Writes the first value of every bin but the first one, and which value is the lower median.
//
// specs: for each column its first value among those of all columns, their number, the rows in all, the
// most bins, and the first of its cuts. earliest: room for as many numbers as there are cuts.
extern "C" __global__ void __launch_bounds__(256)
    cut_columns(const i64* counts, const i64* specs, i64* earliest, i64* cuts, i64* medians) {
  __shared__ i64 heavy_values, heavy_rows;
  const i64* const spec = specs + 5 * i64(blockIdx.x);
  const Table table = {counts + spec[0], spec[1], spec[2]};
  const i32 max_bins = static_cast<i32>(spec[3]);
  const i64 n_values = table.n_values;
  cuts += spec[4];
  earliest += spec[4];  // of one bin from its first value on
  if (n_values == 0) return;
  const i32 warp = threadIdx.x / WARP, lane = threadIdx.x % WARP;
  if (warp == 0) {
    const i64 middle = (table.total - 1) / 2;
    const i64 after = first_that(0, n_values, [&](i64 v) { return table.before(v) > middle; });
    if (lane == 0) medians[blockIdx.x] = after - 1;
  }
  if (n_values <= max_bins) {
    for (i64 v = 1 + i64(threadIdx.x); v < n_values; v += blockDim.x) cuts[v - 1] = v;
    return;
  }
  const i64 capacity = smallest_capacity(table, max_bins);
  // Values above the capacity stand alone: they and their bins have no part in the equal shares.
  i64 values = 0, rows = 0;
  for (i64 v = threadIdx.x; v < n_values; v += blockDim.x) {
    const i64 count = table.before(v + 1) - table.before(v);
    if (count > capacity) ++values, rows += count;
  }
  values = block_sum(values);
  rows = block_sum(rows);
  if (threadIdx.x == 0) heavy_values = values, heavy_rows = rows;
  __syncthreads();
  if (warp > 0) return;
  i64 heavy_left = heavy_values, light_rows_left = table.total - heavy_rows;
  // earliest[b - 1]: the first value from which b bins reach to the end.
  i64 from = n_values;
  for (i32 b = 1; b < max_bins; ++b) {
    from = from > 0 ? bin_begin(table, from, capacity) : 0;
    if (lane == 0) earliest[b - 1] = from;
  }
  __syncwarp();
  i64 begin = 0;
  for (i32 bins_after = max_bins - 1; bins_after > 0; --bins_after) {
    // What comes after the cut must fit into the bins after it, and must fill them.
    const i64 low = max(begin + 1, earliest[bins_after - 1]);
    const i64 latest = min(bin_end(table, begin, capacity), n_values - bins_after);
    const i64 light_bins_left = bins_after + 1 - heavy_left;
    const i64 before = table.before(begin);
    const auto beyond_share = [&](i64 cut) {
      return (table.before(cut) - before) * light_bins_left - light_rows_left;
    };
    i64 cut = latest;
    if (low < latest) cut = first_that(low, latest, [&](i64 v) { return beyond_share(v) >= 0; });
    if (cut > low && magnitude(beyond_share(cut - 1)) <= magnitude(beyond_share(cut))) --cut;
    // A bin holds one value above the capacity, or none.
    const i64 count = table.before(cut) - before;
    if (count > capacity) {
      --heavy_left;
    } else {
      light_rows_left -= count;
    }
    if (lane == 0) cuts[max_bins - 1 - bins_after] = cut;
    begin = cut;
  }
}
