"""Tuned: our tuner and other libraries tuned by Optuna, in the same time on the same machine.

    python -m benchmarks.unfamiliar.tuned run --seconds 60 [--sets SET ...] [--libraries NAME ...]
    python -m benchmarks.unfamiliar.tuned report

Needs an idle machine, since wall time is the budget; two threads each. The sets are, by a rule that
was fixed before anything was measured, the first twelve in the alphabet of the fresh ones with at
least three classes and 1,000 rows. The first fold of `problems` is the test part.

A peer is tuned by Optuna's TPE sampler on the log loss of three folds, with early stopping in each and
a median pruner between them, after a first trial at its defaults; the last tenth of the time is for a
fit on all rows with the best settings and the mean of the rounds of its folds.
"""

import argparse
import json
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype
from sklearn.model_selection import StratifiedKFold

from benchmarks.unfamiliar import catalogue, contest, problems
from benchmarks.unfamiliar.libraries import LIBRARIES, OURS, Library, fingerprint

THREADS = 2
FOLDS = 3
MOST_ROUNDS, PATIENCE = 2000, 50
SEARCH_SHARE = 0.9
N_SETS = 12
COMPARED = (OURS, "lightgbm", "xgboost", "catboost-100")
FILE = Path(__file__).with_name("tuned.json")


def lightgbm_settings(trial: Any) -> dict[str, Any]:
    return {
        "learning_rate": trial.suggest_float("learning_rate", 0.01, 0.3, log=True),
        "num_leaves": trial.suggest_int("num_leaves", 4, 256, log=True),
        "min_child_samples": trial.suggest_int("min_child_samples", 1, 100, log=True),
        "subsample": trial.suggest_float("subsample", 0.5, 1.0),
        "subsample_freq": 1,
        "colsample_bytree": trial.suggest_float("colsample_bytree", 0.3, 1.0),
        "reg_lambda": trial.suggest_float("reg_lambda", 1e-3, 100.0, log=True),
    }


def xgboost_settings(trial: Any) -> dict[str, Any]:
    return {
        "learning_rate": trial.suggest_float("learning_rate", 0.01, 0.3, log=True),
        "max_depth": trial.suggest_int("max_depth", 2, 10),
        "min_child_weight": trial.suggest_float("min_child_weight", 0.1, 50.0, log=True),
        "subsample": trial.suggest_float("subsample", 0.5, 1.0),
        "colsample_bytree": trial.suggest_float("colsample_bytree", 0.3, 1.0),
        "reg_lambda": trial.suggest_float("reg_lambda", 1e-3, 100.0, log=True),
    }


def catboost_settings(trial: Any) -> dict[str, Any]:
    return {
        "learning_rate": trial.suggest_float("learning_rate", 0.02, 0.3, log=True),
        "depth": trial.suggest_int("depth", 3, 9),
        "l2_leaf_reg": trial.suggest_float("l2_leaf_reg", 0.3, 30.0, log=True),
        "random_strength": trial.suggest_float("random_strength", 0.1, 10.0, log=True),
        "bagging_temperature": trial.suggest_float("bagging_temperature", 0.0, 2.0),
    }


FIRST: dict[str, dict[str, Any]] = {  # each library's own defaults
    "lightgbm": {
        "learning_rate": 0.1,
        "num_leaves": 31,
        "min_child_samples": 20,
        "subsample": 1.0,
        "colsample_bytree": 1.0,
        "reg_lambda": 1e-3,
    },
    "xgboost": {
        "learning_rate": 0.3,
        "max_depth": 6,
        "min_child_weight": 1.0,
        "subsample": 1.0,
        "colsample_bytree": 1.0,
        "reg_lambda": 1.0,
    },
    "catboost-100": {
        "learning_rate": 0.1,
        "depth": 6,
        "l2_leaf_reg": 3.0,
        "random_strength": 1.0,
        "bagging_temperature": 1.0,
    },
}
SETTINGS: dict[str, Callable[[Any], dict[str, Any]]] = {
    "lightgbm": lightgbm_settings,
    "xgboost": xgboost_settings,
    "catboost-100": catboost_settings,
}
ROUNDS = {"lightgbm": "n_estimators", "xgboost": "n_estimators", "catboost-100": "iterations"}


