"""Peak memory of fits of covtype, ours and LightGBM's, in addition to X and y.

    python benchmarks/covtype_memory.py OUT.json [--repeats 3]

Each fit is the first of a new process, with two threads; memory is the peak during the fit less what the
process had before, the median of the repeats. 100,000 rows are those of the comparison in
docs/benchmarks.md. Ten rounds will do: none of the later ones needs more, but for its trees. Threads of
LightGBM sleep while they wait (OMP_WAIT_POLICY), so that a busy machine does not matter. Set
MARGINBOOST_DATA.
"""

import argparse
import ctypes
import gc
import json
import os
import subprocess
import sys
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from statistics import median
from time import perf_counter

import data
import numpy as np
from peak import peak, restarted_peak
from report import Claim, Report
from sklearn.model_selection import train_test_split

MB = 1e6
# Rows and rounds.
CASES = ((100_000, 10), (464_809, 10))
VARIABLES = os.environ | {"OMP_NUM_THREADS": "2", "OMP_WAIT_POLICY": "PASSIVE"}
LIBRARIES = ("marginboost", "marginboost, calibrated", "LightGBM")
# Where training decides for itself, rounds included: of the fewest rows only.
DECIDING = "marginboost, deciding for itself"


def make(library: str, rounds: int):
    if library == "LightGBM":
        kind = import_module("lightgbm").LGBMClassifier
        return kind(n_estimators=rounds, n_jobs=2, verbosity=-1)
    kind = import_module("marginboost").MarginBoostClassifier
    if library == DECIDING:
        return kind(n_jobs=2, random_state=0)
    return kind(rounds, calibrate="calibrated" in library, n_jobs=2, random_state=0)


def child(library: str, rows: int, rounds: int) -> None:
    """Fit once; print the bytes and the seconds."""
    X, y, _ = data.read("covtype")
    X, _, y, _ = train_test_split(X, y, train_size=rows, random_state=0, stratify=y)
    X, y = np.ascontiguousarray(X, dtype=np.float32), np.unique(y, return_inverse=True)[1]
    model = make(library, rounds)
    gc.collect()
    with suppress(AttributeError):  # what is free already must not hide what the fit takes
        ctypes.CDLL(None).malloc_trim(0)
    before = restarted_peak()
    start = perf_counter()
    model.fit(X, y)
    print(json.dumps({"bytes": peak() - before, "seconds": perf_counter() - start}))


def main() -> int:
    if sys.argv[1:2] == ["--child"]:
        child(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
        return 0
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    began = perf_counter()
    report = Report("Peak memory of fits of covtype, MB", ("library", "rows", "rounds", "MB"))
    details = {}
    for rows, rounds in CASES:
        used = {}
        for library in (DECIDING, *LIBRARIES) if rows == CASES[0][0] else LIBRARIES:
            command = [sys.executable, __file__, "--child", library, str(rows), str(rounds)]
            found = [
                json.loads(subprocess.check_output(command, env=VARIABLES))
                for _ in range(options.repeats)
            ]
            details[f"{library}, {rows} rows"] = found
            used[library] = median(one["bytes"] for one in found) / MB
            report.rows.append((library, rows, rounds, used[library]))
            print(report.rows[-1], flush=True)
        for library in LIBRARIES[:2]:
            text = f"{library}, {rows:,} rows, of LightGBM's"
            report.claims.append(Claim(text, used[library] / used["LightGBM"], 1.0))
    report.show()
    version = import_module("lightgbm").__version__
    report.write(options.out, perf_counter() - began, False, {"fits": details, "lightgbm": version})
    return 0


if __name__ == "__main__":
    sys.exit(main())
