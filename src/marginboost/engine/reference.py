"""The engine in NumPy: slow, and meant to be read. What it says is right by definition."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from marginboost.engine.base import LARGEST_EXPONENTIAL, SMALLEST_EXPONENTIAL, Floats

if TYPE_CHECKING:
    from marginboost.data.training_set import TrainingSet
    from marginboost.loss import Loss

Integers = NDArray[np.int64]


class ReferenceEngine:
    """See `Engine`: every method here is its definition."""

    name = "reference"

    _data: TrainingSet
    _loss: Loss
    _e: Floats
    _g: Integers
    _side: Integers
    _node: Integers

    def load(self, data: TrainingSet, loss: Loss) -> None:
        """Take the rows."""
        self._data, self._loss = data, loss
        self._y = data.labels
        self._rows = np.arange(data.n_rows)
        ones = np.ones(data.n_rows)
        self._weight = ones if data.weight is None else data.weight
        self._copies = ones if data.multiplicity is None else data.multiplicity.astype(np.float64)
        self._e = np.ones((data.n_rows, data.n_classes))
        self._e[self._rows, self._y] = SMALLEST_EXPONENTIAL
        self._side = np.zeros(data.n_rows, dtype=np.int64)

    def advance(self, up: Floats, down: Floats, exponent: int) -> int:
        """Move the margins, then form the direction anew."""
        self._e = self._moved(up, down)
        u = self._fixed_point(self._loss.weight(self._e), exponent).astype(np.int64)
        self._g = -u
        self._g[self._rows, self._y] = u.sum(axis=1)
        wrong = self._e.max(axis=1) >= 1.0
        return int(self._copies[wrong].sum())

    def best_stump(self) -> tuple[int, int, int, int]:
        """Find the largest |edge| over features, bins and classes."""
        best = (-1, 0, 0, 0)
        total = self._g.sum(axis=0)
        for feature in range(self._data.binned.n_features):
            edges = total - 2 * np.cumsum(self.histogram(feature), axis=0)[:-1]
            if edges.size == 0 or (best[0] >= 0 and np.abs(edges).max() <= abs(best[3])):
                continue
            largest = np.abs(edges).max()
            bin_ = int(np.flatnonzero(np.abs(edges).max(axis=1) == largest)[0])
            edge = largest if largest in edges[bin_] else -largest
            column = int(np.flatnonzero(edges[bin_] == edge)[0])
            best = (feature, bin_, column, int(edge))
        return best

    def histogram(self, feature: int) -> Integers:
        """Sum the direction by bin of one feature: n_bins x k."""
        hist = np.zeros((self._data.binned.n_bins[feature], self._data.n_classes), dtype=np.int64)
        np.add.at(hist, self._data.binned.bins[feature], self._g)
        return hist

    def place_stump(self, feature: int, bin_: int, above_is_one: bool) -> None:
        """Put rows above the bin on side 1 (or 0), the others on the other side."""
        above = self._data.binned.bins[feature] > bin_
        self._side = (above == above_is_one).astype(np.int64)

    def sums(self, exponent: int) -> Floats:
        """Sum the weights by side, class of the row, and class."""
        return self._sum(self._loss.weight(self._e), exponent)

    def sums_and_curvature(self, exponent: int, up: Floats, down: Floats) -> tuple[Floats, Floats]:
        """Sum u and u (1 - u) at the margins that `up` and `down` would move to."""
        u = self._loss.weight(self._moved(up, down))
        return self._sum(u, exponent), self._sum(u * (1.0 - u), exponent)

    def start_tree(self, column: int) -> None:
        """Start a tree for one class's direction."""
        self._node = np.zeros(self._data.n_rows, dtype=np.int64)
        self._column = self._g[:, column]
        self._n_nodes = 1

    def best_splits(self) -> Integers:
        """Find the best split of every open node, by weighted Gini impurity."""
        self._splits = np.array([self._best_split(q) for q in range(self._n_nodes)])
        return self._splits

    def apply_splits(self, left: list[int], right: list[int]) -> None:
        """Move rows of node q to left[q] or right[q]."""
        node = self._node.copy()
        for q, (feature, bin_) in enumerate(self._splits[:, :2]):
            here = self._node == q
            above = self._data.binned.bins[feature] > bin_ if feature >= 0 else np.zeros_like(here)
            node[here] = np.where(above[here], right[q], left[q])
        self._node = node
        self._n_nodes = max(max(left), max(right)) + 1

    def finish_tree(self, leaf_side: list[int]) -> None:
        """Put the rows of each leaf on its side."""
        self._side = np.array(leaf_side, dtype=np.int64)[~self._node]

    def state(self) -> tuple[Floats, Integers]:
        """Return e and the fixed-point direction, for inspection."""
        return self._e, self._g

    def _moved(self, up: Floats, down: Floats) -> Floats:
        factor = up[self._side] * down[self._side, self._y][:, None]
        factor[self._rows, self._y] = 1.0
        return np.minimum(
            np.maximum(self._e * factor, SMALLEST_EXPONENTIAL), LARGEST_EXPONENTIAL
        )

    def _fixed_point(self, u: Floats, exponent: int) -> Floats:
        unit = self._weight * np.ldexp(1.0, exponent)
        rounded: Floats = np.rint(u * unit[:, None]) * self._copies[:, None]
        return rounded

    def _sum(self, u: Floats, exponent: int) -> Floats:
        k = self._data.n_classes
        sums = np.zeros((2, k, k))
        np.add.at(sums, (self._side, self._y), self._fixed_point(u, exponent))
        return sums * np.ldexp(1.0, -exponent)

    def _best_split(self, q: int) -> tuple[int, ...]:
        here = self._node == q
        g = self._column[here]
        positive, negative = int(g[g > 0].sum()), int(-g[g < 0].sum())
        best, best_score = (-1, 0, positive, negative, 0, 0), -1.0
        if positive == 0 or negative == 0:
            return best
        for feature in range(self._data.binned.n_features):
            masses = np.zeros((self._data.binned.n_bins[feature], 2), dtype=np.int64)
            split = np.stack([np.maximum(g, 0), np.maximum(-g, 0)], axis=1)
            np.add.at(masses, self._data.binned.bins[feature][here], split)
            left = np.cumsum(masses, axis=0)[:-1]
            right = np.array([positive, negative]) - left
            allowed = (left.sum(axis=1) > 0) & (right.sum(axis=1) > 0)
            if not allowed.any():
                continue
            score = np.full(len(left), -1.0)
            score[allowed] = _purity(left[allowed]) + _purity(right[allowed])
            bin_ = int(np.argmax(score))
            if score[bin_] > best_score:
                best_score = float(score[bin_])
                best = (feature, bin_, positive, negative, int(left[bin_, 0]), int(left[bin_, 1]))
        return best


def _purity(masses: Integers) -> Floats:
    p, n = masses[:, 0].astype(np.float64), masses[:, 1].astype(np.float64)
    value: Floats = (p * p + n * n) / (p + n)
    return value
