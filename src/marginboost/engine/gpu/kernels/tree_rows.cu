// Where the rows of a growing tree are: the node, label and mass of each, and the moves.
#include "common.cuh"

// Starts a tree: label and mass by the sign and size of one column of the direction, `g` with `lanes`
// numbers per row; in a tree of classes the label is the row's class. Rows beyond the last are in no node.
extern "C" __global__ void __launch_bounds__(256)
    start_tree(const i32* __restrict__ g, i64 column_at, i32 lanes, const i32* __restrict__ classes,
               i32 class_tree, i64 n_rows, i64 stride, i32* __restrict__ node,
               i32* __restrict__ label, i32* __restrict__ mass) {
  const i64 row = global_thread();
  if (row >= stride) return;
  const bool is = row < n_rows;
  const i32 value = is ? g[column_at + row * lanes] : 0;
  node[row] = is ? 0 : -1;
  label[row] = class_tree ? (is ? classes[row] : 0) : value < 0;
  mass[row] = value < 0 ? -value : value;
}

// Rows of node q >= 0 go to right[q] if their bin of features[q] is above bins_[q], else to left[q]
// (feature -1: all of them). `moves`: features, bins, left and right, n_nodes of each.
extern "C" __global__ void __launch_bounds__(256)
    move_rows(const u8* __restrict__ bins, i32 width, i64 n_rows, i64 stride, i32 n_nodes,
              const i32* __restrict__ moves, i32* __restrict__ node) {
  const i64 row = global_thread();
  if (row >= n_rows) return;
  const int q = node[row];
  if (q < 0) return;
  const int feature = moves[q];
  const bool above =
      feature >= 0 && bin_at(bins, width, feature * stride + row) > moves[n_nodes + q];
  node[row] = moves[(above ? 3 : 2) * n_nodes + q];
}

// Rows of leaf ~node get its side; in a tree of classes side 1 where it names theirs.
extern "C" __global__ void __launch_bounds__(256)
    finish_tree(const i32* __restrict__ node, const i32* __restrict__ classes, i32 class_tree,
                i64 n_rows, const i32* __restrict__ leaf_value, u8* __restrict__ side) {
  const i64 row = global_thread();
  if (row >= n_rows) return;
  const i32 value = leaf_value[~node[row]];
  side[row] = u8(class_tree ? value == classes[row] : value);
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
