// Which nodes are divided, and what must be summed to search their children. One block each.
#include "common.cuh"
#include "tree_book.cuh"
#include "lane_sums.cuh"

// Reads what the scans found for the new nodes.
__device__ inline void settle(const Book& book, const i32* totals, const i32* features,
                              const i32* begins, i32 n_features, float smoothing) {
  const i32 end = book.state[N_NODES];
  for (i32 node = book.state[FIRST_NODE] + threadIdx.x; node < end; node += blockDim.x) {
    i32 feature = -1, bin = 0;
    double gain = 0.0;
    if (const u64 best = book.best[node]) {
      const float score = __uint_as_float(static_cast<u32>(best >> 32));
      const i32* const total = totals + i64(node) * LANES;
      const float here = score_of([&](int c) { return total[c]; }, smoothing);
      if (score > here) {
        const i32 place = static_cast<i32>(~static_cast<u32>(best));
        const i32 f = find_end(begins + 1, n_features, place);
        feature = features[f];
        bin = place - begins[f];
        gain = static_cast<double>(score) - static_cast<double>(here);
      }
    }
    book.feature[node] = feature;
    book.bin[node] = bin;
    book.gain[node] = gain;
  }
}

__device__ inline void begin_pair(const Book& book, i32 pair, i32 node, i32 feature, i32 bin,
                                  i32 search) {
  const i32 child = book.state[N_NODES] + 2 * pair;
  book.parent[pair] = node;
  book.child[pair] = child;
  book.search[pair] = search;
  book.left[pair] = book.right[pair] = book.left_count[pair] = 0;
  book.chunk_end[pair] = chunks_of(book.length[node], DIVIDE_CHUNK);
  book.cut[node] = make_int4(feature, bin, child, 0);
  book.cut[child] = book.cut[child + 1] = make_int4(0, 0, 0, 0);
  book.depth[child] = book.depth[child + 1] = book.depth[node] + 1;
  book.divided[book.state[N_DIVIDED] + pair] = node;
}

// Turns the pairs' numbers of chunks into where they end, and counts what is new. All threads arrive.
__device__ inline void begin_batch(const Book& book, i32 n_pairs) {
  __syncthreads();
  i32 ends = 0;
  for (i32 first = 0; first < n_pairs; first += blockDim.x) {
    const i32 pair = first + threadIdx.x;
    const i32 n = pair < n_pairs ? book.chunk_end[pair] : 0;
    i32 total;
    const i32 before = block_scan(n, &total);
    if (pair < n_pairs) book.chunk_end[pair] = ends + before + n;
    ends += total;
  }
  if (threadIdx.x != 0) return;
  book.state[N_PAIRS] = n_pairs;
  book.state[N_CHUNKS] = ends;
  book.state[FIRST_NODE] = book.state[N_NODES];
  book.state[N_NODES] += 2 * n_pairs;
  book.state[N_LEAVES] += n_pairs;
  book.state[N_DIVIDED] += n_pairs;
  book.state[N_BATCHES] += n_pairs > 0;
}

extern "C" __global__ void settle_nodes(const i32* totals, const i32* features, const i32* begins,
                                        i32 n_features, float smoothing, i32* at, i32 capacity) {
  settle(Book(at, capacity), totals, features, begins, n_features, smoothing);
}

// Takes the better half of the open nodes, as far as there is room for their children: by gain, then
// by number. A node's rank among them is the place of its pair.
extern "C" __global__ void choose_nodes(const i32* totals, const i32* features, const i32* begins,
                                        i32 n_features, float smoothing, i32 max_leaves,
                                        i32 max_depth, i32* at, i32 capacity) {
  SHARED_BYTES(buffer);
  double* const gains = reinterpret_cast<double*>(buffer);
  i32* const nodes = reinterpret_cast<i32*>(gains + max_leaves);
  __shared__ i32 n_open;
  const Book book(at, capacity);
  const i32 n_nodes = book.state[N_NODES], n_leaves = book.state[N_LEAVES];
  if (threadIdx.x == 0) n_open = 0;
  settle(book, totals, features, begins, n_features, smoothing);
  __syncthreads();
  for (i32 node = threadIdx.x; node < n_nodes; node += blockDim.x) {
    if (book.feature[node] < 0 || book.cut[node].z != 0) continue;
    const i32 place = atomicAdd(&n_open, 1);
    gains[place] = book.gain[node];
    nodes[place] = node;
  }
  __syncthreads();
  const i32 open = n_open;
  const i32 n = min((open + 1) / 2, max_leaves - n_leaves);
  const bool full = n_leaves + n >= max_leaves;
  for (i32 i = threadIdx.x; i < open; i += blockDim.x) {
    const double gain = gains[i];
    const i32 node = nodes[i];
    i32 rank = 0;
    for (i32 other = 0; other < open; ++other) {
      rank += gains[other] > gain || (gains[other] == gain && nodes[other] < node);
    }
    if (rank >= n) continue;
    const bool search = !full && book.depth[node] + 2 <= max_depth;
    begin_pair(book, rank, node, book.feature[node], book.bin[node], search);
  }
  begin_batch(book, n);
}

