"""The shape of each column of X in a model of stumps: one step function per class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marginboost.data.encoding import Category, Encoding
from marginboost.model.ensemble import Ensemble

__all__ = ["FeatureShape", "feature_shapes"]

Floats = NDArray[np.float64]

_LARGEST = np.finfo(np.float64).max


@dataclass(frozen=True, slots=True, eq=False)
class FeatureShape:
    """What one column adds to the scores, as a function of its value.

    The mean over the sample of training rows that gave the cover of the leaves is zero for every class,
    so these are the contributions of `explain`.

    Attributes
    ----------
    name : str
        Name of the column.
    thresholds : float64 ndarray of shape (n_steps - 1,)
        Ascending. Step s holds the values above ``thresholds[s - 1]``, up to and including
        ``thresholds[s]``. Empty for a column of categories.
    categories : tuple or None
        The categories, one per step; None for a column of numbers.
    values : float64 ndarray of shape (n_steps, n_classes)
        What the column adds on each step, or in each category.
    missing : float64 ndarray of shape (n_classes,)
        What it adds if the value is missing, or is an unseen category.
    learned_missing : bool
        Whether values of the column were missing in training; otherwise `missing` was not learned.
    infinite : float64 ndarray of shape (2, n_classes)
        What it adds at -inf and at inf, which trees may separate from all other numbers. Zero for a
        column of categories.
    """

    name: str
    thresholds: Floats
    categories: tuple[Category, ...] | None
    values: Floats
    missing: Floats
    learned_missing: bool
    infinite: Floats

    @property
    def is_flat(self) -> bool:
        """Whether no tree splits the column."""
        return not (self.values.any() or self.missing.any() or self.infinite.any())

    def __call__(self, value: Any) -> Floats:
        """Return what the column adds at a value.

        Parameters
        ----------
        value : float or category
            NaN or None if it is missing.

        Returns
        -------
        float64 ndarray of shape (n_classes,)
        """
        if self.categories is not None:
            found = [place for place, name in enumerate(self.categories) if name == value]
            return self.values[found[0]] if found else self.missing
        if value is None or np.isnan(value):
            return self.missing
        if np.isinf(value):
            step: Floats = self.infinite[int(value > 0)]
        else:
            step = self.values[np.searchsorted(self.thresholds, value)]
        return step


def feature_shapes(
    ensemble: Ensemble, encoding: Encoding, names: tuple[str, ...]
) -> list[FeatureShape]:
    """Add up the stumps of each column of X.

    Parameters
    ----------
    ensemble : Ensemble
        Stumps, with the cover of their leaves.
    encoding : Encoding
        The encoding whose ordered columns the ensemble splits.
    names : tuple of str
        Names of the columns of X.

    Returns
    -------
    list of FeatureShape
        One per column of X.
    """
    sizes = np.diff(ensemble.node_offsets)
    if sizes.max(initial=0) > 1:
        raise ValueError(
            "Shapes of features must come from a model of stumps, whose trees split once; got trees "
            f"with up to {sizes.max()} splits: use max_depth=1 (or max_leaf_nodes=2), or `explain`."
        )
    if ensemble.leaf_cover is None:
        raise ValueError(
            "The ensemble must have a leaf_cover, got none; fit the model again, or add one with "
            "`with_cover`."
        )
    stumps = _Stumps(ensemble)
    return [_shape(stumps, encoding, j, name) for j, name in enumerate(names)]


class _Stumps:
    """The trees with a split, one per row of each array, minus their means."""

    def __init__(self, ensemble: Ensemble) -> None:
        first = ensemble.leaf_offsets[:-1][np.diff(ensemble.node_offsets) == 1]
        left, right = first + ~ensemble.left, first + ~ensemble.right
        cover = np.zeros(0) if ensemble.leaf_cover is None else ensemble.leaf_cover
        below, above = cover[left], cover[right]
        both = below + above
        # As in the explainer: if no row reached the node, half goes to either side.
        share = np.divide(below, both, out=np.full(len(both), 0.5), where=both > 0)[:, None]
        at_left, at_right = _terms(ensemble, left), _terms(ensemble, right)
        means = share * at_left + (1 - share) * at_right
        self.feature = ensemble.feature
        self.threshold = ensemble.threshold
        self.left, self.right = at_left - means, at_right - means

    def added(self, which: NDArray[np.bool_], points: Floats) -> Floats:
        """Return what some stumps of one ordered column add at its values."""
        goes_left = points[:, None] <= self.threshold[which]
        sums: Floats = goes_left @ self.left[which] + ~goes_left @ self.right[which]
        return sums


def _terms(ensemble: Ensemble, leaves: NDArray[np.int64]) -> Floats:
    terms: Floats = (
        ensemble.leaf_value[leaves, None] * ensemble.vectors[ensemble.leaf_vector[leaves]]
    )
    return terms


def _shape(stumps: _Stumps, encoding: Encoding, j: int, name: str) -> FeatureShape:
    columns = np.flatnonzero(encoding.source == j)
    used = np.isin(stumps.feature, columns)
    categories = encoding.categories[j]
    thresholds = np.empty(0)
    if categories is None:
        found = np.unique(stumps.threshold[used])
        # The largest numbers only separate missing and infinite values from all others.
        thresholds = found[np.abs(found) < _LARGEST]
        points = np.append(thresholds, _LARGEST)  # each is the last value of its step
    values = np.zeros((len(categories or points), stumps.left.shape[1]))
    missing = np.zeros(stumps.left.shape[1])
    infinite = np.zeros((2, stumps.left.shape[1]))
    for column in columns.tolist():
        which = stumps.feature == column
        positions = encoding.positions[column]
        values += stumps.added(which, points if positions is None else positions)
        if positions is None:
            infinite += stumps.added(which, np.array([-np.inf, np.inf]))
        missing += stumps.added(which, encoding.fill[column : column + 1])[0]
    learned = len(columns) > 1 and categories is None
    return FeatureShape(name, thresholds, categories, values, missing, learned, infinite)
