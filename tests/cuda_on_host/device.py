"""A device whose arrays are NumPy's and whose kernels the host's compiler makes."""

import atexit
import ctypes
import functools
import hashlib
import itertools
import os
import re
import shutil
import subprocess
import tempfile
import threading
from pathlib import Path

import numpy as np
import pytest

from marginboost.engine.gpu.device import Device, cuda_device

# Not fortified, as some compilers do by default: it takes a jump to another fiber for a mistake.
_FLAGS = (
    "-std=c++17", "-O0", "-U_FORTIFY_SOURCE", "-ffp-contract=off", "-fPIC", "-fno-gnu-unique", "-w"
)  # fmt: skip
FOLDER = "CUDA_ON_HOST_FOLDER"  # where the environment names it
_HEADER = Path(__file__).with_name("cuda_on_host.hpp")
_KERNEL = re.compile(r'extern "C" __global__ void\s+(?:__launch_bounds__\([^)]*\)\s+)?(\w+)\s*\(')
_WRAPPERS = """
extern "C" const char* signature_{0}() {{ return cuda_on_host::signature(&{0}); }}
extern "C" const char* launch_{0}(const unsigned* grid, unsigned block, unsigned long shared,
                                  bool descending, void** arguments) {{
  return cuda_on_host::launch(&{0}, grid, block, shared, descending, arguments);
}}
"""


# One at a time, whichever threads ask: a library's blocks and threads are its global variables.
_COMPILER, _PROCESSOR = threading.Lock(), threading.Lock()


class HostDevice(Device):
    """Runs kernels one thread at a time, in an order that only the launch's number changes.

    Parameters
    ----------
    n_processors : int
        As many multiprocessors as engines are told of.
    shared_bytes : int
        As much shared memory.
    """

    xp = np

    def __init__(self, n_processors=2, shared_bytes=227 << 10):
        super().__init__()
        self.n_processors = n_processors
        self.shared_bytes = shared_bytes

    def _compile(self, file, source, constants):
        with _COMPILER:
            library = _library(file, source, tuple(sorted(constants.items())))

        @functools.cache
        def find(name):
            return _HostKernel(library, name, self.shared_bytes)

        return find

    def fetch(self, array):
        return np.array(array)

    def put(self, array):
        return np.array(array)

    def write(self, target, array):
        assert target.shape == array.shape, f"{array.shape} does not fill {target.shape}"
        assert target.dtype == array.dtype, f"{array.dtype} is not {target.dtype}"
        target[...] = array

    def free_bytes(self):
        return 1 << 30


def share_folder():
    """Let processes to come, workers of a cluster say, find what is compiled here."""
    _folder()


def named_device(name):
    """Return the emulated device or the real one; skips where there is none."""
    if name == "emulated":
        return host_device()
    try:
        return cuda_device()
    except (ImportError, RuntimeError) as missing:
        pytest.skip(str(missing))


@functools.cache
def host_device():
    """One for all tests, so that a kernel is compiled once; skips where there is no compiler."""
    if shutil.which("g++") is None:
        pytest.skip("the emulated device needs g++")
    return HostDevice()


@functools.cache
def _folder():
    """Make a folder for what is compiled; processes that come from this one use it too."""
    if FOLDER in os.environ:
        return Path(os.environ[FOLDER])
    folder = Path(tempfile.mkdtemp(prefix="cuda_on_host_"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    os.environ[FOLDER] = str(folder)
    return folder


@functools.cache
def _header():
    """Compile the header first: it takes longer than most kernels."""
    folder = _folder()
    header = folder / _HEADER.name
    if not header.with_suffix(".hpp.gch").exists():
        whole = folder / f"{os.getpid()}.hpp"
        shutil.copy(_HEADER, whole)
        _run_compiler("-x", "c++-header", "-o", f"{whole}.gch", whole)
        os.replace(whole, header)
        os.replace(f"{whole}.gch", f"{header}.gch")
    return header


@functools.cache
def _library(file, source, constants):
    """Compile a source, its kernels' names behind `launch_` and `signature_`."""
    names = _KERNEL.findall(source)
    text = source + "".join(_WRAPPERS.format(name) for name in names)
    number = hashlib.sha256(f"{text}{constants}".encode()).hexdigest()[:16]
    path = _folder() / f"{file}_{number}.so"
    if not path.exists():
        mine = path.with_name(f"{file}_{number}_{os.getpid()}")
        mine.with_suffix(".cpp").write_text(text, encoding="utf-8")
        _run_compiler(
            "-shared", "-Wl,-Bsymbolic", "-include", _header(),
            *(f"-D{name}={value}" for name, value in constants),
            "-o", mine, mine.with_suffix(".cpp"),
        )  # fmt: skip
        os.replace(mine, path)  # whole, or not there
    return ctypes.CDLL(str(path))


def _run_compiler(*arguments):
    command = ["g++", *_FLAGS, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


class _HostKernel:
    _launches = itertools.count()

    def __init__(self, library, name, shared_bytes):
        self._name = name
        self._shared_bytes = shared_bytes
        self._launch = getattr(library, f"launch_{name}")
        self._launch.restype = ctypes.c_char_p
        signature = getattr(library, f"signature_{name}")
        signature.restype = ctypes.c_char_p
        self._types = signature().decode().split()

    def __call__(self, grid, block, *args, shared=0):
        assert isinstance(block, int)
        assert 1 <= block <= 1024
        assert 0 <= shared <= self._shared_bytes, f"{self._name}: {shared} bytes shared"
        grid = grid if isinstance(grid, tuple) else (grid,)
        assert len(args) == len(self._types), f"{self._name} takes {self._types}"
        held = [self._held(i, arg) for i, arg in enumerate(args)]
        pointers = (ctypes.c_void_p * len(held))(*(value.ctypes.data for value in held))
        with _PROCESSOR:
            error = self._launch(
                (ctypes.c_uint * 3)(*(max(1, n) for n in (*grid, 1, 1)[:3])),
                ctypes.c_uint(block),
                ctypes.c_ulong(shared),
                ctypes.c_bool(next(self._launches) % 2 == 1),
                pointers,
            )
        if error:
            raise RuntimeError(f"{self._name}: {error.decode()}")

    def _held(self, i, arg):
        """Check an argument's type, which CUDA would not; return an array that holds its value."""
        wanted = self._types[i]
        where = f"argument {i} of {self._name}"
        if not wanted.startswith("*"):
            assert isinstance(arg, np.generic), f"{where} must be a NumPy scalar, got {arg!r}"
            assert arg.dtype.str[1:] == wanted, f"{where} must be {wanted}, got {arg.dtype}"
            return np.array([arg])
        assert isinstance(arg, np.ndarray), f"{where} must be an array, got {arg!r}"
        assert arg.flags.c_contiguous, f"{where} must be contiguous"
        assert wanted == "*?" or arg.dtype.str[1:] == wanted[1:], (
            f"{where} must be {wanted[1:]}, got {arg.dtype}"
        )
        return np.array([arg.ctypes.data], dtype=np.uint64)
