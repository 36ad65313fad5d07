"""Rules of the defaults: what a change of one does, on sets on which defaults may be chosen.

    python -m benchmarks.unfamiliar.rules run|report [RULE ...] [--out FILE]

A rule is a constant of the package. It is compared with what it was before, all else being equal, on
study sets and on training parts of the fourteen sets (all rows of segment, which has none; the rule does
not change its model), in the folds of `problems`, with one thread. A set "NAME=CLASS" has two classes:
that one, which is rare, and all others. "NAME*" has all rows of a set, where others have 15,000 at most.
In "NAME~K" each learned row has an integer weight of 1 to K, drawn at random, which means nothing; in
"NAME~bag" the number of times that it is in a sample with replacement.
"""

import argparse
import json
import time
import warnings
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pandas as pd

from benchmarks import data
from benchmarks.unfamiliar import catalogue, contest, problems
from benchmarks.unfamiliar.libraries import fingerprint
from marginboost import MarginBoostClassifier

FILE = Path(__file__).with_name("rules.json")


@dataclass(frozen=True)
class Rule:
    """A constant by module and name, as it was and as it is, and the sets to compare the two on."""

    constant: str
    before: Any
    after: Any
    sets: tuple[str, ...]


RULES = {
    # How many rounds there are at most.
    "rounds": Rule(
        *("estimators.candidates.QUICK_PRODUCTS", 0, 10_000_000),
        (
            *("cardiotocography10", "hypothyroid", "splice", "mfeat_zernike"),
            *("wine_quality_white", "thyroid0387", "abalone_rings", "student_dropout"),
            *("waveform", "satimage", "pendigits", "avila", "sleep", "fars", "krkopt"),
            *("diabetes130", "connect_4", "letter", "krkopt*", "avila*", "connect_4*"),
        ),
    ),
    # How few errors make data clean, where one class is frequent.
    "clean": Rule(
        *("boosting.choose.CLEAN_OF_FREQUENT", float("inf"), 0.1),
        (
            *("wine_quality_white=8", "wine_quality_white=4", "yeast=ME2", "yeast=EXC"),
            *("yeast=VAC", "yeast=POX", "cardiotocography10=8", "cardiotocography10=5"),
            *("cardiotocography10=3", "abalone_rings=5", "abalone_rings=14", "abalone_rings=16"),
            *("ecoli=om", "solar_flare2=2", "solar_flare2=3", "thyroid0387", "thyroid0387=K"),
            *("thyroid0387=R", "krkopt=six", "primary_tumor=prostate", "car=good", "flags=3"),
            *("hypothyroid=compensated_hypothyroid", "dna", "segment", "dermatology", "zoo"),
            "soybean=12",
        ),
    ),
    # Where many rows of a class have copies, whether these are held out together: sets with copies.
    "copies": Rule(
        *("data.agreement.LEAST_REPEATED", 2.0, 1 / 3),
        (
            *("tae", "zoo", "heart_c", "led7digit", "solar_flare2", "primary_tumor", "soybean"),
            *("yeast", "contraceptive", "splice", "hypothyroid", "mfeat_zernike"),
            *("cardiotocography10", "wine_quality_white", "dna", "segment", "thyroid0387"),
        ),
    ),
    # The same with integer weights that are no counts.
    "weights": Rule(
        *("data.agreement.LEAST_REPEATED", 2.0, 1 / 3),
        (
            *("balance_scale~3", "car~3", "column3C~3", "dermatology~3", "ecoli~3", "flags~3"),
            *("heart_c~3", "yeast~3", "contraceptive~3", "tae~3", "bridges_version1~3"),
            *("primary_tumor~3", "led7digit~3", "solar_flare2~3", "cardiotocography10~3"),
            *("wine_quality_white~3", "student_dropout~3", "abalone_rings~3", "waveform~3"),
            *("yeast~bag", "contraceptive~bag", "column3C~bag", "cardiotocography10~bag"),
            *("student_dropout~bag", "abalone_rings~bag", "waveform~bag", "yeast~20", "flags~20"),
        ),
    ),
}


def load(name: str) -> problems.Problem:
    """Return the rows of a set; of the fourteen, those of the training part, where there is one."""
    name, _, rare = name.partition("~")[0].partition("=")
    if name.endswith("*"):
        with mock.patch.object(problems, "MOST_ROWS", np.inf):
            return problems.problem(*catalogue.read(name.removesuffix("*")))
    if name in catalogue.FOURTEEN:
        X, y, test = data.read(name)
        kept = np.ones(len(y), bool) if test is None else ~test
        numbers = X[kept].reshape(kept.sum(), -1).astype(np.float32)
        return problems.problem(pd.DataFrame(numbers), pd.Series(y[kept]))
    if rare:
        X, y = catalogue.read(name)
        return problems.problem(X, (y.astype(str) == rare).astype(int))
    return problems.load(name)


