"""What parts of the tuner are worth, on study sets, without a clock.

    python -m benchmarks.unfamiliar.tuner_parts run [--sets SET ...] [--seeds SEED ...]
    python -m benchmarks.unfamiliar.tuner_parts report

The tuner has time for all that it does, so other work on the machine changes nothing. At most 1,500
rows of a set, or 70 %, are learned from, and at most 6,000 others are predicted. Measured are the fits
of folds alone, and these with fits of all rows. In a set whose name ends in "+c", columns with at most
16 numbers are categories.

"all with indicators" in the results is what settings with columns of 0 and 1 for categories gave, at the
commit that the file names. They were taken out again: the gain did not hold.
"""

import argparse
import json
import time
import warnings
from copy import copy
from pathlib import Path

import numpy as np
from sklearn.model_selection import train_test_split

from benchmarks.unfamiliar import catalogue, contest, problems
from benchmarks.unfamiliar.libraries import fingerprint
from marginboost.estimators import marginboost_cv as tuner

MOST_ROWS, MOST_TESTED = 1_500, 6_000
LEAST_ROWS_PER_CLASS = 5
MOST_CODES = 16
FILE = Path(__file__).with_name("tuner_parts.json")
SETS = (
    *("primary_tumor", "flags", "bridges_version1", "dermatology", "solar_flare2"),
    *("contraceptive+c", "soybean+c", "diabetes130", "yeast", "ecoli", "column3C"),
    *("student_dropout", "heart_c", "led7digit", "fars", "zoo", "abalone_rings", "krkopt"),
    *("wine_quality_white", "car", "thyroid0387"),
)
PAIRS = {
    "fits of all rows": ("folds", "all"),
    "indicators": ("all", "all with indicators"),
    "both, where there are categories": ("folds", "all with indicators"),
}


def rows_of(name: str, seed: int):
    """Return rows to learn from and rows to test on: X, y, X, y."""
    X, y = catalogue.read(name.removesuffix("+c"))
    if name.endswith("+c"):
        codes = [column for column in X if X[column].nunique() <= MOST_CODES]
        X = X.assign(**{c: X[c].map(lambda v: f"v{v}", na_action="ignore") for c in codes})
    X, y = problems._without_rare(problems._typed(X), y)
    labels = np.unique(y.to_numpy(), return_inverse=True)[1]
    learned, tested = train_test_split(
        np.arange(len(y)),
        train_size=min(MOST_ROWS, int(0.7 * len(y))),
        stratify=labels,
        random_state=seed,
    )
    enough = np.flatnonzero(np.bincount(labels[learned]) >= LEAST_ROWS_PER_CLASS)
    learned, tested = (
        np.sort(rows[np.isin(labels[rows], enough)]) for rows in (learned, tested[:MOST_TESTED])
    )
    labels = np.searchsorted(enough, labels)
    parts = [(X.iloc[rows].reset_index(drop=True), labels[rows]) for rows in (learned, tested)]
    return *parts[0], *parts[1]


def score(model, X, y) -> dict:
    shares = model.predict_proba(X)
    right = np.clip(shares[np.arange(len(y)), y], 1e-15, None)
    wrong = int((shares.argmax(axis=1) != y).sum())
    return {"wrong": wrong, "rows": len(y), "log_loss": float(-np.log(right).mean())}


def measure(name: str, seed: int) -> dict[str, dict]:
    """Tune once; return the scores of the fits of folds, and of all fits."""
    X, y, X_test, y_test = rows_of(name, seed)
    joined, real = [], tuner.join_models

    def join_models(*arguments):
        joined[:] = arguments
        return real(*arguments)

    tuner.join_models = join_models
    try:
        model = tuner.MarginBoostClassifierCV(1e6, n_jobs=1, random_state=seed)
        began = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(X, y)
        seconds = time.process_time() - began
    finally:
        tuner.join_models = real
    models, factors, *rest = joined
    # Each part has fits of folds, and behind them those of all rows.
    kept, place = [], 0
    for part in model.chosen_["parts"]:
        n_folds = part["fits"] - part["fits_of_all_rows"]
        kept += [(place + n, factors[place] * part["fits"] / n_folds) for n in range(n_folds)]
        place += part["fits"]
    folds = copy(model)
    folds.encoding_, folds.ensemble_, folds.probability_scale_ = real(
        [models[n] for n, _ in kept], [factor for _, factor in kept], *rest
    )
    names = [part["name"] for part in model.chosen_["parts"]]
    about = {"seconds": round(seconds, 1), "parts": names}
    return {"folds": score(folds, X_test, y_test), "all": score(model, X_test, y_test) | about}


def run(names, seeds, out: Path) -> None:
    for seed in seeds:
        for name in names:
            kept = json.loads(out.read_text()) if out.is_file() else {"results": {}}
            key = f"{name}/{seed}"
            if key in kept["results"]:
                continue
            found = measure(name, seed)
            kept["results"][key] = found
            kept["source"] = {**contest.source(), "build": fingerprint()}
            out.write_text(json.dumps(kept, indent=0, sort_keys=True) + "\n")
            print(key, json.dumps(found), flush=True)


def report(results: dict) -> str:
    """Return what each part is worth, for all sets and for two halves of them."""
    lines = ["| part | sets | error | lower, higher | log loss | lower, higher |"]
    lines.append("|---|---|---:|---:|---:|---:|")
    names = sorted({key.split("/")[0] for key in results})
    for part, (before, after) in PAIRS.items():
        for which, some in (("all", names), ("first half", names[::2]), ("other", names[1::2])):
            found = [_ratio(results, name, before, after) for name in some]
            ratios = np.array([one for one in found if one is not None])
            if not len(ratios):
                continue
            means = np.exp(ratios.mean(axis=0))
            counts = [f"{(r < -1e-12).sum()}, {(r > 1e-12).sum()}" for r in ratios.T]
            lines.append(
                f"| {part} | {which}: {len(ratios)} | {means[0]:.3f} | {counts[0]} "
                f"| {means[1]:.3f} | {counts[1]} |"
            )
    return "\n".join(lines)


def _ratio(results, name, before, after):
    """Return the logarithms of the ratios of error and of log loss, means over seeds."""
    found = []
    for key, one in results.items():
        if key.split("/")[0] == name and before in one and after in one:
            a, b = one[before], one[after]
            errors = (b["wrong"] + 0.5) / (a["wrong"] + 0.5)
            found.append(np.log([errors, b["log_loss"] / a["log_loss"]]))
    return np.mean(found, axis=0) if found else None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("do", choices=("run", "report"))
    parser.add_argument("--sets", nargs="+", default=SETS)
    parser.add_argument("--seeds", nargs="+", type=int, default=[20])
    parser.add_argument("--out", type=Path, default=FILE)
    args = parser.parse_args()
    if args.do == "run":
        run(args.sets, args.seeds, args.out)
    print(report(json.loads(args.out.read_text())["results"]))


if __name__ == "__main__":
    main()
