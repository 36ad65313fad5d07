"""The child's side: fits one library on one fold per request, as long as requests come.

A request is a line of JSON on the standard input; the answers are lines of JSON: "ready" (the data
are loaded), "fitted", then "done" or "failed". The parent ends a fit that takes too long.
"""

import base64
import json
import os
import sys
import traceback
import warnings
from dataclasses import replace
from time import perf_counter, process_time

import numpy as np

from benchmarks.unfamiliar import problems
from benchmarks.unfamiliar.libraries import LIBRARIES

TINIEST = 1e-15


def main() -> None:
    # Output of a library must not mix with the answers.
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    warnings.simplefilter("ignore")

    def say(stage, **found):
        answers.write(json.dumps({"stage": stage} | found) + "\n")

    for line in sys.stdin:
        try:
            answer(json.loads(line), say)
        except Exception as error:
            traceback.print_exc()
            say("failed", message=f"{type(error).__name__}: {error}"[:200])


def answer(request, say) -> None:
    problem = problems.load(request["set"])
    say("ready", shape=problem.shape(), data=problem.digest(), folds=problem.folds)
    library = replace(LIBRARIES[request["base"]], settings=request["settings"])
    test = problem.fold == request["fold"]
    X, y = problem.X[~test], problem.y[~test]
    started, busy = perf_counter(), process_time()
    model = library.fit(X, y, request["threads"])
    say(
        "fitted",
        fit_seconds=round(perf_counter() - started, 3),
        cpu_seconds=round(process_time() - busy, 3),
    )
    proba = library.predict_proba(model, problem.X[test])
    say("done", versions=library.versions(), **scores(proba, problem.y[test]))


def scores(proba: np.ndarray, y: np.ndarray) -> dict:
    """Return the error, the log loss, and which rows were wrong, as bits in base64."""
    if proba.shape[0] != len(y) or proba.shape[1] <= y.max() or not np.isfinite(proba).all():
        raise ValueError("The probabilities must be finite, a row per row and a column per class.")
    wrong = proba.argmax(axis=1) != y
    right = np.clip(proba[np.arange(len(y)), y], TINIEST, 1.0)
    return {
        "rows": len(y),
        "error": float(wrong.mean()),
        "log_loss": float(-np.log(right).mean()),
        "wrong": base64.b64encode(np.packbits(wrong).tobytes()).decode(),
    }


if __name__ == "__main__":
    main()
