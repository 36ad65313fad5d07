"""Time per round as rows, features and classes grow, one at a time.

Normal clouds in 255 bins, one thread. A table starts with sizes whose weights fit in a last-level
cache of about 32 MiB: there a round has fixed costs, and a unit is cheaper than for larger sizes.
The bounds are on the last three sizes, which lie on one side of that step. The slope is that of
log(time) over log(size): 1 is linear.
"""

import data
import numpy as np
from report import Claim, Report
from timing import StopwatchClassifier

SLOPE, LAST = 1.1, 1.15
# Rows, features and classes; the one that grows is None.
RANGES = {
    "rows": ((None, 20, 10), (50_000, 100_000, 400_000, 800_000, 1_600_000)),
    "features": ((20_000, None, 10), (32, 64, 128, 256, 512)),
    "classes": ((20_000, 20, None), (32, 64, 250, 500, 1000)),
}


def run(quick: bool) -> Report:
    report = Report(
        "Time per round as the data grow",
        ("growing", "rows", "features", "classes", "ms/round", "ns per unit", "times linear"),
    )
    report.notes.append(
        "a unit is row x feature x class; times linear: relative to the line above."
    )
    model, repeats = StopwatchClassifier(8, max_bins=255, n_jobs=1), 2 if quick else 5
    for growing, (fixed, all_sizes) in RANGES.items():
        sizes = all_sizes[-3:] if quick else all_sizes
        shapes = [tuple(size if n is None else n for n in fixed) for size in sizes]
        seconds = [
            float(np.median(model.round_seconds(*data.blobs(*shape), repeats))) for shape in shapes
        ]
        growth = _add_rows(report, growing, shapes, seconds)
        slope = np.polyfit(np.log(sizes[-3:]), np.log(seconds[-3:]), 1)[0]
        report.claims += [
            Claim(f"slope in {growing}", float(slope), SLOPE),
            Claim(f"last step in {growing}, times linear", growth, LAST),
        ]
    return report


def _add_rows(report, growing, shapes, seconds):
    """Add a row per shape; return the last growth divided by that of the size."""
    before, growth = None, None
    for shape, taken in zip(shapes, seconds, strict=True):
        unit = taken / np.prod(shape, dtype=float)
        growth = None if before is None else unit / before
        report.rows.append((growing, *shape, 1e3 * taken, 1e9 * unit, growth))
        before = unit
    return growth
