"""Rows that a model did not see, and its probabilities for them, to calibrate prediction sets on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marginboost import _native

__all__ = ["CalibrationRows", "rounded"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# Steps of -log p per unit: two probabilities that differ by a thousandth are told apart.
STEPS = 1024.0
_MOST = float(np.iinfo(np.uint16).max)
# Rows that are kept, and pairs of a row and a class: of more rows, some are drawn.
MOST_ROWS = 50_000
MOST_PAIRS = 2_000_000


@dataclass(frozen=True, slots=True, eq=False)
class CalibrationRows:
    """Labelled rows and the probabilities that fits without them estimate, in the order of the classes.

    Probabilities are kept in 16 bits, as steps of their logarithm. They are rounded down, so that no set
    becomes too small.

    Attributes
    ----------
    steps : uint16 array of rows x classes
        -log(p) in steps of 1/1024, rounded up.
    class_rows : int64 array of n_classes
        Rows of each class; those of the first class come first.
    weight : float64 array of rows
        Weight of one copy of each row, above 0 and at most 1.
    copies : int64 array of rows
        How often each row counts, at least once.
    """

    steps: NDArray[np.uint16]
    class_rows: Integers
    weight: Floats
    copies: Integers

    @classmethod
    def of_logits(
        cls,
        logits: Floats,
        labels: Integers,
        weight: Floats,
        copies: Integers,
        *,
        in_any_order: bool = False,
    ) -> CalibrationRows:
        """Keep the softmax of rows of logits, at least one.

        Parameters
        ----------
        logits : float64 array of rows x classes
            Probabilities are their softmax.
        labels : int64 array of rows
            Class numbers.
        weight : float64 array of rows
            Weight of one copy of each row, above 0, in any unit.
        copies : int64 array of rows
            As the attribute.
        in_any_order : bool
            Whether the order of the rows may depend on where they come from, and must not show.
        """
        n_classes = logits.shape[1]
        top = logits.max(axis=1)
        below = np.ascontiguousarray(logits - top[:, None])
        total = _native.exp(below).reshape(below.shape).sum(axis=1)
        losses = np.asarray(_native.log(total))[:, None] - below
        steps = np.minimum(np.ceil(losses * STEPS), _MOST).astype(np.uint16)
        if in_any_order and len(steps):
            place = np.unique(steps, axis=0, return_inverse=True)[1].reshape(-1)
            order = np.lexsort((weight, place, labels))
            order, copies = _joined(order, (labels, place, weight), copies)
        else:
            order = np.argsort(labels, kind="stable")
        most = min(MOST_ROWS, max(MOST_PAIRS // n_classes, 1))
        if len(order) > most:
            order = _some(order, most)
        counts = np.bincount(labels[order], minlength=n_classes).astype(np.int64)
        return cls(
            steps[order],
            counts,
            # A power of two changes no share of the weight.
            np.ldexp(weight[order], -int(np.frexp(weight[order].max())[1])),
            np.asarray(copies, dtype=np.int64)[order],
        )

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.steps)

    @property
    def labels(self) -> Integers:
        """Class number of each row."""
        return np.repeat(np.arange(len(self.class_rows)), self.class_rows)

    def by_class(self) -> list[slice]:
        """Return where the rows of each class are."""
        ends = np.cumsum(self.class_rows).tolist()
        return [slice(end - n, end) for end, n in zip(ends, self.class_rows.tolist(), strict=True)]

    def count(self) -> Integers:
        """Count the rows of each class, each as often as it counts."""
        counts = np.bincount(self.labels, weights=self.copies, minlength=len(self.class_rows))
        return counts.astype(np.int64)

    def probabilities(self, ratio: Floats | None = None) -> Floats:
        """Return the probabilities; with a ratio of frequencies per class, those at other frequencies."""
        logs = self.steps * (-1.0 / STEPS)
        if ratio is None:
            return np.asarray(_native.exp(np.ascontiguousarray(logs))).reshape(logs.shape)
        # The largest of a row becomes 1 before it is scaled: no row of a class that stays adds up to 0.
        used = ratio > 0.0
        shifted = logs + np.asarray(_native.log(np.where(used, ratio, 1.0)))
        shifted[:, ~used] = -np.inf
        shifted -= shifted[:, used].max(axis=1)[:, None]
        odds = np.zeros(shifted.shape)
        kept = np.ascontiguousarray(shifted[:, used])
        odds[:, used] = np.asarray(_native.exp(kept)).reshape(kept.shape)
        shares: Floats = odds / odds.sum(axis=1)[:, None]
        return shares


def rounded(probabilities: Floats) -> Floats:
    """Round probabilities as those of calibration rows are, so that equal ones stay equal."""
    with np.errstate(divide="ignore"):
        losses = -np.asarray(_native.log(np.ascontiguousarray(probabilities)))
    steps = np.minimum(np.ceil(losses.reshape(probabilities.shape) * STEPS), _MOST)
    logs = np.ascontiguousarray(steps * (-1.0 / STEPS))
    return np.asarray(_native.exp(logs)).reshape(logs.shape)


def _joined(
    order: Integers, keys: tuple[NDArray[Any], ...], copies: Integers
) -> tuple[Integers, Integers]:
    """Return the first of the rows that are equal, and copies, of which it has those of all of them."""
    new = np.ones(len(order), dtype=bool)
    new[1:] = np.any([key[order][1:] != key[order][:-1] for key in keys], axis=0)
    first = np.flatnonzero(new)
    copies = copies.copy()
    copies[order[first]] = np.add.reduceat(copies[order], first)
    return order[first], copies


def _some(rows: Integers, most: int) -> Integers:
    """Draw so many rows, always the same ones, in their order."""
    return rows[np.sort(np.random.default_rng(0).permutation(len(rows))[:most])]
