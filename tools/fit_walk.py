"""List the functions of this package that a fit calls: how far a reader has to walk.

Usage: ``python tools/fit_walk.py [ESTIMATOR] [--list] [--rows N] [--set NAME=VALUE]``

Counts the Python functions of marginboost, and their files, that `fit` calls on a small NumPy array.
Functions in C++ and those of other packages are not counted, and neither are comprehensions, the bodies
of modules and of classes. A fit before it has made all imports.
"""

from __future__ import annotations

import argparse
import ast
import sys
import threading
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, NamedTuple

import numpy as np

import marginboost

PACKAGE = Path(marginboost.__file__).parent
ESTIMATORS = [name for name in marginboost.__all__ if name.endswith("Classifier")]
OPTIMISED_NEWLOCALS = 0x3  # the flags of a function's code, which a module's or a class's lacks


class Function(NamedTuple):
    """A function: its file, below the package, and its line and qualified name there."""

    file: str
    line: int
    name: str


def walk(call: Callable[[], Any]) -> dict[Function, int]:
    """Return the functions of the package that a call leads to, with how often each is called.

    Parameters
    ----------
    call : callable
        Without arguments.

    Returns
    -------
    dict of Function to int
        In the order of the first calls.
    """
    counts: dict[CodeType, int] = {}

    def profile(frame: FrameType, event: str, argument: Any) -> None:
        if event == "call":
            counts[frame.f_code] = counts.get(frame.f_code, 0) + 1

    threading.setprofile(profile)  # of the threads that the call starts
    sys.setprofile(profile)
    try:
        call()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return {_function(code): times for code, times in counts.items() if _is_ours(code)}


def _is_ours(code: CodeType) -> bool:
    is_function = code.co_flags & OPTIMISED_NEWLOCALS == OPTIMISED_NEWLOCALS
    is_named = not code.co_name.startswith("<") or code.co_name == "<lambda>"
    return is_function and is_named and Path(code.co_filename).is_relative_to(PACKAGE)


def _function(code: CodeType) -> Function:
    file = Path(code.co_filename).relative_to(PACKAGE).as_posix()
    return Function(file, code.co_firstlineno, code.co_qualname)


def fit_walk(name: str, n_rows: int = 200, **settings: Any) -> dict[Function, int]:
    """Return the functions that `fit` of an estimator calls on rows of numbers in three classes.

    Parameters
    ----------
    name : str
        A classifier of the package.
    n_rows : int, default=200
        How many rows, of five columns.
    **settings : object
        Parameters of the classifier.
    """
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 5))
    y = (X[:, 0] > 0).astype(int) + (X[:, 1] > 0)
    kind, model = getattr(marginboost, name), getattr(marginboost, name)(**settings)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # about few rows or rounds
        kind(**settings).fit(X, y)
        return walk(lambda: model.fit(X, y))


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the counts, and the functions if asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("estimator", nargs="?", choices=ESTIMATORS, default="MarginBoostClassifier")
    parser.add_argument(
        "--list", action="store_true", help="print the functions in the order of calls"
    )
    parser.add_argument("--rows", type=int, default=200, help="rows to fit; the default is 200")
    parser.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE", help="a parameter"
    )
    chosen = parser.parse_args(arguments)
    settings = {}
    for word in chosen.set:
        key, _, text = word.partition("=")
        try:
            settings[key] = ast.literal_eval(text)
        except (ValueError, SyntaxError):
            settings[key] = text
    found = fit_walk(chosen.estimator, chosen.rows, **settings)
    if chosen.list:
        for function, times in found.items():
            print(f"{times:8,}  {function.file}:{function.line}  {function.name}")
    files = {function.file for function in found}
    print(f"{chosen.estimator}.fit: {len(found)} functions in {len(files)} files, "
          f"{sum(found.values()):,} calls")  # fmt: skip


if __name__ == "__main__":
    main()
