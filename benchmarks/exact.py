"""The exact search against 255 bins, on features whose values are all different.

One bin per value makes histograms as long as the data, which no longer fit in the cache. The time
is that of a whole search (fill and scan). There is no bound: it shows the cost of exactness.
"""

import data
from report import Report
from timing import interleaved, loaded_engine

from marginboost.data.training_set import make_training_set

FEATURES = 16


def run(quick: bool) -> Report:
    report = Report(
        "Exact search and 255 bins on continuous features",
        ("rows", "classes", "threads", "exact ns/(row, feature)", "255 bins", "ratio"),
    )
    seconds = 0.1 if quick else 0.4
    for rows in (2000, 10_000, 50_000):
        for classes in (8, 16, 32):
            cases = {bins: _training_set(rows, classes, bins) for bins in (None, 255)}
            for threads in (1, 2):
                engines = {bins: loaded_engine(case, threads) for bins, case in cases.items()}
                best = interleaved({b: e.best_stump for b, e in engines.items()}, seconds=seconds)
                exact, binned = (1e9 * best[b] / (rows * FEATURES) for b in (None, 255))
                report.rows.append((rows, classes, threads, exact, binned, exact / binned))
    return report


def _training_set(rows, classes, max_bins):
    X, y = data.blobs(rows, FEATURES, classes)
    return make_training_set(
        X, y, classes, sample_weight=None, class_weight=None, max_bins=max_bins, n_threads=1
    )
