"""Rules of the defaults: what a change of one does, on sets on which defaults may be chosen.

    python -m benchmarks.unfamiliar.rules run [RULE ...] [--processes N] [--gpu] [--out FILE]
    python -m benchmarks.unfamiliar.rules report

A rule is a constant of the package. It is compared with what it was before, all else being equal, on
sets on which defaults may be chosen (`rule_sets` says which, and what their names mean), in the folds of
`problems`, with one thread. With --gpu each fit of dense rows is made on a GPU as well, and must predict
the same.
"""

import argparse
import json
import time
import warnings
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from importlib import import_module
from multiprocessing import get_context
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
from scipy.sparse import issparse

from benchmarks.unfamiliar import contest, problems
from benchmarks.unfamiliar.libraries import fingerprint
from benchmarks.unfamiliar.rule_sets import PANELS, load, weights
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
    # What share of many columns a tree sees: with two hundred columns at least.
    "wide": Rule(
        *("estimators.candidates.WIDE", float("inf"), 200),
        (
            *("isolet", "news20_bydate_noheader_counts:4500", "isolet:2250", "mnist:6000"),
            *("reuters_r52_counts:3000", "mnist:2250", "usps", "usps:2250", "clinc150_bow"),
        ),
    ),
    # The same where few columns tell.
    "noise columns": Rule(
        *("estimators.candidates.WIDE", float("inf"), 200),
        (
            *("made:3000:1000:5:5", "made:6000:400:6:5", "made:1000:300:100:5"),
            *("made:3000:1000:5:0", "made:1500:500:3:20"),
        ),
    ),
    # Whether there is a candidate for few columns of few values: study sets that have such columns.
    "rules": Rule(
        *("estimators.candidates.MOST_ROWS_OF_RULES", 0, 8_000),
        (
            *("balance_scale", "bridges_version1", "car", "contraceptive", "dermatology", "flags"),
            *("heart_c", "hypothyroid", "led7digit", "primary_tumor", "soybean", "solar_flare2"),
            *("splice", "tae", "zoo"),
        ),
    ),
    # The same where classes follow rules.
    "made-up rules": Rule(
        *("estimators.candidates.MOST_ROWS_OF_RULES", 0, 8_000),
        (
            *(
                "rules:1000:9:3:8:0",
                "rules:600:16:2:4:0",
                "rules:500:6:4:6:0",
                "rules:3000:20:2:8:0",
            ),
            *(
                "rules:1500:12:2:9:0",
                "rules:2000:40:2:6:0",
                "rules:1000:9:3:9:5",
                "rules:3000:12:4:12:10",
            ),
        ),
    ),
    # Whether a category of one row gets a position, where there are many.
    "single rows": Rule(*("data.category_shares.LEAST_ROWS_OF_MANY", 2, 1), tuple(PANELS)),
    # Of how many classes there are shares.
    "shares": Rule(*("data.column_facts.MOST_SHARES", 4, 8), tuple(PANELS)),
}


def measure(
    problem: problems.Problem,
    constant: str,
    value: Any,
    weight: np.ndarray | None = None,
    *,
    gpu: bool = False,
) -> dict[str, Any]:
    """Return errors, the sum of log losses, and processor seconds, of all folds."""
    found = {"wrong": 0, "loss": 0.0, "rows": len(problem.y), "seconds": 0.0}
    gpu_seconds = 0.0
    for number in range(problem.folds):
        learned, test = problem.fold != number, problem.fold == number
        X, y = problem.X[learned], problem.y[learned]
        of_rows = None if weight is None else weight[learned]
        began = time.process_time()
        model = MarginBoostClassifier(n_jobs=1, random_state=0)
        with changed(constant, value):
            model.fit(X, y, sample_weight=of_rows)
        found["seconds"] += time.process_time() - began
        shares = model.predict_proba(problem.X[test])
        if gpu:
            began = time.perf_counter()
            other = MarginBoostClassifier(n_jobs=1, random_state=0, device="cuda")
            with changed(constant, value):
                other.fit(X, y, sample_weight=of_rows)
            gpu_seconds += time.perf_counter() - began
            np.testing.assert_array_equal(
                other.set_params(device="cpu").predict_proba(problem.X[test]), shares
            )
        right = np.clip(shares, 1e-15, None)[np.arange(test.sum()), problem.y[test]]
        found["wrong"] += int((shares.argmax(axis=1) != problem.y[test]).sum())
        found["loss"] -= float(np.log(right).sum())
    times = {"seconds": round(found["seconds"], 2)}
    return found | times | ({"gpu_seconds": round(gpu_seconds, 2)} if gpu else {})


def changed(constant: str, value: Any) -> Any:
    """Return a context in which a constant of the package has another value."""
    module, _, name = constant.rpartition(".")
    return mock.patch.object(import_module(f"marginboost.{module}"), name, value)


def compare(rule: Rule, place: str, *, gpu: bool) -> dict[str, Any]:
    """Measure a rule on a set, before and after."""
    warnings.simplefilter("ignore")
    problem = load(place)
    weight = weights(place, len(problem.y))
    gpu = gpu and not issparse(problem.X)
    return {
        when: measure(problem, rule.constant, value, weight, gpu=gpu)
        for when, value in (("before", rule.before), ("after", rule.after))
    }


def run(options: argparse.Namespace) -> None:
    """Measure what is missing, and write after each set; one that fails is left out."""
    kept = json.loads(options.out.read_text()) if options.out.is_file() else {}
    source = {**contest.source(), "build": fingerprint()}
    if options.commit:
        source["commit"] = options.commit
    context = get_context("spawn")  # a GPU does not survive a fork
    with ProcessPoolExecutor(options.processes, mp_context=context) as pool:
        jobs = {
            pool.submit(compare, RULES[name], place, gpu=options.gpu): (name, place)
            for name in options.rules
            for place in RULES[name].sets
            if place not in kept.get(name, {"results": {}})["results"]
        }
        for job in as_completed(jobs):
            name, place = jobs[job]
            if job.exception() is not None:
                print(name, place, repr(job.exception()), flush=True)
                continue
            own = kept.setdefault(name, {"results": {}})
            own["results"][place] = job.result() | {"source": source}
            options.out.write_text(json.dumps(kept, indent=0, sort_keys=True) + "\n")
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
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--gpu", action="store_true")
    parser.add_argument("--commit", default="", help="of the package, where there is no checkout")
    parser.add_argument("--out", type=Path, default=FILE)
    options = parser.parse_args()
    if options.do == "run":
        run(options)
    print(report(json.loads(options.out.read_text())))


if __name__ == "__main__":
    main()
