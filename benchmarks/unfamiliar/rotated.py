"""Rotated columns: does it help to add the principal components of the numbers as columns?

    python -m benchmarks.unfamiliar.rotated run|report [--sets SET ...] [--out FILE]

Trees divide along the columns. Where classes lie along other directions, such columns could spare them
many steps. On study sets and on training parts of the fourteen sets, at most 4,000 rows in three folds:
"rotated" has these columns beside the others, "both" is the mean of its scores and those of a plain fit,
and "twice" that of two plain fits, which has as many trees as "both". The numbers are scaled to mean 0
and variance 1, within three standard deviations.
"""

import argparse
import json
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.decomposition import PCA

from benchmarks.unfamiliar import contest, problems
from benchmarks.unfamiliar.libraries import fingerprint
from marginboost import MarginBoostClassifier

FILE = Path(__file__).with_name("rotated.json")
SETS = (
    *("vowel", "vehicle", "column3C", "ecoli", "heart_c", "contraceptive", "yeast", "tae"),
    *("balance_scale", "segment", "cardiotocography10", "mfeat_zernike", "waveform"),
    *("wine_quality_white", "avila", "student_dropout", "sleep", "pendigits", "satimage", "letter"),
    *("krkopt", "abalone_rings", "hypothyroid", "thyroid0387", "flags", "covtype"),
)
MOST_ROWS, FOLDS, MOST_COMPONENTS, MOST_DEVIATIONS = 4_000, 3, 30, 3.0
WAYS = ("rotated", "both", "twice")


def rotated(X: pd.DataFrame, X_test: pd.DataFrame) -> list[pd.DataFrame]:
    """Return both with columns for the principal components of the first."""
    numbers = X.columns[(X.dtypes != "category") & (X.nunique() > 2)]
    mean, deviation = X[numbers].mean(), X[numbers].std().replace(0.0, 1.0)
    scaled = [
        ((one[numbers] - mean) / deviation).clip(-MOST_DEVIATIONS, MOST_DEVIATIONS).fillna(0.0)
        for one in (X, X_test)
    ]
    components = PCA(min(len(numbers), MOST_COMPONENTS), random_state=0).fit(scaled[0])
    return [
        pd.concat([one, _columns(components.transform(values), one.index)], axis=1)
        for one, values in zip((X, X_test), scaled, strict=True)
    ]


def _columns(values, index):
    return pd.DataFrame(values, index, [f"component {n}" for n in range(values.shape[1])])


def fitted_logs(X, y, X_test, seed: int) -> tuple[np.ndarray, float]:
    """Return logarithms of the probabilities of test rows, and processor seconds."""
    began = time.process_time()
    model = MarginBoostClassifier(random_state=seed, n_jobs=1).fit(X, y)
    seconds = time.process_time() - began
    return np.log(np.clip(model.predict_proba(X_test), 1e-9, None)), seconds


def counted(logs: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return the number of errors, and the sum of the log losses."""
    logs = logs - np.logaddexp.reduce(logs, axis=1, keepdims=True)
    return np.array([(logs.argmax(axis=1) != y).sum(), -logs[np.arange(len(y)), y].sum()])


def measure(name: str) -> dict:
    problem = problems.load(name)
    rows = np.arange(len(problem.y))
    if len(rows) > MOST_ROWS:
        rows = np.random.default_rng(0).choice(rows, MOST_ROWS, replace=False)
    X, y, fold = problem.X.iloc[rows], problem.y[rows], problem.fold[rows]
    sums = {way: np.zeros(2) for way in ("plain", *WAYS)}
    tested, seconds = 0, np.zeros(2)
    for number in range(FOLDS):
        learned, test = fold != number, fold == number
        if len(np.unique(y[learned])) <= y.max():
            continue  # a class without a row
        X_test, y_test = X[test], y[test]
        plain, own = fitted_logs(X[learned], y[learned], X_test, 0)
        again, _ = fitted_logs(X[learned], y[learned], X_test, 1)
        X_turned, X_test_turned = rotated(X[learned], X_test)
        turned, more = fitted_logs(X_turned, y[learned], X_test_turned, 0)
        found = {
            "plain": plain,
            "rotated": turned,
            "both": (plain + turned) / 2,
            "twice": (plain + again) / 2,
        }
        for way, logs in found.items():
            sums[way] += counted(logs, y_test)
        tested += int(test.sum())
        seconds += own, more
    return {
        "rows": tested,
        "seconds_over_plain": round(float(seconds[1] / seconds[0]), 2),
        **{way: [int(both[0]), float(both[1])] for way, both in sums.items()},
    }


def run(names, out: Path) -> None:
    warnings.simplefilter("ignore")
    here = {**contest.source(), "build": fingerprint()}
    kept = json.loads(out.read_text()) if out.is_file() else {"results": {}}
    for name in names:
        kept["source"] = here
        kept["results"][name] = measure(name)
        out.write_text(json.dumps(kept, indent=0, sort_keys=True) + "\n")
        print(name, json.dumps(kept["results"][name]), flush=True)


def ratios(results: dict, way: str) -> dict[str, np.ndarray]:
    """Return error and log loss over those of a plain fit, by set."""
    return {
        name: (np.array(one[way]) + 0.5) / (np.array(one["plain"]) + 0.5)
        for name, one in results.items()
    }


def report(results: dict) -> str:
    lines = ["| set | " + " | ".join(WAYS) + " |", "|---|" + "---:|" * len(WAYS)]
    of_way = {way: ratios(results, way) for way in WAYS}
    for name in results:
        cells = ["{:.3f}, {:.3f}".format(*of_way[way][name]) for way in WAYS]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    means = [np.exp(np.mean([np.log(r) for r in of_way[way].values()], axis=0)) for way in WAYS]
    lines.append(
        "| geometric mean | " + " | ".join("{:.3f}, {:.3f}".format(*m) for m in means) + " |"
    )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("do", choices=("run", "report"))
    parser.add_argument("--sets", nargs="+", default=SETS)
    parser.add_argument("--out", type=Path, default=FILE)
    options = parser.parse_args()
    if options.do == "run":
        run(options.sets, options.out)
    print(report(json.loads(options.out.read_text())["results"]))


if __name__ == "__main__":
    main()
