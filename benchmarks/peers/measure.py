"""One measurement, in its own process.

A request comes in as JSON on the standard input; answers go out as JSON, one line per stage, so
that results before a time limit are kept: "ready" (data loaded, something tiny fitted, so that
imports and threads are loaded), "fitted", "scored", "done".
"""

import json
import os
import resource
import statistics
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from time import perf_counter

import numpy as np
import sets
from libraries import LIBRARIES
from peak import peak, restarted_peak
from scipy.sparse import issparse

TINIEST = 1e-15
# The best of three fits counts, unless they would take longer than this.
FITS, FIT_SECONDS = 3, 10.0
SHARE_OF_MEMORY = 0.75


def main() -> None:
    # Output of a library must not mix with the answers.
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)

    def say(stage, **found):
        answers.write(json.dumps({"stage": stage} | found) + "\n")

    request = json.loads(sys.stdin.read())
    _bound_memory()
    library = LIBRARIES[request["library"]]
    problem = _problem(request, library)
    _rehearse(library)
    X = problem.X
    before = restarted_peak()
    say(
        "ready",
        held_bytes=before,
        rows=X.shape[0],
        features=X.shape[1],
        classes=problem.classes,
        test_rows=len(problem.y_test),
        sparse=issparse(X),
        version=library.version(),
    )
    model, found = _fit(library, problem, request, before)
    say("fitted", **found)
    if len(problem.y_test):
        proba, found = _score(model, problem, request["quick"])
        say("scored", **found)
        say("done", **_single(library, model, problem, proba), **_saved(library, model))
    else:
        say("done")


def _bound_memory():
    """Limit the memory, so that a fit that would fill the machine fails by itself."""
    share = int(SHARE_OF_MEMORY * os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    with suppress(ValueError, OSError):  # the system has no such limit, or a lower one
        resource.setrlimit(resource.RLIMIT_AS, (share, hard))


def _problem(request, library):
    if "set" in request:
        problem = sets.load(request["set"], request["split"])
    else:
        problem = sets.made_up(request["rows"], request["features"], request["classes"])
    if issparse(problem.X) and not library.takes_sparse:
        problem = problem._replace(X=problem.X.toarray(), X_test=problem.X_test.toarray())
    return problem


def _rehearse(library):
    tiny = sets.made_up(120, 4, 3)
    library.make(2).fit(tiny.X, tiny.y).predict_proba(tiny.X)


def _fit(library, problem, request, before):
    """Fit; the memory is that of the first fit, the time that of the fastest."""
    model, taken = _timed_fit(library, problem, request)
    highest = peak()
    times = [taken]
    most = 1 if request["quick"] else FITS  # the same for all: many fits find a luckier best
    while len(times) < most and sum(times) + min(times) < FIT_SECONDS:
        model, taken = _timed_fit(library, problem, request)
        times.append(taken)
    return model, {
        "fit_seconds": min(times),
        "fits": len(times),
        "peak_bytes": highest - before,
        "estimator": type(model).__name__,
        "rounds": int(getattr(model, "n_iter_", 0)) or None,  # None where it does not say
    }


def _timed_fit(library, problem, request):
    model = library.make(request.get("rounds"))
    start = perf_counter()
    model.fit(problem.X, problem.y)
    return model, perf_counter() - start


def _score(model, problem, quick):
    X, y = problem.X_test, problem.y_test
    times = []
    while not times or (len(times) < 7 and sum(times) < (0.2 if quick else 3.0)):
        start = perf_counter()
        proba = model.predict_proba(X)
        times.append(perf_counter() - start)
    proba = np.asarray(proba, dtype=np.float64)
    right = np.clip(proba[np.arange(len(y)), y], TINIEST, 1.0)
    return proba, {
        "error": float(np.mean(proba.argmax(axis=1) != y)),
        "log_loss": float(-np.mean(np.log(right))),
        "batch_microseconds": 1e6 * min(times) / len(y),
    }


def _single(library, model, problem, proba):
    """Time one row from Python, with the fastest of the library's equivalent functions."""
    rows = problem.X_test[:32]
    rows = rows.toarray() if issparse(rows) else np.ascontiguousarray(rows)
    best = {}
    for way, predict in library.one_row(model).items():
        answer = np.asarray(predict(rows[0])).ravel()
        if answer.shape == proba[0].shape and np.allclose(answer, proba[0], rtol=0, atol=1e-4):
            best[way] = _median_seconds(predict, rows)
    if not best:
        return {"row_microseconds": None, "row_way": None}
    way = min(best, key=best.__getitem__)
    return {"row_microseconds": 1e6 * best[way], "row_way": way}


def _median_seconds(predict, rows):
    times = []
    end = perf_counter() + 0.5
    while len(times) < 10 or (len(times) < 3000 and perf_counter() < end):
        row = rows[len(times) % len(rows)]
        start = perf_counter()
        predict(row)
        times.append(perf_counter() - start)
    return statistics.median(times)


def _saved(library, model):
    with tempfile.TemporaryDirectory() as folder:
        library.save(model, Path(folder) / "model")
        return {"model_bytes": sum(file.stat().st_size for file in Path(folder).iterdir())}


if __name__ == "__main__":
    main()
