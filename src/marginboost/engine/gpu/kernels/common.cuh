// What all kernels share. No header of the host's: the run-time compiler has none.

using i8 = signed char;
using u8 = unsigned char;
using u16 = unsigned short;
using i32 = int;
using u32 = unsigned int;
using i64 = long long;
using u64 = unsigned long long;

// Dynamic shared memory; an emulator defines its own.
#ifndef SHARED_BYTES
#define SHARED_BYTES(name) extern __shared__ __align__(16) unsigned char name[]
#endif

constexpr unsigned FULL_WARP = 0xffffffffu;
constexpr int WARP = 32;

// The number of this thread in a grid of one dimension, and how many there are.
__device__ inline i64 global_thread() { return i64(blockIdx.x) * blockDim.x + threadIdx.x; }
__device__ inline i64 global_threads() { return i64(gridDim.x) * blockDim.x; }

// Signed integers add as unsigned ones do; CUDA has the atomic of the latter alone.
__device__ inline void atomic_add(i64* to, i64 value) {
  atomicAdd(reinterpret_cast<u64*>(to), static_cast<u64>(value));
}

// The sum over a warp, in its lane 0. All 32 lanes must arrive.
template <class T>
__device__ inline T warp_sum(T value) {
  for (int step = WARP / 2; step > 0; step /= 2) value += __shfl_down_sync(FULL_WARP, value, step);
  return value;
}

// The sum over a block of at most 1024 threads, in its thread 0. Every thread must arrive.
template <class T>
__device__ inline T block_sum(T value) {
  __shared__ T parts[WARP];
  value = warp_sum(value);
  __syncthreads();  // an earlier sum has been read
  if (threadIdx.x % WARP == 0) parts[threadIdx.x / WARP] = value;
  __syncthreads();
  const int n_warps = (blockDim.x + WARP - 1) / WARP;
  if (threadIdx.x < WARP) value = warp_sum(int(threadIdx.x) < n_warps ? parts[threadIdx.x] : T(0));
  return value;
}

// One value of the binned matrix: features lie one after the other, `stride` rows each.
__device__ inline int bin_at(const u8* bins, int width, i64 at) {
  return width == 1 ? bins[at] : reinterpret_cast<const u16*>(bins)[at];
}
