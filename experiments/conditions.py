"""The conditions of a trial: all that decides its outcome, besides data, method, draw and settings."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from experiments.draws import TRAINING_SHARE
from experiments.methods import METHODS
from experiments.trial import Settings

__all__ = ["conditions", "rows_drawn"]

# Parameters of classifiers that decide how a fit runs and not what it gives. The seed follows from
# the draw.
_HOW = ("callbacks", "device", "engine", "n_jobs", "random_state", "verbose", "verbosity")


def conditions(
    method: str, *, rounds: int, rows: str, parameters: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Return the conditions of a fit.

    Parameters
    ----------
    method : str
        Name in `experiments.methods`.
    rounds : int
        Of boosting.
    rows : str
        The rule by which rows were drawn.
    parameters : mapping, optional
        Those that the experiment sets.

    Returns
    -------
    dict
        `rows`, and all `parameters` of the classifier that are not None, defaults included: when a
        default changes, the records of the old one are no longer taken for it.
    """
    given = tuple(sorted((parameters or {}).items()))
    return {"rows": rows, "parameters": dict(_parameters(method, rounds, given))}


def rows_drawn(
    per_class: int | None = None, *, first: int | None = None, largest: int | None = None
) -> str:
    """Return the rule of `experiments.draws.draw` in words."""
    which = "all rows" if per_class is None else f"{per_class} rows per class"
    if first is not None:
        which += f" of the first {first} classes"
    if largest is not None:
        which += f" of the {largest} largest classes"
    return f"{which}, {100 * TRAINING_SHARE:g} % for training"


@cache
def _parameters(method: str, rounds: int, given: tuple[tuple[str, Any], ...]) -> Settings:
    model: Any = METHODS[method].make(rounds, 0, 1, dict(given))
    found = model.get_params(deep=False)
    return {
        name: found[name] for name in sorted(found) if name not in _HOW and found[name] is not None
    }
