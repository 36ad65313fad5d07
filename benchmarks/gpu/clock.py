"""Times of kernels and of the device's limits, by CUDA's events."""

from collections import defaultdict

import cupy as cp
import numpy as np

from marginboost.engine.gpu.device import CudaDevice

ADDS = r"""
extern "C" __global__ void add(int* out, int n) {
  extern __shared__ int sums[];
  for (int i = threadIdx.x; i < 8192; i += blockDim.x) sums[i] = 0;
  __syncthreads();
  // Each warp its own 32 neighbouring cells, another 32 every time: no two threads meet.
  int at = threadIdx.x;
  for (int i = 0; i < n; ++i) {
    atomicAdd(sums + at, i);
    at = (at + 1024) & 8191;
  }
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = sums[0];
}
"""


SPIN = r"""
extern "C" __global__ void spin(long long cycles) {
  const long long start = clock64();
  while (clock64() - start < cycles) {}
}
"""
# Longer than the host takes to launch a kernel and its two events.
SPIN_CYCLES = np.int64(200_000)


def seconds(work, repeats=5) -> float:
    """Time an action on the device, the best of several; the first one warms up."""
    best = float("inf")
    for _ in range(repeats + 1):
        start, stop = cp.cuda.Event(), cp.cuda.Event()
        start.record()
        work()
        stop.record()
        stop.synchronize()
        best = min(best, cp.cuda.get_elapsed_time(start, stop) / 1e3)
    return best


def limits() -> dict[str, float]:
    """Measure how fast the device copies, and how fast it adds in shared memory."""
    source, target = (cp.empty(1 << 31, dtype=cp.uint8) for _ in range(2))
    copied = 2 * source.nbytes / seconds(lambda: cp.copyto(target, source))
    kernel = cp.RawKernel(ADDS, "add")
    blocks, threads, n = 132 * 7, 256, 20000
    out = cp.empty(blocks, dtype=cp.int32)
    took = seconds(lambda: kernel((blocks,), (threads,), (out, np.int32(n)), shared_mem=32768))
    return {"copy_bytes_per_s": copied, "shared_adds_per_s": blocks * threads * n / took}


class Clock:
    """Times every kernel that is prepared and launched while it is active.

    Before each one the device is kept busy for a while, so that an event, the kernel and another
    event are all queued when it reaches them: the time between the events is the kernel's, not the
    host's.
    """

    def __init__(self) -> None:
        self._spans = []
        self._spin = cp.RawKernel(SPIN, "spin")

    def __enter__(self):
        plain = self._plain = CudaDevice.kernel
        spans, spin = self._spans, self._spin

        def kernel(device, file, name, **constants):
            found = plain(device, file, name, **constants)

            def launch(*args, **options):
                start, stop = cp.cuda.Event(), cp.cuda.Event()
                spin((1,), (1,), (SPIN_CYCLES,))
                start.record()
                found(*args, **options)
                stop.record()
                spans.append((name, start, stop))

            return launch

        CudaDevice.kernel = kernel
        return self

    def __exit__(self, *_) -> None:
        CudaDevice.kernel = self._plain

    def table(self) -> list[dict]:
        """Return the kernels, sorted by their total time."""
        cp.cuda.Device().synchronize()
        spans = defaultdict(list)
        for name, start, stop in self._spans:
            spans[name].append(cp.cuda.get_elapsed_time(start, stop) / 1e3)
        for took in spans.values():
            if len(took) > 10:  # the longest may include loading the kernel's code
                took.remove(max(took))
        everything = sum(map(sum, spans.values()))
        rows = [
            {
                "kernel": name,
                "share": sum(took) / everything,
                "seconds": sum(took),
                "calls": len(took),
                "median_us": 1e6 * float(np.median(took)),
            }
            for name, took in spans.items()
        ]
        return sorted(rows, key=lambda row: -row["seconds"])
