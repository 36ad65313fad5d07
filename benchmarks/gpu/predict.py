"""How many rows per second a model predicts where rows and predictions stay on a GPU.

    python benchmarks/gpu/predict.py OUT.json [--rows 20000000] [--trees 100] [--repeats 5]
        [--commit HASH]

The model is fitted to covtype (from MARGINBOOST_DATA; without that, to drawn rows of its shape), and
predicts its rows, repeated up to the wanted number. A sample is compared with the host's bits.
"""

import argparse
import functools
import json
import platform
import sys
import time
from pathlib import Path

import cupy as cp
import numpy as np
from source_commit import source_commit

sys.path.append(str(Path(__file__).parents[1]))

import data

from marginboost import MarginBoostClassifier

METHODS = ("predict", "predict_proba", "decision_function")
SAMPLE = 100_000


def rows_to_learn():
    """Return covtype, or drawn rows of its shape, and which it is."""
    if data.path_of("covtype").is_file():
        X, y, _ = data.read("covtype")
        return np.asarray(X, dtype=np.float32), np.asarray(y), "covtype"
    rng = np.random.default_rng(0)
    y = rng.integers(0, 7, 464_809)
    X = rng.standard_normal((len(y), 54), dtype=np.float32)
    X[:, :10] += rng.standard_normal((7, 10), dtype=np.float32)[y]
    X[:, 10:] = X[:, 10:] > 1
    return X, y, "drawn, with the shape of covtype"


def seconds(action, repeats) -> list[float]:
    """Time an action; the first time, which compiles, comes before the others."""
    found = []
    for _ in range(repeats + 1):
        cp.cuda.Device().synchronize()
        began = time.perf_counter()
        action()
        cp.cuda.Device().synchronize()
        found.append(time.perf_counter() - began)
    return found


def measured(model, rows, arguments) -> dict:
    """Return the rows per second of each method, and whether a sample has the bits of the host."""
    found = {}
    sample = rows[:SAMPLE].copy(order="K")
    for method in METHODS:
        predict = getattr(model, method)
        took = seconds(functools.partial(predict, rows), arguments.repeats)
        same = np.array_equal(cp.asnumpy(predict(sample)), predict(cp.asnumpy(sample)))
        found[method] = {
            "first_s": took[0],
            "seconds": took[1:],
            "rows_per_s": arguments.rows / float(np.median(took[1:])),
            "bits_of_the_host": bool(same),
        }
        print(method, json.dumps(found[method]), flush=True)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--rows", type=int, default=20_000_000)
    parser.add_argument("--trees", type=int, default=100)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--commit", default="")
    arguments = parser.parse_args()
    result = {
        "gpu": cp.cuda.runtime.getDeviceProperties(0)["name"].decode(), "cupy": cp.__version__,
        "python": platform.python_version(), "commit": source_commit(arguments.commit),
        "rows": arguments.rows, "trees": arguments.trees,
    }  # fmt: skip
    X, y, result["data"] = rows_to_learn()
    model = MarginBoostClassifier(arguments.trees, random_state=0, device="cuda")
    model.fit(cp.asarray(X), cp.asarray(y))
    ensemble = model.ensemble_
    result["leaves"], result["features"] = len(ensemble.leaf_value), X.shape[1]
    there = cp.asarray(X)
    there = cp.tile(there, (-(-arguments.rows // len(X)), 1))[: arguments.rows]
    result["layouts"] = {"by row": measured(model, there, arguments)}
    arguments.out.write_text(json.dumps(result, indent=1) + "\n")
    there = cp.asfortranarray(there)
    result["layouts"]["by column"] = measured(model, there, arguments)
    arguments.out.write_text(json.dumps(result, indent=1) + "\n")
    if not all(row["bits_of_the_host"] for of in result["layouts"].values() for row in of.values()):
        raise SystemExit("The device's predictions are not the host's.")


if __name__ == "__main__":
    main()
