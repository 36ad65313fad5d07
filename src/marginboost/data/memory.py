"""The memory that a fit needs, and the memory that is available."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Callable
from pathlib import Path

GIB = 1024**3
# Bytes of cached histograms of vector-leaf trees, as in native/src/trees/node_search.cpp.
KEPT_HISTOGRAMS = 1 << 24


def fit_bytes(
    n_rows: int, n_features: int, n_classes: int, n_outputs: int, *, wide: bool, trees: bool
) -> int:
    """Estimate the peak memory of a fit, besides X itself.

    Parameters
    ----------
    n_rows, n_features, n_classes : int
        Shape of the problem.
    n_outputs : int
        Number of weights that the method keeps per row.
    wide : bool
        Whether bins may need two bytes.
    trees : bool
        Whether weak classifiers are deeper than stumps.

    Returns
    -------
    int
        Bytes.
    """
    bins = n_rows * n_features * (2 if wide else 1)
    return bins + _weight_bytes(n_rows, n_classes, n_outputs, trees=trees)


def tree_fit_bytes(
    n_rows: int,
    n_features: int,
    n_entries: int,
    *,
    lanes: int,
    wide: bool,
    sparse: bool,
    n_fits: int,
    model_size: int = 0,
    held_out_size: float = 0.0,
) -> int:
    """Estimate the peak memory of a fit of vector-leaf trees, besides X itself.

    Parameters
    ----------
    n_rows, n_features, n_entries : int
        Shape of the problem, and number of values in X (of stored values if X is sparse).
    lanes : int
        Four-byte numbers that are kept per row: exponentials and direction.
    wide : bool
        Whether bins may need two bytes.
    sparse : bool
        Whether X is sparse.
    n_fits : int
        Number of fits that run side by side.
    model_size : int
        Number of leaves of the model, times the number of classes.
    held_out_size : float
        Number of rows that calibration holds out, times the number of classes.

    Returns
    -------
    int
        Bytes. If X is sparse but not CSR with sorted indices, a copy of it comes on top.
    """
    # A leaf's number per class is in the block of its tree and again in the array of all trees.
    # Calibration has exponentials of four bytes; their logarithms, and six arrays of that size.
    rest = 16 * model_size + round(56 * held_out_size)
    # Lists of rows per node, the rows' leaves, hashes and marks; and cached histograms.
    boosting = n_fits * (n_rows * (4 * lanes + 40) + KEPT_HISTOGRAMS)
    if not sparse:
        # One bin per value; columns dominated by one bin are stored again, as lists of the other rows.
        return rest + n_entries * (3 if wide else 2) + boosting
    # Per entry, a row number and a bin; per feature, an offset, the bin of zero and the thresholds.
    binned = n_entries * (6 if wide else 5) + n_features * 200
    # Boosting starts after the search for thresholds, which holds each entry's row and value.
    binning = n_entries * 12 + n_features * 40 + n_rows * 17
    return rest + binned + max(binning, boosting)


def validation_bytes(
    n_rows: int, n_training: int, n_features: int, n_classes: int, *, given: bool
) -> int:
    """Estimate the memory that validation rows need in a fit.

    Parameters
    ----------
    n_rows, n_training, n_features, n_classes : int
        Numbers of validation rows, of training rows, of features and of classes.
    given : bool
        Whether the user passed the rows, so that they are in memory already, or they are held out.
    """
    # Scores, their differences from the score of the row's class, and a few temporaries of that size.
    scores = n_rows * n_classes * 8 * 6
    if given or not n_rows:
        return scores
    # Their values, and a copy of the bins of the remaining rows.
    return scores + (8 * n_rows + n_training) * n_features


def _weight_bytes(n_rows: int, n_classes: int, n_outputs: int, *, trees: bool) -> int:
    """Estimate the memory of a fit besides the binned matrix."""
    lanes = 4 if n_outputs <= 4 else 8 if n_outputs <= 8 else 16
    padded = -(-n_outputs // lanes) * lanes
    per_row = 8 * n_outputs + 4 * padded + 25 + (12 if trees else 0)
    # Sums by side, class and output; the balancing matrix and its transpose; their temporaries.
    per_pair = 8 * 8
    return n_rows * per_row + n_classes * n_outputs * per_pair


def available_bytes() -> int | None:
    """Return the memory that this process can still allocate, or None if that is unknown."""
    found = [
        value for value in (_system_available(), _control_group_available()) if value is not None
    ]
    return min(found) if found else None


def check_memory(
    needed: int, describe: Callable[[], str], available: int | None = None, kind: str = "memory"
) -> None:
    """Raise ValueError if more bytes are needed than available.

    Parameters
    ----------
    needed : int
        Bytes.
    describe : callable
        Says what they are needed for.
    available : int or None
        Available bytes; None: ask the system.
    kind : str
        The kind of memory.
    """
    available = available_bytes() if available is None else available
    if available is not None and needed > available:
        raise ValueError(
            f"This fit needs about {in_words(needed)} of {kind} ({describe()}), but only "
            f"{in_words(available)} is available. Use fewer rows or classes, set max_bins to 255 or "
            f"less, or use a machine with more {kind}."
        )


def in_words(size: int) -> str:
    """Write a number of bytes, for a message."""
    return f"{size / GIB:,.1f} GiB" if size >= GIB / 10 else f"{size / 1024**2:,.1f} MiB"


def _system_available() -> int | None:
    if sys.platform == "linux":
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
        return None
    if sys.platform == "win32":
        return _windows_available()
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError):
        return None


def _control_group_available() -> int | None:
    for limit_file, usage_file in (
        ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
        (
            "/sys/fs/cgroup/memory/memory.limit_in_bytes",
            "/sys/fs/cgroup/memory/memory.usage_in_bytes",
        ),
    ):
        try:
            limit = Path(limit_file).read_text().strip()
            usage = Path(usage_file).read_text().strip()
        except OSError:
            continue
        if limit.isdigit() and usage.isdigit():
            return max(0, int(limit) - int(usage))
    return None


def _windows_available() -> int | None:  # pragma: no cover
    class Status(ctypes.Structure):
        _fields_ = [("length", ctypes.c_ulong), ("load", ctypes.c_ulong)] + [
            (name, ctypes.c_ulonglong) for name in ("total", "available", "b", "c", "d", "e", "f")
        ]

    status = Status(length=ctypes.sizeof(Status))
    kernel = getattr(ctypes, "windll").kernel32  # noqa: B009 - absent elsewhere, as mypy knows
    return int(status.available) if kernel.GlobalMemoryStatusEx(ctypes.byref(status)) else None
