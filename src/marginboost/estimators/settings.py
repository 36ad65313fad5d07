"""Parameters and arguments of `fit`: how they are stored, what must hold, and what was got."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from numbers import Integral, Real
from typing import Any

import numpy as np

from marginboost.engine import DEVICES, ENGINES

AUTO = "auto"


def store_parameters(model: Any, given: Mapping[str, Any]) -> None:
    """Store what a constructor was given: its `locals()`, but for the classifier itself."""
    for name, value in given.items():
        if name != "self":
            setattr(model, name, value)


def check_integer(
    name: str,
    value: Any,
    low: int,
    high: int | None = None,
    *,
    none_is: str | None = None,
    auto: bool = False,
) -> None:
    """Raise unless `value` is an integer in [low, high], or None where `none_is` says what that is."""
    if (value is None and none_is is not None) or (auto and is_auto(value)):
        return
    if isinstance(value, Integral) and not isinstance(value, bool):
        number = int(value)
        if number >= low and (high is None or number <= high):
            return
    span = f"at least {low}" if high is None else f"from {low} to {high}"
    raise ValueError(f"{name} must be an integer {span}{_others(none_is, auto)}; got {value!r}.")


def check_real(
    name: str,
    value: Any,
    low: float,
    high: float = math.inf,
    *,
    low_included: bool = True,
    none_is: str | None = None,
    auto: bool = False,
) -> None:
    """Raise unless `value` is a finite number in the range, or None where `none_is` says what that is."""
    if (value is None and none_is is not None) or (auto and is_auto(value)):
        return
    if isinstance(value, Real) and not isinstance(value, bool):
        number = float(value)
        above = number >= low if low_included else number > low
        if above and number <= high and math.isfinite(number):
            return
    start = "at least" if low_included else "above"
    end = "" if high == math.inf else f" and at most {high:g}"
    other = _others(none_is, auto)
    raise ValueError(f"{name} must be a finite number {start} {low:g}{end}{other}; got {value!r}.")


def is_auto(value: Any) -> bool:
    """Whether a parameter is left to the fit."""
    return isinstance(value, str) and value == AUTO


def _others(none_is: str | None, auto: bool) -> str:
    """Say what else a parameter may be."""
    none = "" if none_is is None else f", or None for {none_is}"
    return f'{none}, or "{AUTO}"' if auto else none


def check_choice(name: str, value: Any, choices: Collection[str]) -> None:
    """Raise unless `value` is one of `choices`."""
    if not isinstance(value, str) or value not in choices:
        listed = ", ".join(repr(choice) for choice in choices)
        raise ValueError(f"{name} must be one of {listed}; got {value!r}.")


def check_bool(name: str, value: Any) -> None:
    """Raise unless `value` is True or False."""
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name} must be True or False; got {value!r}.")


def check_threads(value: Any) -> None:
    """Raise unless `value` is a number of threads: positive, negative to count back, or None."""
    whole = isinstance(value, Integral) and not isinstance(value, bool)
    if value is not None and (not whole or value == 0):
        raise ValueError(
            "n_jobs must be a positive integer, a negative one (-1 for every CPU, -2 for all but one), "
            f"or None for every CPU; got {value!r}."
        )


def check_machine(model: Any) -> None:
    """Check where and how a classifier is to work, and the kind of its `class_weight`."""
    verbose = int(model.verbose) if isinstance(model.verbose, bool) else model.verbose
    check_integer("verbose", verbose, 0)
    check_choice("engine", model.engine, ENGINES)
    check_choice("device", model.device, DEVICES)
    check_threads(model.n_jobs)
    if isinstance(model.class_weight, str):
        check_choice("class_weight", model.class_weight, ("balanced",))


def check_pair(X_val: Any, y_val: Any, sample_weight_val: Any = None) -> None:
    """Raise where one of the two is missing, or there are weights without rows."""
    if (X_val is None) != (y_val is None):
        given, missing = ("X_val", "y_val") if y_val is None else ("y_val", "X_val")
        raise ValueError(f"X_val and y_val must be given together; got {given} without {missing}.")
    if sample_weight_val is not None and X_val is None:
        raise ValueError("sample_weight_val must come with X_val and y_val; got it without them.")
