"""Wide data: what fewer bins, and fewer columns per tree, do to a fit with defaults.

    python -m benchmarks.unfamiliar.wide run|report [--sets SET ...] [--out FILE]

Default fits of hundreds of columns take long. Training parts of the fourteen sets and a study set, of
which at most so many rows are drawn as the name says: two thirds to learn from, one to test on. In
"noise:ROWS:COLUMNS:INFORMATIVE", made by scikit-learn, a few columns matter and the others are noise.
One thread; processor seconds.
"""

import argparse
import json
import time
import warnings
from pathlib import Path

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.datasets import make_classification
from sklearn.model_selection import train_test_split

from benchmarks import data
from benchmarks.unfamiliar import contest
from benchmarks.unfamiliar.libraries import fingerprint
from marginboost import MarginBoostClassifier

FILE = Path(__file__).with_name("wide.json")
SETS = (
    *("usps:2250", "usps", "isolet:2250", "isolet", "mnist:2250", "mnist:6000", "dna"),
    *("clinc150:4500", "reuters_r52_counts:3000", "noise:3000:1000:5", "noise:6000:400:6"),
)
LEAST_ROWS_PER_CLASS = 4
WAYS = {
    "as it is": {},
    "64 bins": {"max_bins": 64},
    "15 % of the columns": {"max_features": 0.15},
    "both": {"max_bins": 64, "max_features": 0.15},
}


def rows_of(name: str):
    """Return rows to learn from and rows to test on: X, y, X, y."""
    name, *numbers = name.split(":")
    sizes = [int(number) for number in numbers]
    if name == "noise":
        n_rows, n_columns, n_informative = sizes
        X, y = make_classification(
            n_rows, n_columns, n_informative=n_informative, n_redundant=0, n_classes=4,
            flip_y=0.05, random_state=0,
        )  # fmt: skip
    else:
        X, y = _training_part(name)
        if sizes:
            X, y = _drawn(X, y, sizes[0])
    learned, tested = train_test_split(
        np.arange(len(y)), train_size=2 / 3, stratify=y, random_state=0
    )
    return X[learned], y[learned], X[tested], y[tested]


def _training_part(name: str):
    if name == "clinc150":
        with np.load(data.path_of("study/clinc150_bow")) as file:
            learned = file["split"] == 0
            return _without_rare(csr_matrix(file["X"][learned]), file["y"][learned])
    X, y, test = data.read(name)
    learned = np.ones(len(y), bool) if test is None else ~test
    X = X[learned]
    return _without_rare(X if hasattr(X, "tocsr") else X.reshape(len(X), -1), y[learned])


def _drawn(X, y, n_rows: int):
    kept, _ = train_test_split(np.arange(len(y)), train_size=n_rows, stratify=y, random_state=0)
    return _without_rare(X[kept], y[kept])


def _without_rare(X, y):
    labels = np.unique(y, return_inverse=True)[1]
    kept = np.bincount(labels)[labels] >= LEAST_ROWS_PER_CLASS
    return X[kept].astype(np.float32), np.unique(labels[kept], return_inverse=True)[1]


def measure(name: str, settings: dict) -> dict:
    """Fit once; return errors, log loss and time."""
    X, y, X_test, y_test = rows_of(name)
    began = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = MarginBoostClassifier(n_jobs=1, random_state=0, **settings).fit(X, y)
    seconds = time.process_time() - began
    shares = np.clip(model.predict_proba(X_test), 1e-15, None)
    return {
        "shape": [len(y), X.shape[1], int(y.max()) + 1],
        "wrong": int((shares.argmax(axis=1) != y_test).sum()),
        "rows": len(y_test),
        "log_loss": float(-np.log(shares[np.arange(len(y_test)), y_test]).mean()),
        "seconds": round(seconds, 2),
        "parts": [[part["name"], part["n_estimators"]] for part in model.chosen_["parts"]],
    }


def run(names, out: Path) -> None:
    for name in names:
        for way, settings in WAYS.items():
            kept = json.loads(out.read_text()) if out.is_file() else {"results": {}}
            key = f"{name}/{way}"
            if key in kept["results"]:
                continue
            kept["results"][key] = measure(name, settings)
            kept["source"] = {**contest.source(), "build": fingerprint()}
            out.write_text(json.dumps(kept, indent=0, sort_keys=True) + "\n")
            print(key, json.dumps(kept["results"][key]), flush=True)


def report(results: dict) -> str:
    """Return geometric means of errors, log losses and seconds over those of fits as they are."""
    lines = ["| sets | way | error | log loss | time |", "|---|---|---:|---:|---:|"]
    plain = next(iter(WAYS))
    names = sorted({key.split("/")[0] for key in results})
    for made, title in ((False, "real"), (True, "noise columns")):
        own = [name for name in names if name.startswith("noise") == made]
        for way in list(WAYS)[1:]:
            pairs = [(results[f"{name}/{way}"], results[f"{name}/{plain}"]) for name in own]
            ratios = [
                [(a["wrong"] + 0.5) / (b["wrong"] + 0.5)]
                + [a[what] / b[what] for what in ("log_loss", "seconds")]
                for a, b in pairs
            ]
            means = np.exp(np.log(ratios).mean(axis=0))
            lines.append(
                f"| {len(own)} {title} | {way} | " + " | ".join(f"{m:.2f}" for m in means) + " |"
            )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("do", choices=("run", "report"))
    parser.add_argument("--sets", nargs="+", default=SETS)
    parser.add_argument("--out", type=Path, default=FILE)
    args = parser.parse_args()
    if args.do == "run":
        run(args.sets, args.out)
    print(report(json.loads(args.out.read_text())["results"]))


if __name__ == "__main__":
    main()
