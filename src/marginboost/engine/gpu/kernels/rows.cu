// What is done row by row: moving the exponentials, forming the direction, summing the weights.
//
// e is kept output after output, so that neighbouring threads, a row each, read neighbouring numbers;
// the direction g in tiles of LANES outputs, row after row, as a search reads it. Both have `stride`
// rows per output or tile, the last of them empty. Every operation on a double is the reference's.
#include "common.cuh"

constexpr double SMALLEST_EXPONENTIAL = 0x1p-960;
constexpr double LARGEST_EXPONENTIAL = 0x1p+500;
constexpr int BLOCK = 256;
constexpr int ROWS_A_THREAD = 4;  // of a chunk that is summed: more would cost blocks their registers

enum Loss { EXPONENTIAL = 0, LOGISTIC = 1, SOFTMAX = 2 };
enum Flag {
  LOSS_BITS = 3,
  MOVES = 4,      // factors are given
  TABLE = 8,      // as table[side, class, output], not as up and down
  WEIGHTED = 16,  // rows have weights
  COPIED = 32,    // rows count several times
  CODED = 64,     // the direction is the weights times a code
  CURVED = 128,   // u (1 - u) is summed too
};

// A row's side is 1 or 0 by an array, or by its bin: above `bin` on side `above`.
struct Sides {
  const u8* values;
  int width;  // bytes a bin; 0: `values` are the sides
  int bin;
  int above;

  __device__ int of(i64 row) const {
    if (width == 0) return values[row];
    return bin_at(values, width, row) > bin ? above : 1 - above;
  }
};

// What a row's e are multiplied by.
struct Factors {
  const double* values;
  int n_classes, n_outputs, flags;

  __device__ double of(int side, int label, int output) const {
    if (flags & TABLE) return __ldg(values + (i64(side) * n_classes + label) * n_outputs + output);
    if (output == label) return 1.0;
    return __ldg(values + side * n_outputs + output) * __ldg(values + (2 + side) * n_outputs + label);
  }
};

__device__ inline double clamped(double e) {
  return fmin(fmax(e, SMALLEST_EXPONENTIAL), LARGEST_EXPONENTIAL);
}

// `whole` is 1 and the sum of the row's e, for the softmax.
__device__ inline double weight_of(int loss, double e, double whole) {
  if (loss == EXPONENTIAL) return e;
  return e / (loss == LOGISTIC ? 1.0 + e : whole);
}

// Eight partial sums, output c in the (c mod 8)th: the order that every engine keeps to.
struct RowSum {
  double part[8] = {0, 0, 0, 0, 0, 0, 0, 0};

  __device__ double whole() const {
    const double even = (part[0] + part[4]) + (part[2] + part[6]);
    const double odd = (part[1] + part[5]) + (part[3] + part[7]);
    return 1.0 + (even + odd);
  }
};

// 1 and the sum of a row's e after the factors; the moved e are kept where `keep`.
__device__ inline double moved_sum(double* e, i64 row, i64 stride, const Factors& factors, int side,
                                   int label, bool keep) {
  RowSum sum;
  for (int first = 0; first < factors.n_outputs; first += 8) {
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      const int output = first + j;
      if (output >= factors.n_outputs) continue;
      double value = e[output * stride + row];
      if (factors.flags & MOVES) value = clamped(value * factors.of(side, label, output));
      if (keep) e[output * stride + row] = value;
      sum.part[j] += value;
    }
  }
  return sum.whole();
}

__device__ inline void store_lanes(i32* to, const i32 (&lanes)[LANES]) {
  if constexpr (LANES % 4 == 0) {
#pragma unroll
    for (int j = 0; j < LANES; j += 4) {
      *reinterpret_cast<int4*>(to + j) = make_int4(lanes[j], lanes[j + 1], lanes[j + 2], lanes[j + 3]);
    }
  } else {
#pragma unroll
    for (int j = 0; j < LANES; ++j) to[j] = lanes[j];
  }
}

struct Row {
  i64 number;
  int side, label, copies;
  double unit, whole;
};

