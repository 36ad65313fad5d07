"""How much memory a fit will take, and how much there is."""

from __future__ import annotations

import ctypes
import os
import sys
from pathlib import Path

GIB = 1024**3
# What histograms of vector-leaf trees may take, as in native/src/trees/node_search.cpp.
KEPT_HISTOGRAMS = 1 << 24


def fit_bytes(
    n_rows: int, n_features: int, n_classes: int, n_columns: int, *, wide: bool, trees: bool
) -> int:
    """Estimate the peak memory of a fit, beside X itself.

    Parameters
    ----------
    n_rows, n_features, n_classes : int
        Shape of the problem.
    n_columns : int
        Weights that the method keeps for a row.
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
    return bins + _weight_bytes(n_rows, n_classes, n_columns, trees=trees)


def tree_fit_bytes(
    n_rows: int,
    n_features: int,
    n_entries: int,
    *,
    lanes: int,
    wide: bool,
    sparse: bool,
    n_fits: int,
) -> int:
    """Estimate the peak memory of a fit of vector-leaf trees, beside X itself.

    Parameters
    ----------
    n_rows, n_features, n_entries : int
        Shape of the problem, and values of X (stored ones, where it is sparse).
    lanes : int
        Numbers of four bytes that are kept for a row: exponentials and direction.
    wide : bool
        Whether bins may need two bytes.
    sparse : bool
        Whether X is sparse.
    n_fits : int
        Fits that run side by side.

    Returns
    -------
    int
        Bytes. Where X is sparse but not CSR with sorted indices, a copy of it comes on top.
    """
    # Lists of rows by node, the rows' leaves, hashes and marks; and histograms that are kept.
    boosting = n_fits * (n_rows * (4 * lanes + 40) + KEPT_HISTOGRAMS)
    if not sparse:
        # A bin a value; columns that are mostly one bin are kept a second time, as lists of the rest.
        return n_entries * (3 if wide else 2) + boosting
    # A row's number and a bin an entry; a feature's offset, bin of zero and array of thresholds.
    binned = n_entries * (6 if wide else 5) + n_features * 200
    # While thresholds are found nothing is boosted, but each entry's row and value are held.
    binning = n_entries * 12 + n_features * 40 + n_rows * 17
    return binned + max(binning, boosting)


def validation_bytes(
    n_rows: int, n_training: int, n_features: int, n_classes: int, *, given: bool
) -> int:
    """Estimate what validation rows take in a fit.

    Parameters
    ----------
    n_rows, n_training, n_features, n_classes : int
        Numbers of validation rows, of all rows that are fitted, and so on.
    given : bool
        Whether they came with the fit, and are in memory already, or are taken from its rows.
    """
    # Scores, their differences from the own class's, and a few temporaries of that size.
    scores = n_rows * n_classes * 8 * 6
    if given or not n_rows:
        return scores
    # Their values, and a copy of the bins of those that are left.
    return scores + (8 * n_rows + n_training) * n_features


def _weight_bytes(n_rows: int, n_classes: int, n_columns: int, *, trees: bool) -> int:
    """Estimate what a fit takes beside the binned matrix."""
    lanes = 4 if n_columns <= 4 else 8 if n_columns <= 8 else 16
    padded = -(-n_columns // lanes) * lanes
    per_row = 8 * n_columns + 4 * padded + 25 + (12 if trees else 0)
    # Sums by side, class and column; the balancing matrix and its transpose; their temporaries.
    per_pair = 8 * 8
    return n_rows * per_row + n_classes * n_columns * per_pair


def available_bytes() -> int | None:
    """Memory this process can still take, or None where the system does not say."""
    found = [
        value for value in (_system_available(), _control_group_available()) if value is not None
    ]
    return min(found) if found else None


def check_memory(
    needed: int, what: str, available: int | None = None, kind: str = "memory"
) -> None:
    """Raise ValueError if `needed` bytes are more than there are left.

    Parameters
    ----------
    needed : int
        Bytes.
    what : str
        What they are for.
    available : int or None
        Bytes that are left; None: ask the system.
    kind : str
        What kind of memory it is.
    """
    available = available_bytes() if available is None else available
    if available is not None and needed > available:
        raise ValueError(
            f"This fit needs about {_in_words(needed)} of {kind} ({what}), and "
            f"{_in_words(available)} is available; use fewer rows or classes, set max_bins to "
            f"255 or less if it is not, or take a machine with more {kind}."
        )


def _in_words(size: int) -> str:
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
