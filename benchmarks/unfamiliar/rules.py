"""Rules of the defaults: what a change of one does, on sets on which defaults may be chosen.

    python -m benchmarks.unfamiliar.rules run [RULE ...] [--processes N] [--gpu] [--out FILE]
    python -m benchmarks.unfamiliar.rules report

A rule is a constant of the package. It is compared with what it was before, all else being equal, on
study sets and on training parts of the fourteen sets (all rows of segment, which has none; the rule does
not change its model), in the folds of `problems`, with one thread. A set "NAME=CLASS" has two classes:
that one, which is rare, and all others. "NAME*" has all rows of a set, where others have 15,000 at most.
In "NAME~K" each learned row has an integer weight of 1 to K, drawn at random, which means nothing; in
"NAME~bag" the number of times that it is in a sample with replacement. Of "NAME:ROWS" so many rows are
drawn. In "made:ROWS:COLUMNS:INFORMATIVE:WRONG" scikit-learn makes four classes of which so many columns
tell, the others being noise, and so many percent of the labels are wrong. With --gpu each fit of dense
rows is made on a GPU as well, and must predict the same.
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
import pandas as pd
from scipy.sparse import csr_matrix, issparse
from sklearn.datasets import make_classification
from sklearn.model_selection import train_test_split

from benchmarks import data
from benchmarks.unfamiliar import catalogue, contest, problems
from benchmarks.unfamiliar.libraries import fingerprint
from marginboost import MarginBoostClassifier

FILE = Path(__file__).with_name("rules.json")
TEXTS = ("news20_bydate_noheader_counts", "reuters_r52_counts", "clinc150_bow")


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
}


def load(name: str) -> problems.Problem:
    """Return the rows of a set; of the fourteen, those of the training part, where there is one."""
    name, _, rare = name.partition("~")[0].partition("=")
    if name.endswith("*"):
        with mock.patch.object(problems, "MOST_ROWS", np.inf):
            return problems.problem(*catalogue.read(name.removesuffix("*")))
    if name.startswith("made:"):
        return made(*map(int, name.split(":")[1:]))
    name, _, n_rows = name.partition(":")
    if name in (*catalogue.FOURTEEN, *TEXTS):
        X, y = training_part(name, int(n_rows or 0))
        if issparse(X):
            return sparse_problem(X, y)
        return problems.problem(pd.DataFrame(X.astype(np.float32)), pd.Series(y))
    if rare:
        X, y = catalogue.read(name)
        return problems.problem(X, (y.astype(str) == rare).astype(int))
    return problems.load(name)


def made(n_rows: int, n_columns: int, n_informative: int, percent_wrong: int) -> problems.Problem:
    """Make rows of which few columns tell the class."""
    X, y = make_classification(
        n_rows,
        n_columns,
        n_informative=n_informative,
        n_redundant=0,
        n_classes=4,
        flip_y=percent_wrong / 100,
        class_sep=1.0 if percent_wrong else 2.0,
        random_state=0,
    )
    return problems.problem(pd.DataFrame(X.astype(np.float32)), pd.Series(y))


def training_part(name: str, n_rows: int) -> tuple[Any, np.ndarray]:
    """Return the training part of a set, or so many rows drawn from it."""
    if name == "clinc150_bow":
        with np.load(data.path_of(f"study/{name}")) as file:
            learned = file["split"] == 0
            return csr_matrix(file["X"][learned], dtype=np.float32), file["y"][learned]
    X, y, test = data.read(name)
    kept = np.arange(len(y)) if test is None else np.flatnonzero(~test)
    if 0 < n_rows < len(kept):
        labels, counts = np.unique(y[kept], return_counts=True)
        kept = kept[np.isin(y[kept], labels[counts > 1])]  # a single row cannot be drawn evenly
        kept, _ = train_test_split(kept, train_size=n_rows, stratify=y[kept], random_state=0)
    return X[kept] if issparse(X) else X[kept].reshape(len(kept), -1), y[kept]


def sparse_problem(X: csr_matrix, y: np.ndarray) -> problems.Problem:
    """Return the rows of classes that are not rare, with the folds that dense rows would have."""
    places = pd.DataFrame({"row": np.arange(len(y))})
    dense = problems.problem(places, pd.Series(y))
    kept = dense.X["x0"].to_numpy().astype(np.int64)
    return problems.Problem(X[kept].astype(np.float32), dense.y, dense.fold)


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