def text_columns(X: pd.DataFrame) -> list[str]:
    return [c for c in X if not is_numeric_dtype(X[c])]


def stopped_fit(library: Library, settings: dict, X, y, X_val, y_val) -> tuple[Any, int]:
    """Return a model that stopped early, and its rounds."""
    settings = settings | {ROUNDS[library.name]: MOST_ROUNDS}
    X, X_val = library.take(X), library.take(X_val)
    if library.name == "xgboost":
        model = library.make(THREADS, settings | {"early_stopping_rounds": PATIENCE})
        model.fit(X, y, eval_set=[(X_val, y_val)], verbose=False)
        return model, model.best_iteration + 1
    model = library.make(THREADS, settings)
    if library.name == "lightgbm":
        stop = [import_module("lightgbm").early_stopping(PATIENCE, verbose=False)]
        model.fit(X, y, eval_set=[(X_val, y_val)], callbacks=stop)
        return model, model.best_iteration_ or MOST_ROUNDS
    categories = text_columns(X)
    model.fit(
        X, y, cat_features=categories, eval_set=(X_val, y_val), early_stopping_rounds=PATIENCE
    )
    return model, model.get_best_iteration() + 1


class OutOfTimeError(Exception):
    """Ends a trial at the end of the time."""


def tuned_peer(library: Library, X, y, seconds: float) -> tuple[Any, dict]:
    """Return the model of the best settings that Optuna finds in the time, and what was done."""
    optuna = import_module("optuna")
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    end = time.perf_counter() + SEARCH_SHARE * seconds
    folds = list(StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(X, y))

    def loss_of(trial: Any) -> float:
        settings = SETTINGS[library.name](trial)
        losses, rounds = [], []
        for number, (train, test) in enumerate(folds):
            if time.perf_counter() > end:
                raise OutOfTimeError
            model, n_rounds = stopped_fit(
                library, settings, X.iloc[train], y[train], X.iloc[test], y[test]
            )
            shares = library.predict_proba(model, X.iloc[test])
            right = shares[np.arange(len(test)), y[test]]
            losses.append(-float(np.log(np.clip(right, 1e-15, None)).mean()))
            rounds.append(n_rounds)
            trial.set_user_attr("rounds", max(1, round(mean(rounds))))
            trial.report(mean(losses), number)
            if number + 1 < len(folds) and trial.should_prune():
                raise optuna.TrialPruned
        return mean(losses)

    study = optuna.create_study(
        sampler=optuna.samplers.TPESampler(seed=0),
        pruner=optuna.pruners.MedianPruner(n_startup_trials=4),
    )
    study.enqueue_trial(FIRST[library.name])
    study.optimize(loss_of, timeout=SEARCH_SHARE * seconds, catch=(OutOfTimeError,))
    done = [t for t in study.trials if t.state == optuna.trial.TrialState.COMPLETE]
    best = study.best_trial if done else study.trials[0]
    settings = SETTINGS[library.name](optuna.trial.FixedTrial(best.params))
    rounds = best.user_attrs.get("rounds", 100)
    made = library.make(THREADS, settings | {ROUNDS[library.name]: rounds})
    taken = library.take(X)
    extra = {library.named: text_columns(taken)} if library.named else {}
    made.fit(taken, y, **extra)
    return made, {
        "trials": len(study.trials),
        "complete": len(done),
        "rounds": rounds,
        **best.params,
    }