// Takes nodes that the host names: (node, feature, bin, search) each.
extern "C" __global__ void take_cuts(const int4* cuts, i32 n, i32* at, i32 capacity) {
  const Book book(at, capacity);
  for (i32 pair = threadIdx.x; pair < n; pair += blockDim.x) {
    const int4 cut = cuts[pair];
    begin_pair(book, pair, cut.x, cut.y, cut.z, cut.w);
  }
  begin_batch(book, n);
}

// Writes down where the children's rows lie; returns false where the pair needs no search.
__device__ inline bool place_children(const Book& book, i32 pair, i32 keeps, i32 has_copies,
                                      i64 least_count) {
  const i32 parent = book.parent[pair];
  i32 small = 0, large = -1;
  bool kept = false;
  if (parent >= 0) {
    const i32 child = book.child[pair], n_left = book.left[pair], n = book.length[parent];
    book.begin[child] = book.begin[parent];
    book.begin[child + 1] = book.begin[parent] + n_left;
    book.length[child] = n_left;
    book.length[child + 1] = n - n_left;
    const i32 count = has_copies ? book.left_count[pair] : n_left;
    book.count[child] = count;
    book.count[child + 1] = book.count[parent] - count;
    for (int side = 0; side < 2; ++side) {
      book.buffer[child + side] = 1 - book.buffer[parent];
      book.slot[child + side] = -1;
      book.best[child + side] = 0;
    }
    const bool left_is_small = n_left <= n - n_left;
    small = left_is_small ? child : child + 1;
    large = left_is_small ? child + 1 : child;
    kept = keeps && book.slot[parent] >= 0;
  }
  const i32 most = max(book.count[small], large < 0 ? 0 : book.count[large]);
  const bool searched = book.search[pair] && most >= 2 * least_count;
  book.small[pair] = searched ? small : -1;
  book.large[pair] = large;
  book.kept[pair] = kept;
  return searched;
}

// Lists the nodes whose rows must be added up, so that the children of some pairs can be searched: the
// smaller child of a pair, and the other one too where no histogram of their parent is kept.
extern "C" __global__ void plan_search(i32 first_pair, i32 end_pair, i32 keeps, i32 has_copies,
                                       i32 least_count, i32* at, i32 capacity) {
  const Book book(at, capacity);
  const i32 end = min(end_pair, book.state[N_PAIRS]);
  const i32 first_slot = keeps ? book.state[N_SLOTS] : 0;
  i32 n_work = 0, n_chunks = 0;
  for (i32 first = first_pair; first < end; first += blockDim.x) {
    const i32 pair = first + threadIdx.x;
    const bool searched =
        pair < end && place_children(book, pair, keeps, has_copies, least_count);
    i32 works = 0, of_small = 0, of_large = 0, small = 0, large = 0;
    if (searched) {
      small = book.small[pair];
      large = book.large[pair];
      works = 1 + (large >= 0 && !book.kept[pair]);
      of_small = chunks_of(book.length[small], ADD_CHUNK);
      if (works == 2) of_large = chunks_of(book.length[large], ADD_CHUNK);
    }
    i32 all_works, all_chunks;
    const i32 work = n_work + block_scan(works, &all_works);
    const i32 chunk = n_chunks + block_scan(of_small + of_large, &all_chunks);
    if (searched) {
      book.work_node[work] = small;
      book.work_end[work] = chunk + of_small;
      book.small_slot[pair] = first_slot + work;
      if (works == 2) {
        book.work_node[work + 1] = large;
        book.work_end[work + 1] = chunk + of_small + of_large;
        book.large_slot[pair] = first_slot + work + 1;
      } else if (large >= 0) {
        book.large_slot[pair] = book.slot[book.parent[pair]];
      }
      if (keeps) {
        book.slot[small] = book.small_slot[pair];
        if (large >= 0) book.slot[large] = book.large_slot[pair];
      }
    }
    n_work += all_works;
    n_chunks += all_chunks;
  }
  __syncthreads();
  if (threadIdx.x != 0) return;
  book.state[FIRST_PAIR] = first_pair;
  book.state[END_PAIR] = max(first_pair, end);
  book.state[FIRST_SLOT] = first_slot;
  book.state[N_WORK] = n_work;
  book.state[N_WORK_CHUNKS] = n_chunks;
  if (keeps) book.state[N_SLOTS] = first_slot + n_work;
}

// Lists nodes that the host names, their histograms in that order.
extern "C" __global__ void list_work(const i32* nodes, i32 n, i32* at, i32 capacity) {
  const Book book(at, capacity);
  i32 ends = 0;
  for (i32 first = 0; first < n; first += blockDim.x) {
    const i32 work = first + threadIdx.x;
    const i32 chunks = work < n ? chunks_of(book.length[nodes[work]], ADD_CHUNK) : 0;
    i32 total;
    const i32 before = block_scan(chunks, &total);
    if (work < n) {
      book.work_node[work] = nodes[work];
      book.work_end[work] = ends + before + chunks;
    }
    ends += total;
  }
  if (threadIdx.x != 0) return;
  book.state[FIRST_SLOT] = 0;
  book.state[N_WORK] = n;
  book.state[N_WORK_CHUNKS] = ends;
}
