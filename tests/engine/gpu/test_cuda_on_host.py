"""The emulated device does what CUDA would, and says so where a kernel does what CUDA forbids."""

import numpy as np
import pytest
from cuda_on_host import host_device

from marginboost.engine.gpu.device import KERNELS, kernel_source

_KERNELS = r"""
extern "C" __global__ void reverse(const int* from, int* to, long long n) {
  SHARED_BYTES(bytes);
  int* shared = reinterpret_cast<int*>(bytes);
  const long long row = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  shared[threadIdx.x] = row < n ? from[row] : -1;
#if BARRIER
  __syncthreads();
#endif
  to[row] = shared[blockDim.x - 1 - threadIdx.x];
}
extern "C" __global__ void __launch_bounds__(64) warps(const double* x, double* sums, unsigned* votes) {
  double value = x[threadIdx.x];
  const unsigned vote = __ballot_sync(0xffffffffu, value > 0);
  for (int step = 16; step > 0; step /= 2) value += __shfl_down_sync(0xffffffffu, value, step);
  const double other = __shfl_xor_sync(0xffffffffu, value, 1);
  const double first = __shfl_sync(0xffffffffu, value, 0);
  const double eighth = __shfl_sync(0xffffffffu, x[threadIdx.x], 3, 8);
  sums[3 * threadIdx.x] = first;
  sums[3 * threadIdx.x + 1] = threadIdx.x % 32 == 1 ? other : first;
  sums[3 * threadIdx.x + 2] = eighth;
  if (threadIdx.x % 32 == 0) votes[threadIdx.x / 32] = vote;
}
extern "C" __global__ void count(unsigned long long* total, int* most, int weight) {
  atomicAdd(total, (unsigned long long)(blockIdx.x + 10 * blockIdx.y) * weight);
  atomicMax(most, (int)threadIdx.x);
}
extern "C" __global__ void half_a_barrier(int* to) {
  if (threadIdx.x < 16) __syncthreads();
  to[threadIdx.x] = 1;
}
extern "C" __global__ void split_warp(int* to) {
  to[threadIdx.x] = threadIdx.x < 16 ? __shfl_sync(0xffffffffu, 1, 0) : __shfl_sync(0xffff0000u, 1, 16);
}
"""


def kernel(name, barrier=1):
    return host_device()._compile("test", _KERNELS, {"BARRIER": barrier})(name)


def test_blocks_shared_memory_and_barriers():
    x = np.arange(100, dtype=np.int32)
    expected = np.append(x, np.full(28, -1)).reshape(2, 64)[:, ::-1].ravel()
    for _ in range(2):  # in both orders of the threads
        out = np.zeros(128, dtype=np.int32)
        kernel("reverse")(2, 64, x, out, np.int64(100), shared=256)
        np.testing.assert_array_equal(out, expected)


def test_a_missing_barrier_shows():
    x = np.arange(128, dtype=np.int32)
    out = np.zeros(128, dtype=np.int32)
    kernel("reverse", barrier=0)(2, 64, x, out, np.int64(128), shared=256)
    assert not np.array_equal(out, x.reshape(2, 64)[:, ::-1].ravel())


def test_warps():
    x = np.random.default_rng(0).normal(size=64)
    sums, votes = np.zeros((64, 3)), np.zeros(2, dtype=np.uint32)
    kernel("warps")(1, 64, x, sums, votes)
    for warp in range(2):
        tree = x[32 * warp : 32 * warp + 32]
        assert [votes[warp] >> lane & 1 for lane in range(32)] == (tree > 0).tolist()
        for step in (16, 8, 4, 2, 1):
            tree = tree + np.append(tree[step:], tree[32 - step :])
        np.testing.assert_array_equal(sums[32 * warp : 32 * warp + 32, :2], tree[0])
    np.testing.assert_array_equal(sums[:, 2], np.repeat(x[3::8], 8))


def test_grids_and_atomics():
    total, most = np.zeros(1, dtype=np.uint64), np.zeros(1, dtype=np.int32)
    kernel("count")((3, 2), 40, total, most, np.int32(7))
    assert total[0] == 40 * 7 * sum(x + 10 * y for x in range(3) for y in range(2))
    assert most[0] == 39


def test_what_cuda_forbids_is_an_error():
    out = np.zeros(32, dtype=np.int32)
    with pytest.raises(RuntimeError, match="others never reach"):
        kernel("half_a_barrier")(1, 32, out)
    # Which of the two is noticed first depends on the order of the threads, which takes turns.
    with pytest.raises(RuntimeError, match=r"different masks|others never reach"):
        kernel("split_warp")(1, 32, out)
    with pytest.raises(AssertionError, match="argument 2 of reverse must be i8"):
        kernel("reverse")(1, 32, out, out, np.int32(5), shared=128)
    with pytest.raises(AssertionError, match="argument 0 of reverse must be i4"):
        kernel("reverse")(1, 32, np.zeros(32), out, np.int64(5), shared=128)
    kernel("reverse")(1, 32, out, out, np.int64(5), shared=128)  # it still works


def test_sources_are_whole():

    for path in KERNELS.glob("*.cu"):
        assert "#include" not in kernel_source(path.stem)
