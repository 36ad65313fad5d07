"""Which classes are in a prediction set: conformal thresholds from rows that a model did not see.

A class is in the set of a row if it is the most probable one, or if its probability is at least a
threshold. So no set is empty. The conformity of a labelled row is infinite where its class is the most
probable one, and otherwise the probability of its class; a threshold is the conformity that a share of
the held-out rows, the coverage, has at least, where a new row counts as one more that may have less.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marginboost.data.user_warning import warn_user
from marginboost.model.calibration_rows import CalibrationRows

__all__ = ["KINDS", "SetRule", "prediction_sets"]

Floats = NDArray[np.float64]

KINDS = ("marginal", "class")

_MOST_NAMED = 5
# Sums of weights are known to about so much.
_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class SetRule:
    """Thresholds for every coverage.

    Parameters
    ----------
    rows : CalibrationRows
        What they are found by.
    classes : array of n_classes
        The labels.
    ratio : float64 array of n_classes or None
        Frequency of each class at work over that in training; None where they are the same.
    """

    rows: CalibrationRows
    classes: NDArray[Any]
    ratio: Floats | None = None
    _found: dict[tuple[float, str], Floats] = field(default_factory=dict, repr=False)

    def checked_thresholds(self, coverage: float, kind: str) -> Floats:
        """Check what a user asks for, and return the thresholds; warn where there are too few rows."""
        if not isinstance(coverage, Real) or isinstance(coverage, bool) or not 0.0 < coverage < 1.0:
            raise ValueError(f"coverage must be a number above 0 and below 1; got {coverage!r}.")
        if not isinstance(kind, str) or kind not in KINDS:
            listed = ", ".join(map(repr, KINDS))
            raise ValueError(f"kind must be one of {listed}; got {kind!r}.")
        found = self.thresholds(float(coverage), kind)
        few = np.flatnonzero(found == 0.0)
        if len(few):
            counts = self.rows.count()
            least = math.ceil(coverage / (1.0 - coverage) - 1e-9)
            if kind == "class":
                named = ", ".join(
                    f"{self.classes[k]!r:.40} ({counts[k]:,})" for k in few[:_MOST_NAMED]
                )
                more = ", ..." if len(few) > _MOST_NAMED else ""
                told = f"per class; too few for {len(few):,} class(es), {named}{more}: they are"
            else:
                told = f"; found {counts.sum():,}, or weights that differ too much. Classes are"
            warn_user(
                f"A coverage of {coverage:g} needs at least {least:,} held-out rows {told} in every "
                "set. Fit on more rows, or ask for less.".replace(" ;", ";")
            )
        return found

    def thresholds(self, coverage: float, kind: str) -> Floats:
        """Return the least probability with which each class is in a set.

        Parameters
        ----------
        coverage : float
            Between 0 and 1.
        kind : {"marginal", "class"}
            Whether the coverage is that of all rows together, or that of the rows of each class.

        Returns
        -------
        float64 array of n_classes
            0: there are too few rows, and the class is in all sets; infinity: the class is only in the
            sets of rows for which it is the most probable one.
        """
        found = self._found.get((coverage, kind))
        if found is None:
            found = self._marginal(coverage) if kind == "marginal" else self._by_class(coverage)
            if self.ratio is not None:
                found[self.ratio == 0.0] = math.inf  # in no set
            self._found[coverage, kind] = found
        return found

    def _marginal(self, coverage: float) -> Floats:
        """Weigh the rows by the ratio of their class, and a new row by that of each class in turn."""
        rows = self.rows
        ratio = np.ones(len(rows.class_rows)) if self.ratio is None else self.ratio
        mass = rows.weight * rows.copies * ratio[rows.labels]
        news = _mean_weight(rows.weight, rows.copies) * ratio
        return _quantiles(self._conformities(), mass, news, coverage)

    def _by_class(self, coverage: float) -> Floats:
        """Let each class have a threshold of its own; frequencies play no part."""
        rows, values = self.rows, self._conformities()
        ends = np.cumsum(rows.class_rows)
        found = np.zeros(len(ends))
        for k, (end, count) in enumerate(zip(ends.tolist(), rows.class_rows.tolist(), strict=True)):
            if count:
                own = slice(end - count, end)
                weight, copies = rows.weight[own], rows.copies[own]
                new = np.array([_mean_weight(weight, copies)])
                found[k] = _quantiles(values[own], weight * copies, new, coverage)[0]
        return found

    def _conformities(self) -> Floats:
        """Return the conformity of each row with its own class."""
        shares = self.rows.probabilities(self.ratio)
        every, labels = np.arange(len(shares)), self.rows.labels
        own = shares[every, labels]
        shares[every, labels] = -1.0
        return np.where(own > shares.max(axis=1), np.inf, own)


def prediction_sets(probabilities: Floats, thresholds: Floats) -> NDArray[np.bool_]:
    """Return the classes in the set of each row.

    Parameters
    ----------
    probabilities : float64 array of rows x classes
        As predicted.
    thresholds : float64 array of n_classes
        Of `SetRule.thresholds`.

    Returns
    -------
    bool array of rows x classes
        At least one class per row.
    """
    sets: NDArray[np.bool_] = probabilities >= thresholds
    sets[np.arange(len(sets)), probabilities.argmax(axis=1)] = True
    return sets


def _mean_weight(weight: Floats, copies: NDArray[np.int64]) -> float:
    """Return the weight of a new row: the sum over how many rows of equal weights would tell as much."""
    total = float((weight * copies).sum())
    return float((weight * weight * copies).sum()) / total if total else 0.0


def _quantiles(values: Floats, mass: Floats, news: Floats, coverage: float) -> Floats:
    """Return the largest value that a share of the mass reaches, with a new row that does not; or 0."""
    order = np.argsort(-values, kind="stable")
    reached = np.cumsum(mass[order])
    total = reached[-1] if len(reached) else 0.0
    needed = coverage * (total + news) * (1.0 - _ROUNDING)
    places = np.searchsorted(reached, needed)
    found = np.zeros(len(news))
    enough = places < len(values)
    found[enough] = values[order[places[enough]]]
    return found
