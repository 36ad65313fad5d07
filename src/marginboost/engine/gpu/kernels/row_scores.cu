// The scores of rows: each thread walks a row through all trees and adds up what its leaves say, in the
// order of the trees, as native/src/predict does. CLASSES: most classes of a thread; a row of the grid
// has those from CLASSES * blockIdx.y on.
#include "common.cuh"
#include "column_keys.cuh"

constexpr int ROWS = 128;  // of a block; each has a thread

// Types that float holds exactly are compared as float, with thresholds rounded down to float: a float is
// at most a number exactly if it is at most the largest float below. All others are compared as double.
#if VALUE == 0 || VALUE == 2 || VALUE == 3 || VALUE == 6 || VALUE == 7
using Compared = float;
#else
using Compared = double;
#endif

// A row goes left if its value is at most the threshold. `column`: twice the number of the column, and 1
// if a row without a value goes left. A child below 0 is the complement of a leaf's number.
struct __align__(16) Node {
  Compared threshold;
  i32 column, left, right;
};

struct Tree {
  i64 first_node, first_leaf;
  i32 n_nodes, n_leaves;
};

extern "C" __global__ void __launch_bounds__(ROWS)
    score_rows(const Value* x, i64 row_stride, i64 column_stride, const i32* used, i32 n_used,
               i32 staged, i64 first_row, i64 n_rows, const Tree* trees, i32 n_trees, const Node* nodes,
               const double* products, const i32* leaf_vector, const double* leaf_value,
               i32 has_products, i32 n_classes, double* scores) {
  SHARED_BYTES(buffer);
  Value* const held = reinterpret_cast<Value*>(buffer);
  const i64 first = i64(blockIdx.x) * ROWS;
  const i32 rows = static_cast<i32>(n_rows - first < ROWS ? n_rows - first : ROWS);
  x += first_row * row_stride;
  if (staged) {  // the columns in use, one after the other, in shared memory
    // Where rows are contiguous a warp reads some columns of some rows: few banks and few lines collide.
    const i32 together = column_stride == 1 ? 8 : ROWS;
    const i32 columns_together = column_stride == 1 ? WARP / 8 : 1;
    const i32 lane = threadIdx.x % (together * columns_together);
    const i32 part = threadIdx.x / (together * columns_together);
    const i32 n_parts = ROWS / (together * columns_together);
    for (i32 r = part * together + lane % together; r < rows; r += n_parts * together) {
      for (i32 c = lane / together; c < n_used; c += columns_together) {
        held[c * ROWS + r] = x[(first + r) * row_stride + used[c] * column_stride];
      }
    }
    __syncthreads();
  }
  if (i32(threadIdx.x) >= rows) return;
  const i64 row = first + threadIdx.x;
  const i32 begin = i32(blockIdx.y) * CLASSES;
  const i32 count = n_classes - begin < CLASSES ? n_classes - begin : CLASSES;
  double sums[CLASSES];
#pragma unroll
  for (i32 r = 0; r < CLASSES; ++r) sums[r] = 0.0;
  for (i32 t = 0; t < n_trees; ++t) {
    const Tree tree = trees[t];
    i32 child = tree.n_nodes > 0 ? 0 : -1;
    while (child >= 0) {
      const Node node = nodes[tree.first_node + child];
      const i32 column = node.column >> 1;
      const Value value = staged ? held[column * ROWS + threadIdx.x]
                                 : x[row * row_stride + used[column] * column_stride];
      const bool is_left = value != value ? (node.column & 1) != 0
                                          : static_cast<Compared>(value) <= node.threshold;
      child = is_left ? node.left : node.right;
    }
    const i64 leaf = ~child;
    if (has_products) {  // of a tree's leaves, class by class
      const double* const from = products + tree.first_leaf * n_classes + leaf;
#pragma unroll
      for (i32 r = 0; r < CLASSES; ++r) {
        if (r < count) sums[r] += from[i64(begin + r) * tree.n_leaves];
      }
    } else {
      const double factor = leaf_value[tree.first_leaf + leaf];
      const double* const from = products + i64(leaf_vector[tree.first_leaf + leaf]) * n_classes + begin;
#pragma unroll
      for (i32 r = 0; r < CLASSES; ++r) {
        if (r < count) sums[r] += factor * from[r];
      }
    }
  }
  double* const out = scores + row * n_classes + begin;
#pragma unroll
  for (i32 r = 0; r < CLASSES; ++r) {
    if (r < count) out[r] = sums[r];
  }
}
