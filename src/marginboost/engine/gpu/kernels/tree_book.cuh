// The book of a growing tree: one array of int32, of which one copy takes the head to the host.
// `tree_book.py` lays it out alike. A batch divides pairs of nodes; children are numbered two by two.

enum State {
  N_NODES,
  N_LEAVES,
  N_DIVIDED,
  N_BATCHES,
  N_PAIRS,        // of this batch
  FIRST_NODE,     // of this batch's new nodes
  N_CHUNKS,       // of the rows that this batch divides
  N_SLOTS,        // histograms that are kept
  FIRST_PAIR,     // of those that are searched together
  END_PAIR,
  N_WORK,         // nodes whose rows are added up for them
  N_WORK_CHUNKS,  // of those rows
  FIRST_SLOT,     // of their histograms, which follow each other
  STATE_SIZE = 16,
};

struct Book {
  i32* state;
  // The head: what the host reads.
  i32* divided;  // nodes in the order in which they were divided
  i32* feature;  // of each node's best split; -1: none
  i32* bin;
  i32* count;  // rows that the search sees, with their multiplicity
  double* gain;
  // Nodes: where their rows lie, and in which of the two lists.
  i32* begin;
  i32* length;
  i32* buffer;
  i32* slot;  // of its histogram; -1: none is kept
  i32* depth;
  u64* best;  // score and place of the best split; 0: none
  int4* cut;  // feature, bin and first child of a divided node; child 0: it is a leaf
  // Pairs of this batch.
  i32* parent;  // -1: the root, which has no other
  i32* child;
  i32* search;
  i32* left;  // rows that have been placed so far, from the front
  i32* right;  // and from the back
  i32* left_count;
  i32* chunk_end;
  i32* small;  // the node that is summed; -1: neither is searched
  i32* large;
  i32* small_slot;
  i32* large_slot;
  i32* kept;  // whether the large one's histogram is its parent's less the small one's
  // Nodes whose rows are added up.
  i32* work_node;
  i32* work_end;

  __device__ Book(i32* at, i32 capacity) {
    const i64 half = capacity / 2;
    const auto take = [&](i64 halves) {
      i32* section = at;
      at += halves * half;
      return section;
    };
    state = at;
    at += STATE_SIZE;
    divided = take(1);
    feature = take(2);
    bin = take(2);
    count = take(2);
    gain = reinterpret_cast<double*>(take(4));
    begin = take(2);
    length = take(2);
    buffer = take(2);
    slot = take(2);
    depth = take(2);
    best = reinterpret_cast<u64*>(take(4));
    cut = reinterpret_cast<int4*>(take(8));
    parent = take(1);
    child = take(1);
    search = take(1);
    left = take(1);
    right = take(1);
    left_count = take(1);
    chunk_end = take(1);
    small = take(1);
    large = take(1);
    small_slot = take(1);
    large_slot = take(1);
    kept = take(1);
    work_node = take(2);
    work_end = take(2);
  }
};

__device__ inline i32 chunks_of(i32 rows, i32 chunk) { return (rows + chunk - 1) / chunk; }

// The first of some ascending ends that is past a number below the last of them.
__device__ inline i32 find_end(const i32* ends, i32 n, i32 number) {
  i32 low = 0, high = n - 1;
  while (low < high) {
    const i32 middle = (low + high) / 2;
    if (ends[middle] > number) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

// The sum over the threads before this one, and over all. All threads of whole warps must arrive.
__device__ inline i32 block_scan(i32 value, i32* total) {
  __shared__ i32 of_warp[WARP];
  const i32 lane = threadIdx.x % WARP, warp = threadIdx.x / WARP, warps = blockDim.x / WARP;
  i32 sum = value;
  for (int step = 1; step < WARP; step *= 2) {
    const i32 other = __shfl_up_sync(FULL_WARP, sum, step);
    if (lane >= step) sum += other;
  }
  if (lane == WARP - 1) of_warp[warp] = sum;
  __syncthreads();
  i32 before = 0, all = 0;
  for (i32 w = 0; w < warps; ++w) {
    if (w < warp) before += of_warp[w];
    all += of_warp[w];
  }
  __syncthreads();
  *total = all;
  return before + sum - value;
}
