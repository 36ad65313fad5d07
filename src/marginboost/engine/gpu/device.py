"""The interface to a CUDA device: arrays, kernels compiled at run time, and copies to the host.

Engines see a `Device` and nothing of CuPy, so the same engines and the same kernels also run on a
device that a test emulates.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib
import logging
import os
import re
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from marginboost.engine.gpu import row_steps

if TYPE_CHECKING:
    from marginboost.data.row_hashes import HashTables

__all__ = ["CudaDevice", "Device", "Kernel", "cuda_device"]

KERNELS = Path(__file__).with_name("kernels")

# No contraction of a product and a sum into one rounding: the same bits as on the host.
OPTIONS = ("--std=c++17", "--fmad=false")

# cudaDeviceAttr: the number of multiprocessors, and the most shared memory that a block may ask for.
_MULTIPROCESSOR_COUNT = 16
_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN = 97

# Results up to this many bytes come back by way of pinned memory, which saves the driver a copy.
_STAGED_BYTES = 1 << 16

_INCLUDE = re.compile(r'^#include "([^"]+)"$', re.MULTILINE)


class Kernel(Protocol):
    """A compiled `extern "C" __global__ void` function."""

    def __call__(
        self, grid: int | tuple[int, ...], block: int, *args: Any, shared: int = 0
    ) -> None:
        """Launch the kernel without waiting for it.

        Parameters
        ----------
        grid : int or tuple of up to three int
            Number of blocks.
        block : int
            Threads per block.
        *args : device arrays and NumPy scalars
            Scalars of the exact C type. None is not allowed: pass any array for one that is not read.
        shared : int
            Bytes of dynamic shared memory.
        """
        ...


_Kernels = Callable[[str], Kernel]

_logger = logging.getLogger("marginboost")


class Device(ABC):
    """A device that holds big arrays and runs kernels.

    Attributes
    ----------
    xp : module
        The array module, NumPy's interface.
    n_processors : int
        Multiprocessors, to size grids by.
    shared_bytes : int
        The most dynamic shared memory of a block.
    """

    xp: Any
    n_processors: int
    shared_bytes: int

    def __init__(self) -> None:
        self._modules: dict[tuple[str, tuple[tuple[str, int], ...]], Future[_Kernels]] = {}
        self._lock = threading.Lock()

    def kernel(self, file: str, name: str, **constants: int) -> Kernel:
        """Compile a kernel, once for the same file and constants.

        Parameters
        ----------
        file : str
            Name of a file in the folder of kernels, without its ending.
        name : str
            Name of the function.
        **constants : int
            Macros to define.
        """
        found, is_new = self._module(file, constants)
        if is_new:
            self._fill(found, file, constants)
        return found.result()(name)

    def compile_ahead(self, file: str, **constants: int) -> None:
        """Begin to compile a file's kernels in a thread of its own; `kernel` waits for the end."""
        found, is_new = self._module(file, constants)
        if is_new:
            threading.Thread(target=self._fill, args=(found, file, constants), daemon=True).start()

    def _module(self, file: str, constants: dict[str, int]) -> tuple[Future[_Kernels], bool]:
        """Return the place of a file's kernels, and whether the caller has to fill it."""
        key = (file, tuple(sorted(constants.items())))
        with self._lock:  # several fits may run at the same time
            found = self._modules.get(key)
            if found is None:
                found = self._modules[key] = Future()
                return found, True
        return found, False

    def _fill(self, place: Future[_Kernels], file: str, constants: dict[str, int]) -> None:
        try:
            place.set_result(self._compile(file, kernel_source(file), constants))
        except BaseException as failure:  # whoever waits for the kernels gets it
            place.set_exception(failure)

    def hash_rows(self, bins: Any, class_offsets: NDArray[np.int64], tables: HashTables) -> Any:
        """Hash rows of bins by feature; see `marginboost.data.storage.Storage`."""
        return row_steps.hash_rows(self, bins, class_offsets, tables)

    def rows_below(
        self, hashes: Any, class_offsets: NDArray[np.int64], bounds: NDArray[np.uint64]
    ) -> Any:
        """Return the rows whose hash is below the bound of their class."""
        return row_steps.rows_below(self, hashes, class_offsets, bounds)

    def has_repeats(self, ordered: Any) -> bool:
        """Return whether a sorted array holds a hash twice."""
        return row_steps.has_repeats(self, ordered)

    def clear(self, array: Any) -> None:
        """Set a contiguous array to zero."""
        array.fill(0)

    @abstractmethod
    def _compile(
        self, file: str, source: str, constants: dict[str, int]
    ) -> Callable[[str], Kernel]:
        """Compile a source; return a function that finds its kernels by name."""

    @abstractmethod
    def fetch(self, array: Any) -> NDArray[Any]:
        """Copy an array to the host; wait for it and for all earlier launches."""

    @abstractmethod
    def put(self, array: NDArray[Any]) -> Any:
        """Copy an array to the device, into a new array."""

    @abstractmethod
    def write(self, target: Any, array: NDArray[Any]) -> None:
        """Copy an array of the same type and shape into one on the device."""

    @abstractmethod
    def free_bytes(self) -> int:
        """Return the number of bytes available for new arrays."""


def kernel_source(file: str) -> str:
    """Read a file of kernels, with the files of its folder that it includes."""
    # One text: a compiler's cache that looks at the source alone then sees a change in any part.
    return _INCLUDE.sub(
        lambda match: (KERNELS / match[1]).read_text(encoding="utf-8"),
        (KERNELS / f"{file}.cu").read_text(encoding="utf-8"),
    )


