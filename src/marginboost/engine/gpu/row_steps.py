"""Small steps over arrays as long as the data, by kernels of one file.

CuPy would compile a kernel for each of them, which a first fit would wait for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from marginboost.data.row_hashes import HashTables
    from marginboost.engine.gpu.device import Device

__all__ = [
    "constant",
    "has_repeats",
    "hash_rows",
    "label_counts",
    "label_ends",
    "label_numbers",
    "lower_halves",
    "row_labels",
    "rows_below",
    "scan_counts",
]

FILE = "row_steps"

_THREADS = 256
_BLOCKS_A_PROCESSOR = 8
_BELOW_STRETCH = 8 * _THREADS  # as in the kernels
_SCAN_THREADS = 1024  # as in the kernel

# Types of labels in the order of their numbers in the kernels.
_TYPES = ("f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8")


def label_ends(device: Device, labels: Any) -> tuple[int, int]:
    """Return the least and the largest of labels that are whole numbers below 2**63."""
    limits = np.iinfo(np.int64)
    ends = device.put(np.array([limits.max, limits.min]))
    _launch(device, "label_ends", len(labels), *_typed(labels), np.int64(len(labels)), ends)
    least, most = device.fetch(ends).tolist()
    return least, most


def label_counts(device: Device, labels: Any, least: int, n_codes: int) -> NDArray[np.int64]:
    """Return how often each of the whole numbers from `least` on occurs."""
    n = len(labels)
    counts = device.xp.zeros(n_codes, dtype=np.uint64)
    given = (np.int64(n), np.int64(least), np.int32(n_codes))
    _launch(device, "count_labels", n, *_typed(labels), *given, counts)
    return device.fetch(counts).astype(np.int64)


def label_numbers(device: Device, labels: Any, least: int, numbers: NDArray[np.uint32]) -> Any:
    """Return the number of each label in a table that begins with that of `least`."""
    n = len(labels)
    narrow = int(numbers.max(initial=0)) <= np.iinfo(np.uint8).max
    out = device.xp.empty(n, dtype=np.uint8 if narrow else np.uint32)
    given = (np.int64(n), np.int64(least), device.put(numbers), np.int32(1 if narrow else 4))
    _launch(device, "number_labels", n, *_typed(labels), *given, out.view(np.uint8))
    return out


def row_labels(device: Device, class_offsets: NDArray[np.int64]) -> Any:
    """Return the class of each row, int32, if rows are grouped by class."""
    n = int(class_offsets[-1])
    out = device.xp.empty(n, dtype=np.int32)
    given = (device.put(class_offsets), np.int32(len(class_offsets) - 1), np.int64(n))
    _launch(device, "row_labels", n, *given, out)
    return out


def constant(device: Device, value: np.float32 | np.int32, n: int) -> Any:
    """Return an array of n equal numbers of four bytes."""
    out = device.xp.empty(n, dtype=value.dtype)
    word = np.array(value).view(np.uint32)[()]
    _launch(device, "fill_words", n, word, np.int64(n), out.view(np.uint32))
    return out


def lower_halves(device: Device, words: Any) -> Any:
    """Return the lower 32 bits of numbers of 64 bits."""
    out = device.xp.empty(words.shape, dtype=np.uint32)
    _launch(device, "lower_halves", words.size, words, np.int64(words.size), out)
    return out


def hash_rows(
    device: Device, bins: Any, class_offsets: NDArray[np.int64], tables: HashTables
) -> Any:
    """Return the hashes of rows that are grouped by class; bins by feature, on the device."""
    n_features, n = (int(length) for length in bins.shape)
    out = device.xp.empty(n, dtype=np.uint64)
    _launch(
        device,
        "hash_rows",
        n,
        device.xp.ascontiguousarray(bins).view(np.uint8),
        np.int32(bins.dtype.itemsize),
        np.int64(n),
        np.int32(n_features),
        device.put(class_offsets),
        np.int32(len(class_offsets) - 1),
        device.put(tables.of_class),
        device.put(tables.of_bin),
        device.put(tables.begins),
        out,
    )
    return out


def has_repeats(device: Device, ordered: Any) -> bool:
    """Return whether a sorted array holds a number of 64 bits twice."""
    found = device.put(np.zeros(1, dtype=np.int32))
    n = len(ordered)
    _launch(device, "find_repeats", n, ordered, np.int64(n), found)
    return bool(device.fetch(found)[0])


def rows_below(
    device: Device,
    hashes: Any,
    class_offsets: NDArray[np.int64],
    bounds: NDArray[np.uint64],
) -> Any:
    """Return the rows whose hash is below the bound of their class, ascending, int64."""
    n = len(hashes)
    n_stretches = max(1, -(-n // _BELOW_STRETCH))
    classes = (device.put(class_offsets), np.int32(len(bounds)), device.put(bounds))
    given = (hashes, np.int64(n), *classes)
    firsts = device.xp.empty(n_stretches, dtype=np.int64)
    device.kernel(FILE, "count_below")(n_stretches, _THREADS, *given, firsts)
    n_rows = int(scan_counts(device, firsts, n_stretches)[-1])
    rows = device.xp.empty(n_rows, dtype=np.int64)
    device.kernel(FILE, "write_below")(n_stretches, _THREADS, *given, firsts, rows)
    return rows


def scan_counts(device: Device, counts: Any, step: int) -> NDArray[np.int64]:
    """Replace counts by the sums of those before; return every `step`th, and the sum of all."""
    n = len(counts)
    firsts = device.xp.empty(n // step + 1, dtype=np.int64)
    kernel = device.kernel(FILE, "scan_counts")
    kernel(1, _SCAN_THREADS, counts, np.int64(n), np.int64(step), firsts)
    return device.fetch(firsts)


def _typed(labels: Any) -> tuple[Any, np.int32]:
    """Return labels as kernels read them, and the number of their type."""
    if labels.dtype.kind == "b":
        labels = labels.view(np.uint8)
    return labels, np.int32(_TYPES.index(labels.dtype.str[1:]))


def _launch(device: Device, name: str, n: int, *arguments: Any) -> None:
    blocks = min(-(-n // _THREADS), _BLOCKS_A_PROCESSOR * device.n_processors)
    device.kernel(FILE, name)(max(1, blocks), _THREADS, *arguments)