def weights(name: str, n_rows: int) -> np.ndarray | None:
    """Return the weights that the name of a set asks for."""
    _, _, most = name.partition("~")
    if not most:
        return None
    if most == "bag":
        drawn = np.random.default_rng(0).integers(n_rows, size=n_rows)
        return np.bincount(drawn, minlength=n_rows)
    return np.random.default_rng(0).integers(1, int(most), n_rows, endpoint=True)


def measure(
    problem: problems.Problem, constant: str, value: Any, weight: np.ndarray | None = None
) -> dict[str, Any]:
    """Return errors, the sum of log losses, and processor seconds, of all folds."""
    found = {"wrong": 0, "loss": 0.0, "rows": len(problem.y), "seconds": 0.0}
    for number in range(problem.folds):
        learned, test = problem.fold != number, problem.fold == number
        began = time.process_time()
        model = MarginBoostClassifier(n_jobs=1, random_state=0)
        of_rows = None if weight is None else weight[learned]
        with changed(constant, value):
            model.fit(problem.X[learned], problem.y[learned], sample_weight=of_rows)
        found["seconds"] += time.process_time() - began
        shares, y = np.clip(model.predict_proba(problem.X[test]), 1e-15, None), problem.y[test]
        found["wrong"] += int((shares.argmax(axis=1) != y).sum())
        found["loss"] -= float(np.log(shares[np.arange(len(y)), y]).sum())
    return found | {"seconds": round(found["seconds"], 2)}


def changed(constant: str, value: Any) -> Any:
    """Return a context in which a constant of the package has another value."""
    module, _, name = constant.rpartition(".")
    return mock.patch.object(import_module(f"marginboost.{module}"), name, value)


def run(names: list[str], out: Path) -> None:
    """Measure what is missing, and write after each set."""
    warnings.simplefilter("ignore")
    kept = json.loads(out.read_text()) if out.is_file() else {}
    for name in names:
        rule = RULES[name]
        for place in rule.sets:
            own = kept.setdefault(name, {"results": {}})
            if place in own["results"]:
                continue
            problem = load(place)
            weight = weights(place, len(problem.y))
            own["results"][place] = {
                when: measure(problem, rule.constant, value, weight)
                for when, value in (("before", rule.before), ("after", rule.after))
            }
            own["source"] = {**contest.source(), "build": fingerprint()}
            out.write_text(json.dumps(kept, indent=0, sort_keys=True) + "\n")
            print(name, place, json.dumps(own["results"][place]), flush=True)


def logs_of_ratios(results: dict) -> np.ndarray:
    """Return logarithms of error, log loss and time over those before, of sets x 3."""
    return np.array(
        [
            [
                np.log((one["after"]["wrong"] + 0.5) / (one["before"]["wrong"] + 0.5)),
                np.log(one["after"]["loss"] / one["before"]["loss"]),
                np.log(one["after"]["seconds"] / one["before"]["seconds"]),
            ]
            for one in results.values()
        ]
    )


def where_changed(ratios: np.ndarray) -> np.ndarray:
    """Return the sets whose models a rule changes."""
    return ratios[np.abs(ratios[:, 1]) > 1e-12]


def report(kept: dict) -> str:
    """Return the geometric means, of all sets and of those that a rule changes."""
    lines = ["| rule | sets | error | lower, higher | log loss | lower, higher | time |"]
    lines.append("|---|---:|---:|---:|---:|---:|---:|")
    for name, own in kept.items():
        ratios = logs_of_ratios(own["results"])
        other = where_changed(ratios)
        for words, some in ((name, ratios), (f"{name}, where it changes the model", other)):
            error, loss, seconds = np.exp(some.mean(axis=0))
            counts = [f"{(r < 0).sum()}, {(r > 0).sum()}" for r in some.T]
            lines.append(
                f"| {words} | {len(some)} | {error:.3f} | {counts[0]} | {loss:.3f} | {counts[1]} "
                f"| {seconds:.2f} |"
            )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("do", choices=("run", "report"))
    parser.add_argument("rules", nargs="*", default=list(RULES), metavar="RULE")
    parser.add_argument("--out", type=Path, default=FILE)
    args = parser.parse_args()
    if args.do == "run":
        run(args.rules, args.out)
    print(report(json.loads(args.out.read_text())))


if __name__ == "__main__":
    main()
