"""The scale of the probabilities, learned from rows that a fit has not seen.

A boosted model separates its own training rows ever further, so that how sure it is says little of
how often it is right. One number puts that straight: probabilities are softmax(s * F), with the s of
least log loss on rows that a second fit, with the same settings, was not shown.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from marginboost import _native
from marginboost.data.training_set import class_masses

if TYPE_CHECKING:
    from marginboost.data.training_set import TrainingSet

Floats = NDArray[np.float64]

SHARE = 0.2
MOST_ROWS = 10_000
MOST_PAIRS = 2_000_000  # of a row and a class: with very many classes fewer rows will do
# Scales are tried on a grid, so that the last bit of a sum can't show in the model.
_STEPS_AN_OCTAVE = 32
_OCTAVES = (-7, 4)


def held_out_rows(data: TrainingSet, hashes: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Choose rows to hold out: about the same share of every class, and never more than that.

    Equal rows of a class have equal hashes, and are held out together or not at all, however they are
    given: repeated, or with an integer weight.
    """
    share = min(SHARE, min(MOST_ROWS, MOST_PAIRS / data.n_classes) / data.n_counted)
    copies = np.ones(data.n_rows) if data.multiplicity is None else data.multiplicity
    held_out = []
    for start, stop in pairwise(data.class_offsets.tolist()):
        order = start + np.argsort(hashes[start:stop], kind="stable")
        ordered = hashes[order]
        counts = np.cumsum(copies[order])
        # Up to the last row of the group of equals that the count falls in.
        ends = np.searchsorted(ordered, ordered, side="right") - 1
        if stop > start:
            held_out.append(order[counts[ends] <= share * counts[-1]])
    return np.sort(np.concatenate(held_out))


def without(data: TrainingSet, rows: NDArray[np.int64]) -> TrainingSet:
    """Return the same rows, but some with no weight."""
    weight = np.ones(data.n_rows) if data.weight is None else data.weight.copy()
    weight[rows] = 0.0
    mass = class_masses(data.class_offsets, weight, data.multiplicity)
    return replace(data, weight=weight, class_mass=mass)


def best_scale(e: NDArray[np.float32], labels: NDArray[np.int64], weight: Floats) -> float:
    """Find the s of least log loss.

    Parameters
    ----------
    e : array of rows x classes
        exp(F[i, r] - F[i, y_i]); what it says of a row's own class does not matter.
    labels : array
        y, the class number of each row.
    weight : array
        Of each row.

    Returns
    -------
    float
        With p[i, r] / p[i, y_i] = e[i, r] ** s.
    """
    ratios = e.astype(np.float64)
    ratios[np.arange(len(e)), labels] = 1.0
    logs = _native.log(ratios).reshape(e.shape)

    def slope(step: float) -> float:
        scaled = _native.exp(np.ascontiguousarray(logs * _scale(step))).reshape(e.shape)
        return float(np.dot(weight, (scaled * logs).sum(axis=1) / scaled.sum(axis=1)))

    # Convex in s: the loss falls from a step to the next if it falls half-way between them.
    low, high = (octave * _STEPS_AN_OCTAVE for octave in _OCTAVES)
    while low < high:
        middle = (low + high) // 2
        if slope(middle + 0.5) < 0.0:
            low = middle + 1
        else:
            high = middle
    return _scale(low)


def _scale(step: float) -> float:
    return float(2.0 ** (step / _STEPS_AN_OCTAVE))