// Moves one tile of a row and forms its direction; true where some e is at least 1.
template <int loss>
__device__ inline bool advance_tile(double* e, i32* g, i64 stride, const Row& row, int first,
                                    const Factors& factors, const i8* code, u32& own) {
  double value[LANES];
  i32 lanes[LANES];
#pragma unroll
  for (int j = 0; j < LANES; ++j) {
    const bool is = first + j < factors.n_outputs;
    value[j] = is ? e[(first + j) * stride + row.number] : 0.0;
  }
  bool wrong = false;
#pragma unroll
  for (int j = 0; j < LANES; ++j) {
    lanes[j] = 0;
    const int output = first + j;
    if (output >= factors.n_outputs) continue;
    if (loss != SOFTMAX) {
      value[j] = clamped(value[j] * factors.of(row.side, row.label, output));
      e[output * stride + row.number] = value[j];
    }
    wrong |= value[j] >= 1.0;
    const i32 u = __double2int_rn(weight_of(loss, value[j], row.whole) * row.unit) * row.copies;
    own += u32(u);
    lanes[j] = factors.flags & CODED ? u * __ldg(code + i64(row.label) * factors.n_outputs + output) : -u;
  }
  if (!(factors.flags & CODED) && factors.n_outputs <= LANES) {
#pragma unroll
    for (int j = 0; j < LANES; ++j) lanes[j] = j == row.label ? i32(own) : lanes[j];
  }
  store_lanes(g + (first / LANES * stride + row.number) * LANES, lanes);
  return wrong;
}

template <int loss>
__device__ inline bool advance_row(double* e, i32* g, i64 stride, Row& row, const Factors& factors,
                                   const i8* code) {
  if (loss == SOFTMAX) row.whole = moved_sum(e, row.number, stride, factors, row.side, row.label, true);
  bool wrong = false;
  u32 own = 0;  // wraps; where it is of use it fits
  for (int first = 0; first < factors.n_outputs; first += LANES) {
    wrong |= advance_tile<loss>(e, g, stride, row, first, factors, code, own);
  }
  if (!(factors.flags & CODED) && factors.n_outputs > LANES) {
    // The own class's tile was written before the sum of all was known.
    const int tile = row.label / LANES;
    g[(tile * stride + row.number) * LANES + row.label % LANES] = i32(own);
  }
  return wrong;
}

// wrong[0] += rows with some e >= 1, with their copies; next[0] = 0, for the advance after.
extern "C" __global__ void __launch_bounds__(256, LANES > 8 ? 2 : 3)
    advance(double* __restrict__ e, i32* __restrict__ g, const i32* __restrict__ label,
            const double* __restrict__ weight, const i32* __restrict__ copies,
            const i8* __restrict__ code, i64 n_rows, i64 stride, i32 n_classes, i32 n_outputs,
            i32 flags, const double* __restrict__ factors, double scale,
            const u8* __restrict__ sides, i64 sides_at, i32 width, i32 bin, i32 above, i64* wrong,
            i64* next) {
  const i64 number = global_thread();
  if (number == 0) next[0] = 0;
  int count = 0;
  if (number < n_rows) {
    const Factors by{factors, n_classes, n_outputs, flags | MOVES};
    const Sides side{sides + sides_at, width, bin, above};
    Row row{number, side.of(number), label[number], 1, scale, 0.0};
    if (flags & WEIGHTED) row.unit = weight[number] * scale;
    if (flags & COPIED) row.copies = copies[number];
    bool is_wrong;
    switch (flags & LOSS_BITS) {
      case EXPONENTIAL: is_wrong = advance_row<EXPONENTIAL>(e, g, stride, row, by, code); break;
      case LOGISTIC: is_wrong = advance_row<LOGISTIC>(e, g, stride, row, by, code); break;
      default: is_wrong = advance_row<SOFTMAX>(e, g, stride, row, by, code);
    }
    count = is_wrong ? row.copies : 0;
  }
  const int all = block_sum(count);
  if (threadIdx.x == 0 && all) atomic_add(wrong, i64(all));
}