class CudaDevice(Device):
    """The current CUDA device, through CuPy and its current stream.

    Raises
    ------
    ImportError
        CuPy is not installed.
    RuntimeError
        There is no device that it can use.
    """

    def __init__(self) -> None:
        super().__init__()
        try:
            self.xp = importlib.import_module("cupy")
        except ImportError as missing:
            raise ImportError(
                "A fit on a CUDA device needs CuPy, which could not be imported "
                f"({missing}). Install it with `pip install 'marginboost[gpu]'` for CUDA 13, or "
                "`pip install cupy-cuda12x` for CUDA 12."
            ) from missing
        runtime = self._runtime = self.xp.cuda.runtime
        try:
            count = runtime.getDeviceCount()
        except Exception as failure:  # CuPy's own type, which its version names
            raise RuntimeError(
                f"A fit on a CUDA device needs a driver that works, but CUDA says: {failure}. "
                "Check the driver with `nvidia-smi`, or fit on the CPU."
            ) from failure
        if count < 1:
            raise RuntimeError(
                "A fit on a CUDA device needs one, and CUDA finds none. Check CUDA_VISIBLE_DEVICES "
                "and `nvidia-smi`, or fit on the CPU."
            )
        number = self._number = runtime.getDevice()
        self._has_said = False
        self.n_processors = int(runtime.deviceGetAttribute(_MULTIPROCESSOR_COUNT, number))
        self.shared_bytes = int(
            runtime.deviceGetAttribute(_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, number)
        )
        self._of_thread = threading.local()

    def _compile(
        self, file: str, source: str, constants: dict[str, int]
    ) -> Callable[[str], Kernel]:
        options = (*OPTIONS, *(f"-D{name}={value}" for name, value in constants.items()))
        module = self.xp.RawModule(code=source, options=options)
        marker = self._marker(source, options)
        if not marker.exists():
            self._say_once()
        with self.xp.cuda.Device(self._number):  # a new thread begins with another one
            module.compile()
        with contextlib.suppress(OSError):  # a folder that cannot be written to is no cache either
            marker.touch()

        @functools.cache
        def find(name: str) -> Kernel:
            return _CudaKernel(module.get_function(name), self.shared_bytes)

        return find

    def _marker(self, source: str, options: tuple[str, ...]) -> Path:
        """Return the file which says that CuPy's cache has a compiled source."""
        default = os.path.expanduser("~/.cupy/kernel_cache")  # as CuPy documents it
        folder = Path(os.environ.get("CUPY_CACHE_DIR", default))
        capability = self.xp.cuda.Device(self._number).compute_capability
        version = self._runtime.runtimeGetVersion()
        what = repr((source, options, capability, version, self.xp.__version__))
        return folder / f"marginboost_{hashlib.sha256(what.encode()).hexdigest()[:32]}"

    def _say_once(self) -> None:
        with self._lock:
            first, self._has_said = not self._has_said, True
        if first:
            _logger.warning("Compiling GPU kernels; later fits read them from a cache.")

    def clear(self, array: Any) -> None:
        """Set a contiguous array to zero, without a kernel that would have to be compiled."""
        array.data.memset_async(0, array.nbytes)

    def fetch(self, array: Any) -> NDArray[Any]:
        """Copy an array to the host."""
        n_bytes = array.nbytes
        if n_bytes > _STAGED_BYTES:
            return np.asarray(array.get())
        staged = self._staging()[:n_bytes].view(array.dtype).reshape(array.shape)
        return np.array(array.get(out=staged))

    def _staging(self) -> NDArray[np.uint8]:
        """Return this thread's pinned memory: two fits may run at the same time."""
        staging: NDArray[np.uint8] | None = getattr(self._of_thread, "staging", None)
        if staging is None:
            pinned = self.xp.cuda.alloc_pinned_memory(_STAGED_BYTES)
            staging = np.frombuffer(pinned, dtype=np.uint8, count=_STAGED_BYTES)
            self._of_thread.staging = staging
        return staging

    def put(self, array: NDArray[Any]) -> Any:
        """Copy an array to the device."""
        return self.xp.array(array)

    def write(self, target: Any, array: NDArray[Any]) -> None:
        """Copy an array into one on the device."""
        target.set(array)

    def free_bytes(self) -> int:
        """Return the number of bytes available for new arrays."""
        free, _ = self._runtime.memGetInfo()
        return int(free) + int(self.xp.get_default_memory_pool().free_bytes())


class _CudaKernel:
    """A kernel of CuPy's, with the call in the form of `Kernel`."""

    def __init__(self, kernel: Any, shared_bytes: int) -> None:
        # Without this a block gets no more than 48 KiB.
        kernel.max_dynamic_shared_size_bytes = shared_bytes - kernel.shared_size_bytes
        self._launch = kernel.kernel  # looked up once: a launch is a matter of microseconds

    def __call__(
        self, grid: int | tuple[int, ...], block: int, *args: Any, shared: int = 0
    ) -> None:
        self._launch(
            grid if isinstance(grid, tuple) else (grid,), (block,), args, shared_mem=shared
        )


@functools.cache
def _made_in() -> tuple[int, CudaDevice]:
    """Make the device, and record the process."""
    return os.getpid(), CudaDevice()


def cuda_device() -> CudaDevice:
    """Return the CUDA device, made once per process.

    Raises
    ------
    ImportError
        CuPy is not installed.
    RuntimeError
        There is no device that it can use.
    """
    process, device = _made_in()
    if process != os.getpid():
        raise RuntimeError(
            "CUDA does not work in a process that was forked from one which had used it. Start the "
            'process by "spawn" or "forkserver", or use the GPU in the new process alone.'
        )
    return device