def measure(library: Library, name: str, seconds: float) -> dict:
    problem = problems.load(name)
    train, test = problem.fold != 0, problem.fold == 0
    X, y = problem.X[train].reset_index(drop=True), problem.y[train]
    start = time.perf_counter()
    if library.name == OURS:
        model = import_module(OURS).MarginBoostClassifierCV(
            time_limit=seconds, n_jobs=THREADS, random_state=0
        )
        model.fit(X, y)
        about: dict[str, Any] = {"parts": len(model.chosen_["parts"]), "rounds": model.n_iter_}
    else:
        model, about = tuned_peer(library, X, y, seconds)
    taken = time.perf_counter() - start
    shares = library.predict_proba(model, problem.X[test])
    right = shares[np.arange(test.sum()), problem.y[test]]
    return {
        "error": float((shares.argmax(axis=1) != problem.y[test]).mean()),
        "log_loss": float(-np.log(np.clip(right, 1e-15, None)).mean()),
        "seconds": round(taken, 1),
        **about,
    }


def sets() -> list[str]:
    """Return the names of the sets."""
    found: list[str] = []
    for name in sorted(catalogue.of_group("fresh")):
        y = problems.load(name).y
        if y.max() >= 2 and len(y) >= 1000:
            found.append(name)
        if len(found) == N_SETS:
            break
    return found


def run(names: list[str], libraries: list[str], seconds: float, out: Path) -> None:
    """Measure what is missing, and write after each search."""
    kept = json.loads(out.read_text()) if out.is_file() else {"sources": {}, "results": {}}
    for name in names:
        for library in (LIBRARIES[key] for key in libraries):
            key = f"{library.name}/{name}/{seconds:g}"
            if key in kept["results"]:
                continue
            here = {**contest.source(), "build": fingerprint()} if library.name == OURS else {}
            kept["sources"][library.name] = {"versions": library.versions(), **here}
            kept["results"][key] = measure(library, name, seconds)
            part = out.with_suffix(".part")
            part.write_text(json.dumps(kept, indent=0, sort_keys=True) + "\n")
            part.replace(out)
            print(key, json.dumps(kept["results"][key]), flush=True)


def report(results: dict) -> str:
    """Return for each time and peer on how many sets our tuner has the lower error and log loss."""
    lines = [
        "| seconds | peer | sets | our error is lower on | equal on | our log loss is lower on "
        "| our error over its | our log loss over its |",
        "|---:|---|---:|---:|---:|---:|---:|---:|",
    ]
    for seconds in sorted({float(key.split("/")[2]) for key in results}):
        for peer in (key for key in LIBRARIES if key in SETTINGS):
            pairs = pairs_with(results, peer, seconds)
            if not pairs:
                continue
            lower = [mean(a[w] < b[w] for a, b in pairs) for w in ("error", "log_loss")]
            equal = mean(a["error"] == b["error"] for a, b in pairs)
            error = np.exp(
                mean(np.log((a["error"] + 1e-3) / (b["error"] + 1e-3)) for a, b in pairs)
            )
            loss = np.exp(mean(np.log(a["log_loss"] / b["log_loss"]) for a, b in pairs))
            lines.append(
                f"| {seconds:g} | {LIBRARIES[peer].title.split(',')[0]} | {len(pairs)} "
                f"| {100 * lower[0]:.0f} % | {100 * equal:.0f} % | {100 * lower[1]:.0f} % "
                f"| {error:.3f} | {loss:.3f} |"
            )
    return "\n".join(lines)


def pairs_with(results: dict, peer: str, seconds: float) -> list[tuple[dict, dict]]:
    """Return our result and a peer's, on each set that both were measured on."""
    names = sorted({key.split("/")[1] for key in results})
    keys = [(f"{OURS}/{name}/{seconds:g}", f"{peer}/{name}/{seconds:g}") for name in names]
    return [(results[ours], results[its]) for ours, its in keys if {ours, its} <= set(results)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("do", choices=("run", "report"))
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--sets", nargs="+")
    parser.add_argument("--libraries", nargs="+", choices=COMPARED, default=COMPARED)
    parser.add_argument("--out", type=Path, default=FILE)
    args = parser.parse_args()
    if args.do == "run":
        run(args.sets or sets(), args.libraries, args.seconds, args.out)
    print(report(json.loads(args.out.read_text())["results"]))


if __name__ == "__main__":
    main()
