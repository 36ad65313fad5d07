"""The interpreter ends while a daemon thread fits or predicts: the process ends as if nothing were."""

import os
import subprocess
import sys

import pytest

# Each child of a fork ends like a program of its own, at another moment, without a new import. A fit is
# left in its rounds: before them scikit-learn calls np.unique, where NumPy 2.3 and later end the process
# themselves, as its C++ code takes the interpreter's lock back in a destructor.
PROGRAM = """
import gc, os, sys, threading
import numpy as np
from marginboost import MarginBoostClassifier, MCBoostClassifier

rng = np.random.default_rng(0)
X, y = rng.normal(size=(2000, 8)), np.arange(2000) % 3
done = threading.Semaphore(0)
model = MarginBoostClassifier(10, calibrate=False).fit(X, y)

def repeat(call, *arguments):
    while True:
        call(*arguments)
        done.release()

def work(what, n_jobs):
    options = {"n_jobs": n_jobs, "callbacks": [lambda finished: done.release()]}
    if what == "fit":
        MarginBoostClassifier(10**6, **options).fit(X, y)
    if what == "fit stumps":
        MCBoostClassifier(10**6, learning_rate=1e-3, **options).fit(X, y)
    model.set_params(n_jobs=n_jobs)
    if what == "predict":
        repeat(model.predict_proba, X)
    if what == "explain":
        repeat(model.explain, X[:100])
    if what == "compiled":
        repeat(model.compile().predict_proba, X)

def exit_code(child):
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

def end_in_the_midst(what, moment):
    n_jobs = (1, 2, 4)[moment % 3]
    threading.Thread(target=work, args=(what, n_jobs), daemon=True).start()
    for _ in range(1 + moment % 5):  # rounds, or calls
        done.acquire()
    for _ in range(moment * 20_000):
        pass
    sys.exit()  # and the interpreter ends

gc.freeze()  # what was imported: every child would collect it at its end, in half a second
for what in sys.argv[1:]:
    codes = []
    for moment in range(5):
        if (child := os.fork()) == 0:
            end_in_the_midst(what, moment)
        codes.append(exit_code(child))
    print(what, *codes, sep=",", flush=True)
"""
KINDS = ["fit", "fit stumps", "predict", "explain", "compiled"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_exit_while_a_daemon_thread_works():
    """All kinds of work in one program, which imports the package once."""
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", PROGRAM, *KINDS]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.stderr == ""
    assert run.stdout.splitlines() == [",".join([what, *["0"] * 5]) for what in KINDS]
    assert run.returncode == 0