// 1 and the sum of each row's e, after the factors if there are any.
extern "C" __global__ void __launch_bounds__(256)
    row_sums(double* __restrict__ e, const i32* __restrict__ label, i64 n_rows, i64 stride,
             i32 n_classes, i32 n_outputs, i32 flags, const double* __restrict__ factors,
             const u8* __restrict__ sides, i64 sides_at, i32 width, i32 bin, i32 above,
             double* __restrict__ whole) {
  const i64 row = global_thread();
  if (row >= n_rows) return;
  const Factors by{factors, n_classes, n_outputs, flags};
  const Sides side{sides + sides_at, width, bin, above};
  whole[row] = moved_sum(e, row, stride, by, side.of(row), label[row], false);
}

// Sums of a block's rows: of u on side 0 and on side 1, then (N = 4) of u (1 - u) likewise.
template <int N>
struct Sums {
  i64 of[N] = {};

  __device__ void add(int first, double value, i64 copies, int side) {
    const i64 rounded = __double2ll_rn(value) * copies;
    of[first] += side ? 0 : rounded;
    of[first + 1] += side ? rounded : 0;
  }
  // Adds them to out[0], out[sides_apart], out[2 * sides_apart]...
  __device__ void flush(i64* out, i64 sides_apart) const {
    __shared__ i64 parts[N][BLOCK / WARP];
#pragma unroll
    for (int n = 0; n < N; ++n) {
      const i64 sum = warp_sum(of[n]);
      if (threadIdx.x % WARP == 0) parts[n][threadIdx.x / WARP] = sum;
    }
    __syncthreads();
    if (threadIdx.x >= N) return;
    i64 sum = 0;
    for (int w = 0; w < BLOCK / WARP; ++w) sum += parts[threadIdx.x][w];
    if (sum) atomic_add(out + threadIdx.x * sides_apart, sum);
  }
};

// What the rows of a chunk, all of one class, are summed by.
struct Chunk {
  const double* e;  // of the output
  const double* weight;
  const i32* copies;
  const double* whole;
  i64 begin, end;
  int label, output;
  double scale;
};

template <int N>
__device__ inline void sum_chunk(const Chunk& chunk, const Factors& by, const Sides& side, i64* out) {
  const int flags = by.flags, loss = flags & LOSS_BITS;
  if (chunk.begin == chunk.end) return;  // for the whole block
  Sums<N> sums;
  double value[ROWS_A_THREAD];
  int s[ROWS_A_THREAD];
  // All loads before their first use. A row beyond the last is that one again, with e = 0: no weight.
#pragma unroll
  for (int i = 0; i < ROWS_A_THREAD; ++i) {
    const i64 row = chunk.begin + i * BLOCK + threadIdx.x, at = min(row, chunk.end - 1);
    value[i] = row < chunk.end ? __ldg(chunk.e + at) : 0.0;
    s[i] = side.of(at);
  }
#pragma unroll
  for (int i = 0; i < ROWS_A_THREAD; ++i) {
    const i64 at = min(chunk.begin + i * BLOCK + threadIdx.x, chunk.end - 1);
    if (flags & MOVES) value[i] = clamped(value[i] * by.of(s[i], chunk.label, chunk.output));
    const double u = weight_of(loss, value[i], loss == SOFTMAX ? chunk.whole[at] : 0.0);
    const double unit = flags & WEIGHTED ? chunk.weight[at] * chunk.scale : chunk.scale;
    const i64 times = flags & COPIED ? chunk.copies[at] : 1;
    sums.add(0, u * unit, times, s[i]);
    if (N == 4) sums.add(N - 2, u * (1.0 - u) * unit, times, s[i]);
  }
  sums.flush(out + i64(chunk.label) * by.n_outputs + chunk.output, i64(by.n_classes) * by.n_outputs);
}

