"""Peak memory of a fit, in addition to X and y.

Each case is a new process: it creates X and y, fits something tiny (so that imports and threads are
loaded), records its memory, fits, and records the peak since. The bound is 1.5 times the binned
matrix, plus four arrays of rows x classes in float32.
"""

import subprocess
import sys

import data
from peak import peak, restarted_peak
from report import Claim, Report

from marginboost import MCBoostClassifier

# Rows, features, classes.
CASES = ((200_000, 50, 10), (50_000, 100, 100), (500_000, 54, 7), (100_000, 30, 2))
MIB = 1024**2


def run(quick: bool) -> Report:
    report = Report(
        "Peak memory of a fit in addition to X and y, MiB (255 bins)",
        ("loss", "rows", "features", "classes", "bins", "four", "bound", "peak", "share", "looser"),
    )
    worst = 0.0
    for loss in ("exponential",) if quick else ("exponential", "logistic"):
        for shape in CASES:
            rows, features, classes = shape
            used = _peak_of_child(loss, *shape) / MIB
            bins, arrays = rows * features / MIB, 4 * rows * classes * 4 / MIB
            bound = 1.5 * bins + arrays
            worst = max(worst, used / bound)
            looser = used / (1.5 * (bins + arrays))
            report.rows.append((loss, *shape, bins, arrays, bound, used, used / bound, looser))
    report.notes.append("looser: share of 1.5 times bins and four arrays together.")
    report.claims = [Claim("peak memory, share of the bound", worst, 1.0)]
    return report


def _peak_of_child(loss, *shape):
    command = [sys.executable, __file__, loss, *map(str, shape)]
    return int(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)


def _measure(loss, rows, features, classes):
    """Peak of a fit of five rounds, in bytes."""
    X, y = data.blobs(rows, features, classes)
    model = MCBoostClassifier(5, loss=loss, max_bins=255)
    model.fit(X[: 20 * classes], y[: 20 * classes])
    before = restarted_peak()
    model.fit(X, y)
    return peak() - before


if __name__ == "__main__":
    print(_measure(sys.argv[1], *map(int, sys.argv[2:])))
