"""Which classes are in a prediction set, by conformal thresholds from rows that a model did not see.

A class is in the set of a row if its probability reaches a threshold: what a share of the held-out rows,
the coverage, reaches with the class that they belong to, where a new row counts as one more that may not
reach it.

Marginal sets have one threshold, and hold the most probable class in any case. That is known when the
threshold is chosen: a held-out row whose class is the most probable one is covered by any threshold.

Class-conditional sets have a threshold per class, from the rows of that class alone. No class is in the
set in any case, or frequent classes would be covered more often than others. A set that would be empty
holds the class that would be the first in it as the coverage grows.

Randomised sets draw a number u from 0 to 1 per row. A class is in the set if less than the coverage of
the held-out mass is before it: what reaches more, and a share u of what reaches as much, with the new
row. For the right class that share is uniform (Vovk, Gammerman and Shafer, 2005), so the coverage is
exact. Sets may be empty: where a model is right more often than sets are to be, nothing else is exact.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from marginboost.data.user_warning import warn_user
from marginboost.model.calibration_rows import CalibrationRows, rounded

__all__ = ["KINDS", "SetRule"]

Floats = NDArray[np.float64]
Booleans = NDArray[np.bool_]

KINDS = ("marginal", "class")

_MOST_NAMED = 5
# Sums of weights are known to about so much.
_ROUNDING = 1e-12


class _Ranked(NamedTuple):
    """What some rows reach with their own classes.

    Attributes
    ----------
    values : float64 array
        Probabilities, or infinity, descending.
    reached : float64 array
        The mass of the rows up to each.
    """

    values: Floats
    reached: Floats

    @classmethod
    def of(cls, values: Floats, mass: Floats) -> _Ranked:
        """Sort rows, those of equal values by their order."""
        order = np.argsort(-values, kind="stable")
        return cls(values[order], np.cumsum(mass[order]))

    def threshold(self, coverage: float, new: float) -> float:
        """Return the largest value that a share of the mass reaches, where a new row does not; or 0."""
        total = float(self.reached[-1]) if len(self.reached) else 0.0
        needed = coverage * (total + new) * (1.0 - _ROUNDING)
        place = int(np.searchsorted(self.reached, needed))
        return float(self.values[place]) if place < len(self.values) else 0.0

    def coverages(self, values: Floats, new: float) -> Floats:
        """Return the coverage above which each of some values reaches the threshold."""
        n_above = np.searchsorted(-self.values, -values, side="left")
        above = np.concatenate([[0.0], self.reached])[n_above]
        shares: Floats = above / (float(self.reached[-1]) + new)
        return shares

    def drawn(self, values: Floats, new: float, u: Floats) -> Floats:
        """Return the share of the mass before each of some values, with a share u of equal ones."""
        ends = np.concatenate([[0.0], self.reached])
        above = ends[np.searchsorted(-self.values, -values, side="left")]
        upto = ends[np.searchsorted(-self.values, -values, side="right")]
        shares: Floats = (above + u * (upto - above + new)) / (float(ends[-1]) + new)
        return shares


@dataclass(frozen=True, slots=True, eq=False)
class SetRule:
    """Makes sets of probabilities, for any coverage.

    Parameters
    ----------
    rows : CalibrationRows
        What thresholds are found by.
    classes : array of n_classes
        The labels.
    ratio : float64 array of n_classes or None
        Frequency of each class at work over that in training; None where they are the same.
    """

    rows: CalibrationRows
    classes: NDArray[Any]
    ratio: Floats | None = None
    _ranked: dict[str, list[_Ranked]] = field(default_factory=dict, repr=False)
    _thresholds: dict[tuple[float, str], Floats] = field(default_factory=dict, repr=False)

    def check(self, coverage: Any, kind: Any) -> None:
        """Raise unless this can be asked for; warn where there are too few rows for it."""
        number = isinstance(coverage, Real) and not isinstance(coverage, bool)
        if not number or not 0.0 < coverage < 1.0:
            raise ValueError(f"coverage must be a number above 0 and below 1; got {coverage!r}.")
        if not isinstance(kind, str) or kind not in KINDS:
            raise ValueError(f"kind must be one of {', '.join(map(repr, KINDS))}; got {kind!r}.")
        few = np.flatnonzero(self.thresholds(coverage, kind) == 0.0)
        if not len(few):
            return
        least = math.ceil(coverage / (1.0 - coverage) - 1e-9)
        counts = self.rows.count()
        if kind == "marginal":
            told = f"held-out rows; the model has {counts.sum():,}, maybe of unequal weights"
            which = "Some classes are" if len(few) < len(counts) else "All classes are"
        else:
            named = [f"{self.classes[k]!s:.40} has {counts[k]:,}" for k in few[:_MOST_NAMED]]
            told = f"held-out rows of each class; {', '.join(named)}"
            which = f"{len(few):,} of {len(counts):,} classes are"
        warn_user(
            f"A coverage of {coverage:g} needs at least {least:,} {told}. {which} in every set. Fit on "
            "more rows, or ask for a smaller coverage."
        )

    def sets(self, probabilities: Floats, coverage: float, kind: str) -> Booleans:
        """Return the classes in the set of each row.

        Parameters
        ----------
        probabilities : float64 array of rows x classes
            As predicted.
        coverage : float
            Above 0, below 1.
        kind : {"marginal", "class"}
            Whether the coverage is that of all rows together, or that of the rows of each class.

        Returns
        -------
        bool array of rows x classes
            At least one class per row.
        """
        found: Booleans = probabilities >= self.thresholds(coverage, kind)
        if kind == "marginal":
            found[np.arange(len(found)), probabilities.argmax(axis=1)] = True
            return found
        empty = np.flatnonzero(~found.any(axis=1))
        if len(empty):
            found[empty, self._first(probabilities[empty])] = True
        return found

    def randomized_sets(
        self, probabilities: Floats, coverage: float, kind: str, u: Floats
    ) -> Booleans:
        """Return sets of exact coverage, some of them maybe empty.

        Parameters
        ----------
        probabilities, coverage, kind
            As for `sets`.
        u : float64 array of rows
            Drawn from 0 to 1.

        Returns
        -------
        bool array of rows x classes
        """
        # At other frequencies the rows' probabilities are not rounded after they were shifted.
        shares = rounded(probabilities) if self.ratio is None else probabilities
        ratios, ranked = self._ratios(), self._ranks(kind)
        marginal = kind == "marginal"
        if marginal:
            news = (_weight_of_new(self.rows.weight, self.rows.copies) * ratios).tolist()
            ranked = ranked * len(ratios)
            ordered = np.sort(shares, axis=1)
            only = ordered[:, -1] > ordered[:, -2]
            shares = np.where((shares == ordered[:, -1:]) & only[:, None], np.inf, shares)
        else:
            news = self._news()
        found = np.zeros(shares.shape, dtype=np.bool_)
        for k in np.flatnonzero(ratios).tolist():
            if not len(ranked[k].values):  # nothing is known of a class without rows
                found[:, k] = True
                continue
            found[:, k] = ranked[k].drawn(shares[:, k], news[k], u) < coverage
        return found

    def thresholds(self, coverage: float, kind: str) -> Floats:
        """Return the least probability with which each class is in a set.

        Returns
        -------
        float64 array of n_classes
            0: there are too few rows, and the class is in all sets. Infinity: it is only in those of rows
            for which it is the most probable one; or in none, where its frequency at work is 0.
        """
        known = self._thresholds.get((coverage, kind))
        if known is not None:
            return known
        rows, ranked = self.rows, self._ranks(kind)
        if kind == "marginal":
            news = _weight_of_new(rows.weight, rows.copies) * self._ratios()
            found = [ranked[0].threshold(coverage, new) for new in news.tolist()]
        else:
            parts = zip(ranked, self._news(), strict=True)
            found = [own.threshold(coverage, new) for own, new in parts]
        thresholds = np.array(found)
        thresholds[self._ratios() == 0.0] = math.inf
        self._thresholds[coverage, kind] = thresholds
        return thresholds

    def _first(self, probabilities: Floats) -> NDArray[np.int64]:
        """Return the class of each row that is in the smallest of its class-conditional sets."""
        coverages = np.full(probabilities.shape, np.inf)
        ranked, news = self._ranks("class"), self._news()
        for k in np.flatnonzero(self._ratios()).tolist():  # each has a threshold, so it has rows
            coverages[:, k] = ranked[k].coverages(probabilities[:, k], news[k])
        least = coverages == coverages.min(axis=1)[:, None]
        first: NDArray[np.int64] = np.where(least, probabilities, -1.0).argmax(axis=1)
        return first

    def _news(self) -> list[float]:
        """Return the weight of a new row among those of each class."""
        rows = self.rows
        return [_weight_of_new(rows.weight[part], rows.copies[part]) for part in rows.by_class()]

    def _ratios(self) -> Floats:
        return np.ones(len(self.classes)) if self.ratio is None else self.ratio

    def _ranks(self, kind: str) -> list[_Ranked]:
        """Rank all rows, or those of each class."""
        if kind not in self._ranked:
            rows, labels = self.rows, self.rows.labels
            shares = rows.probabilities(self.ratio)
            every = np.arange(len(shares))
            own = shares[every, labels]
            mass = rows.weight * rows.copies
            if kind == "marginal":
                shares[every, labels] = -1.0
                own = np.where(own > shares.max(axis=1), np.inf, own)
                found = [_Ranked.of(own, mass * self._ratios()[labels])]
            else:
                found = [_Ranked.of(own[part], mass[part]) for part in rows.by_class()]
            self._ranked[kind] = found
        return self._ranked[kind]


def _weight_of_new(weight: Floats, copies: NDArray[np.int64]) -> float:
    """Return the weight of a new row: the sum over how many rows of equal weights would tell as much."""
    total = float((weight * copies).sum())
    return float((weight * weight * copies).sum()) / total if total else 0.0