// A block sums one chunk and one output. out: (1 or 2) x sides x classes x outputs; next is made zero,
// for the sums after.
extern "C" __global__ void __launch_bounds__(256, 6)
    sums(const double* __restrict__ e, const double* __restrict__ weight,
         const i32* __restrict__ copies, const double* __restrict__ whole,
         const i64* __restrict__ chunk_begin, const i32* __restrict__ chunk_label, i64 stride,
         i32 n_classes, i32 n_outputs, i32 flags, const double* __restrict__ factors, double scale,
         const u8* __restrict__ sides, i64 sides_at, i32 width, i32 bin, i32 above, i64* out,
         i64* next) {
  const i64 cells = 4 * i64(n_classes) * n_outputs;
  const i64 n_blocks = i64(gridDim.x) * gridDim.y;
  for (i64 i = (i64(blockIdx.y) * gridDim.x + blockIdx.x) * BLOCK + threadIdx.x; i < cells;
       i += n_blocks * BLOCK) {
    next[i] = 0;
  }
  const int output = blockIdx.y;
  const Chunk chunk{e + output * stride,
                    weight,
                    copies,
                    whole,
                    chunk_begin[blockIdx.x],
                    chunk_begin[blockIdx.x + 1],
                    chunk_label[blockIdx.x],
                    output,
                    scale};
  const Factors by{factors, n_classes, n_outputs, flags};
  const Sides side{sides + sides_at, width, bin, above};
  if (flags & CURVED) {
    sum_chunk<4>(chunk, by, side, out);
  } else {
    sum_chunk<2>(chunk, by, side, out);
  }
}

// out[output] += sum of g * h, h = +1 on side 1; next is made zero.
extern "C" __global__ void __launch_bounds__(256)
    edges(const i32* __restrict__ g, i64 n_rows, i64 stride, i32 n_outputs,
          const u8* __restrict__ sides, i64 sides_at, i32 width, i32 bin, i32 above, i64* out,
          i64* next) {
  __shared__ u64 sums[LANES];
  if (blockIdx.x == 0 && blockIdx.y == 0) {
    for (int c = threadIdx.x; c < n_outputs; c += BLOCK) next[c] = 0;
  }
  if (threadIdx.x < LANES) sums[threadIdx.x] = 0;
  __syncthreads();
  const Sides side{sides + sides_at, width, bin, above};
  const int lane = threadIdx.x % LANES;
  i64 sum = 0;
  for (i64 row = global_thread() / LANES; row < n_rows; row += global_threads() / LANES) {
    const i64 value = g[(blockIdx.y * stride + row) * LANES + lane];
    sum += side.of(row) ? value : -value;
  }
  atomicAdd(&sums[lane], u64(sum));
  __syncthreads();
  const int output = blockIdx.y * LANES + threadIdx.x;
  if (threadIdx.x < LANES && output < n_outputs) atomic_add(out + output, i64(sums[threadIdx.x]));
}

// projected[row] = sum of the row's outputs times their signs.
extern "C" __global__ void __launch_bounds__(256)
    project(const i32* __restrict__ g, i64 n_rows, i64 stride, i32 n_outputs,
            const i8* __restrict__ signs, i32* __restrict__ projected) {
  const i64 row = global_thread();
  if (row >= n_rows) return;
  u32 sum = 0;  // wraps; what comes out fits
  for (int c = 0; c < n_outputs; ++c) {
    sum += u32(g[(c / LANES * stride + row) * LANES + c % LANES]) * u32(i32(signs[c]));
  }
  projected[row] = i32(sum);
}

// Sides by a whole tree: `tree` holds features, bins, left and right, n_nodes of each, then the leaves'
// sides.
extern "C" __global__ void __launch_bounds__(256)
    place_tree(const u8* __restrict__ bins, i32 width, i64 n_rows, i64 stride, i32 n_nodes,
               const i32* __restrict__ tree, u8* __restrict__ side) {
  const i64 row = global_thread();
  if (row >= n_rows) return;
  int q = n_nodes > 0 ? 0 : ~0;
  while (q >= 0) {
    const bool above = bin_at(bins, width, tree[q] * stride + row) > tree[n_nodes + q];
    q = tree[(above ? 3 : 2) * n_nodes + q];
  }
  side[row] = u8(tree[4 * n_nodes + ~q]);
}
