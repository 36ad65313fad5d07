"""``marginboost demo``."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from marginboost import MarginBoostClassifier
from marginboost.cli.words import note, percent
from marginboost.report import write_report


def run_demo(out: Path) -> None:
    """Train on handwritten digits, print the result and write a report."""
    X, y = load_digits(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0, stratify=y)
    note(f"Training on {len(X_train):,} handwritten digits of {X.shape[1]} pixels ...")
    start = perf_counter()
    model = MarginBoostClassifier(random_state=0, verbose=1).fit(X_train, y_train)
    seconds = perf_counter() - start
    accuracy = float(np.mean(model.predict(X_test) == y_test))
    note(f"Accuracy {percent(accuracy)} on {len(X_test):,} other digits, after {seconds:.1f} s.")
    write_report(model, out, X_test, y_test, title="Handwritten digits", held_out=True)
    note(f"Report: {out} (open it in a browser)")
