"""Prediction: single rows from Python, stumps collapsed to step functions, thousands of rows.

Trees with one vector per leaf are generated in the shape of letter's: their predictions do not
affect the time. The stumps are fitted. Times are the best of many short calls.
"""

from types import SimpleNamespace

import data
import numpy as np
from report import Claim, Report
from timing import interleaved

from marginboost import MCBoostClassifier
from marginboost.model.builder import EnsembleBuilder
from marginboost.model.compiled import CompiledModel
from marginboost.model.link import Softmax

TREES = 100
STUMPS = 1000
ONE_ROW_LIMIT = 15.0
STEPS_LIMIT = 0.5


def run(quick: bool) -> Report:
    report = Report("Prediction", ("model", "rows", "threads", "us/row"))
    seconds = 1.0 if quick else 4.0
    letter, pendigits = data.load("letter"), data.load("pendigits")
    report.notes = letter.notes + pendigits.notes

    models = {leaves: _trees(letter.X, 26, leaves) for leaves in (31, 64)}
    compiled = {
        leaves: CompiledModel(m, np.arange(26), Softmax(2.0)) for leaves, m in models.items()
    }
    row = letter.X_test[0].astype(np.float64)
    listed = row.tolist()
    one_row = interleaved(
        {"array": lambda: compiled[31](row), "list": lambda: compiled[31](listed)},
        repeats=2000,
        seconds=seconds / 4,
    )
    for kind, best in one_row.items():
        name = f"{TREES} trees of 31 leaves, one {kind}: label and probabilities"
        report.rows.append((name, 1, 1, 1e6 * best))

    fitted = MCBoostClassifier(STUMPS, n_jobs=2).fit(pendigits.X, pendigits.y)
    steps = fitted.compile()
    few = pendigits.X_test.astype(np.float32)
    many = letter.X_test.astype(np.float32)
    batches = {("steps", 2): lambda: steps.decision_function(few)}
    for threads in (1, 2):
        batches["stumps", threads] = lambda n=threads: fitted.ensemble_.decision_function(
            few, n_threads=n
        )
        for leaves, model in models.items():
            batches[leaves, threads] = lambda m=model, n=threads: m.decision_function(
                many, n_threads=n
            )
    best = interleaved(batches, repeats=20, seconds=seconds)
    names = {"steps": f"{STUMPS} stumps, collapsed", "stumps": f"{STUMPS} stumps"}
    for (key, threads), taken in best.items():
        name = names.get(key, f"{TREES} trees of {key} leaves, 26 classes")
        rows = len(few) if key in names else len(many)
        report.rows.append((name, rows, threads, 1e6 * taken / rows))
    report.claims = [
        Claim("us for one row of letter, as an array", 1e6 * one_row["array"], ONE_ROW_LIMIT),
        Claim(
            f"us per row of pendigits, {STUMPS} collapsed stumps",
            1e6 * best["steps", 2] / len(few),
            STEPS_LIMIT,
        ),
    ]
    return report


def _trees(X, n_classes: int, n_leaves: int):
    """Return trees that split a random leaf at a random row's value."""
    rng = np.random.default_rng(n_leaves)
    builder = EnsembleBuilder(X.shape[1], n_classes)
    n_nodes = n_leaves - 1
    for _ in range(TREES):
        children = [[0] * n_nodes, [0] * n_nodes]
        open_ends = [(0, 0)]
        for node in range(n_nodes):
            side, parent = open_ends.pop(rng.integers(len(open_ends)))
            if node:
                children[side][parent] = node
            open_ends += [(0, node), (1, node)]
        for leaf, (side, parent) in enumerate(open_ends):
            children[side][parent] = ~leaf
        feature = rng.integers(X.shape[1], size=n_nodes)
        tree = SimpleNamespace(
            feature=feature.tolist(),
            threshold=(X[rng.integers(len(X), size=n_nodes), feature] + 0.5).tolist(),
            left=children[0],
            right=children[1],
            leaf_value=[1.0] * n_leaves,
        )
        rows = rng.normal(size=(n_leaves, n_classes))
        builder.append(tree, [builder.add_vector(row) for row in rows])
        builder.end_round()
    return builder.build()
