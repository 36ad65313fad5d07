"""How long a fitted classifier takes to classify a row, in several ways."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments.evaluation import Evaluation, best_classes
from experiments.stopwatch import median_seconds
from experiments.trial import Measures
from marginboost.model.ensemble import Ensemble

# Measures, in microseconds per row, and what they are called.
FORMULA = "formula_us"
WAYS = {
    FORMULA: "as written, one row",
    "formula_bulk_us": "as written, in bulk",
    "predict_us": "predict, one row",
    "predict_bulk_us": "predict, in bulk",
    "compiled_us": "compile(), one row",
    "compiled_bulk_us": "compile(), in bulk",
}
# Rows that are classified one at a time between two readings of the clock.
_A_BLOCK = 10

Classify = Callable[[NDArray[Any]], object]


def times_a_row(
    model: Any,
    X: NDArray[np.float64],
    formula: Callable[[Ensemble], Evaluation] | None,
    *,
    calls: int,
) -> Measures:
    """Measure the times, each the median of up to `calls` calls.

    Parameters
    ----------
    model : classifier
        Fitted, to use one thread.
    X : array of rows x features
        Rows to classify.
    formula : callable or None
        Creates the evaluation function of the model as the paper writes it; None if it has none.
    calls : int
        Maximum number of calls.

    Returns
    -------
    dict
        The available measures of `WAYS`; with a formula, the number of its `coefficients`; with a
        compiled model, its `form`: "steps" if stumps were collapsed.
    """
    measures: Measures = {
        "predict_us": _one(lambda row: model.predict(row[None]), X, calls),
        "predict_bulk_us": _bulk(model.predict, X, calls),
    }
    if hasattr(model, "compile"):
        compiled = model.compile()
        measures["form"] = compiled.form
        measures["compiled_us"] = _one(compiled.predict, X, calls)
        measures["compiled_bulk_us"] = _bulk(compiled.predict, X, calls)
    if formula is not None:
        written = formula(model.ensemble_)
        _check(written, model, X[:_A_BLOCK])
        measures["coefficients"] = written.n_coefficients
        measures[FORMULA] = _one(lambda row: best_classes(written, row[None]), X, calls)
        measures["formula_bulk_us"] = _bulk(lambda rows: best_classes(written, rows), X, calls)
    return measures


def _one(classify: Classify, X: NDArray[Any], calls: int) -> float:
    """Return microseconds per row, with one row per call."""

    def block(call: int) -> None:
        for row in range(call * _A_BLOCK, (call + 1) * _A_BLOCK):
            classify(X[row % len(X)])

    return _microseconds(median_seconds(block, calls=calls), _A_BLOCK)


def _bulk(classify: Classify, X: NDArray[Any], calls: int) -> float:
    """Return microseconds per row, with all rows in one call."""
    return _microseconds(median_seconds(lambda call: classify(X), calls=calls), len(X))


def _microseconds(seconds: float, n_rows: int) -> float:
    return float(f"{1e6 * seconds / n_rows:.4g}")


def _check(written: Evaluation, model: Any, X: NDArray[Any]) -> None:
    """Check that the formula gives the scores of the model, up to rounding."""
    if not np.allclose(written.scores(X), model.ensemble_.decision_function(X), atol=1e-9):
        raise ValueError("The formula must score rows as the classifier does; got other scores.")
