"""Fit a classifier, and measure its accuracy and time."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from time import perf_counter, process_time
from typing import Any

import numpy as np

from experiments.draws import Split
from experiments.methods import METHODS
from experiments.stopwatch import processor_seconds
from experiments.trial import Measures
from marginboost.boosting.round import Round

INTERRUPTED = "Interrupted"  # so begins what a classifier says after Ctrl-C


def checkpoints(rounds: int, also: Sequence[int] = ()) -> list[int]:
    """Return the numbers of rounds at which a curve is drawn, evenly spaced on a logarithmic scale."""
    steps = np.geomspace(1, rounds, num=1 + max(1, round(10 * np.log10(rounds))))
    return sorted({round(float(step)) for step in steps} | set(also))


def measure(
    method: str,
    split: Split,
    *,
    rounds: int,
    seed: int,
    n_jobs: int = 1,
    device: str = "cpu",
    parameters: Mapping[str, Any] | None = None,
    curve: bool = False,
    also: Sequence[int] = (),
    keep_wrong: bool = False,
    processor_times: bool = False,
) -> Measures:
    """Fit a method on the training part of a split, and test it on the rest.

    Parameters
    ----------
    method : str
        Name in `METHODS`.
    split : Split
        Data.
    rounds : int
        Of boosting.
    seed : int
        For methods that use random numbers.
    n_jobs : int, default=1
        Threads.
    device : {"cpu", "cuda"}, default="cpu"
        Where our own classifiers fit. The models are the same on both, bit for bit; the times are not.
    parameters : mapping, optional
        Of the classifier.
    curve : bool, default=False
        Whether to test it after fewer rounds as well.
    also : sequence of int, default=()
        Numbers of rounds for the curve, beside those of `checkpoints`.
    keep_wrong : bool, default=False
        Whether to return the misclassified test rows, as `wrong_rows`, so that two methods can be
        compared row by row.
    processor_times : bool, default=False
        Whether to time the fit, and the prediction of all test rows again on one thread, by the clock
        of the processor, which does not run while other programs have it.

    Returns
    -------
    dict
        `wrong`, `n_test`, `n_train`, `n_features`, `n_classes`; the `device` of the fit, which goes to
        the origin of the record; `fit_seconds` and, of all test rows, `predict_seconds`; if asked for,
        `fit_processor_seconds` and `predict_processor_seconds`; and of boosting: `rounds` made,
        `coefficient_seconds`, and, for a curve, what was so after each of `checkpoints(rounds, also)`
        rounds: `curve`, how many rows were wrong, and `seconds_curve`, what the coefficients had taken.
    """
    chosen = METHODS[method]
    model = chosen.make(rounds, seed, n_jobs, parameters or {})
    spent: list[float] = []

    def note(finished: Round) -> None:
        spent.append(finished.coefficient_seconds)

    boosts = hasattr(model, "callbacks")
    if boosts:
        model.set_params(device=device)
    if boosts and chosen.staged:  # the others try several numbers of rounds
        model.set_params(callbacks=[note])
    began, processor = perf_counter(), process_time()
    with warnings.catch_warnings():
        # With strong regularisation, boosting may end before its first round, which is a valid
        # result here.
        warnings.filterwarnings("ignore", "No split", UserWarning)
        # After Ctrl-C a classifier keeps the rounds that it has made; a trial has all or no record.
        warnings.filterwarnings("error", INTERRUPTED, UserWarning)
        try:
            model.fit(split.X, split.y)
        except UserWarning as told:
            if str(told).startswith(INTERRUPTED):
                raise KeyboardInterrupt from told
            raise
    seconds, processor = perf_counter() - began, process_time() - processor
    began = perf_counter()
    predicted = model.predict(split.X_test)
    predict_seconds = perf_counter() - began
    wrong = np.flatnonzero(predicted != split.y_test)
    measures: Measures = {
        "wrong": len(wrong),
        "n_test": len(split.y_test),
        "n_train": len(split.y),
        "n_features": split.X.shape[1],
        "n_classes": len(np.unique(split.y)),
        "device": getattr(model, "device", "cpu"),
        "fit_seconds": round(seconds, 4),
        "predict_seconds": round(predict_seconds, 6),
    }
    if processor_times:
        measures["fit_processor_seconds"] = round(processor, 4)
        model.set_params(n_jobs=1)
        measures["predict_processor_seconds"] = processor_seconds(
            lambda: model.predict(split.X_test)
        )
    if keep_wrong:
        measures["wrong_rows"] = wrong.tolist()
    if boosts and chosen.staged:
        measures["rounds"] = len(spent)
        measures["coefficient_seconds"] = round(sum(spent), 6)
    if curve and chosen.staged:
        at = checkpoints(rounds, also)
        measures["curve"] = _wrong_by_round(model, split, at) if spent else []
        taken = np.cumsum(spent)
        measures["seconds_curve"] = [round(float(taken[n - 1]), 6) for n in at if n <= len(taken)]
    return measures


def _wrong_by_round(model: Any, split: Split, at: Sequence[int]) -> list[int]:
    """Return the number of misclassified test rows after each number of rounds."""
    wrong = [int(np.sum(labels != split.y_test)) for labels in model.staged_predict(split.X_test)]
    return [wrong[min(number, len(wrong)) - 1] for number in at]
