"""The engine in NumPy: slow and readable. It defines the results of all engines."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from marginboost.engine.stumps.base import (
    LARGEST_EXPONENTIAL,
    SMALLEST_EXPONENTIAL,
    Floats,
    Integers,
)
from marginboost.engine.stumps.criterion import Criterion
from marginboost.engine.trees.base import NodeSplit

if TYPE_CHECKING:
    from marginboost.data.training_set import TrainingSet
    from marginboost.engine.stumps.base import Weighting


class ReferenceStumpEngine:
    """See `HostStumpEngine`: every method here is its definition."""

    name = "reference"

    _g: Integers
    _searched: Integers  # the direction, or its projection

    def load(self, data: TrainingSet, weighting: Weighting) -> None:
        """Take the rows."""
        self._data, self._loss, self._code = data, weighting.loss, weighting.code
        self._bins = data.binned.bins
        self._n_bins = data.binned.n_bins
        self._y = data.labels
        self._rows = np.arange(data.n_rows)
        ones = np.ones(data.n_rows)
        self._weight = ones if data.weight is None else data.weight
        self._copies = ones if data.multiplicity is None else data.multiplicity.astype(np.float64)
        code = self._code
        weighted = ~np.eye(data.n_classes, dtype=bool) if code is None else code != 0
        self._e = np.where(weighted[self._y], 1.0, SMALLEST_EXPONENTIAL)
        self._side = np.zeros(data.n_rows, dtype=np.int64)

    def advance(
        self, up: Floats, down: Floats, exponent: int, next_search: int | None = None
    ) -> int:
        """Move the margins, then form the new direction."""
        return self._advance(self._margin_factors(up, down), exponent)

    def advance_table(self, table: Floats, exponent: int, next_search: int | None = None) -> int:
        """Do the same with a factor for every side, class and output."""
        return self._advance(table[self._side, self._y], exponent)

    def advance_output(self, output: int, table: Floats) -> None:
        """Multiply one output of e."""
        self._e[:, output] = _clamped(self._e[:, output] * table[self._side, self._y])

    def set_exponentials(self, e: Floats) -> None:
        """Replace all of e."""
        self._e = _clamped(e)

    def project(self, signs: NDArray[np.int8]) -> None:
        """Let searches see the direction's outputs times `signs`."""
        self._searched = (self._g @ signs.astype(np.int64))[:, None]

    def best_stump(self, criterion: int = Criterion.LARGEST) -> tuple[int, int, int, int]:
        """Find the best stump over features, bins and outputs."""
        best = (-1, 0, 0, 0)
        for feature in range(len(self._bins)):
            edges = self._edges(feature)
            if edges.size == 0:
                continue
            here = _best_by(criterion, edges)
            if best[0] < 0 or abs(here[2]) > abs(best[3]):
                best = (feature, *here)
        return best

    def best_stumps(self) -> Integers:
        """Find the stump of largest |edge| for each output."""
        best = np.tile(np.array([-1, 0, 0]), (self._searched.shape[1], 1))
        for feature in range(len(self._bins)):
            edges = self._edges(feature)
            for output in range(len(best) if edges.size else 0):
                bin_ = int(np.argmax(np.abs(edges[:, output])))
                if best[output, 0] < 0 or abs(edges[bin_, output]) > abs(best[output, 2]):
                    best[output] = feature, bin_, edges[bin_, output]
        return best

    def place_stump(self, feature: int, bin_: int, above_is_one: bool) -> None:
        """Put rows above the bin on side 1 (or 0), the others on the other side."""
        above = self._bins[feature] > bin_
        self._side = (above == above_is_one).astype(np.int64)

    def place_tree(
        self,
        feature: list[int],
        bin_: list[int],
        left: list[int],
        right: list[int],
        leaf_side: list[int],
    ) -> None:
        """Put rows on the sides of a tree's leaves."""
        place = np.full(self._data.n_rows, 0 if feature else ~0)
        for node in range(len(feature)):  # children come after their parents
            here = place == node
            above = self._bins[feature[node]][here] > bin_[node]
            place[here] = np.where(above, right[node], left[node])
        self._side = np.array(leaf_side, dtype=np.int64)[~place]

    def edges(self) -> Integers:
        """Sum g * h for every output."""
        edges: Integers = (2 * self._side - 1) @ self._g
        return edges

    def sums(self, exponent: int) -> Floats:
        """Sum the weights by side, class of the row, and output."""
        return self._sum(self._loss.weight(self._e), exponent)

    def sums_and_curvature(self, exponent: int, up: Floats, down: Floats) -> tuple[Floats, Floats]:
        """Sum u and u (1 - u) at the margins that `up` and `down` would move to."""
        u = self._loss.weight(_clamped(self._e * self._margin_factors(up, down)))
        return self._sum(u, exponent), self._sum(u * (1.0 - u), exponent)

    def histograms(self) -> NDArray[np.int32]:
        """Sum what searches see by feature and bin."""
        every = [self._histogram(feature) for feature in range(len(self._bins))]
        return np.concatenate(every).astype(np.int32)

    def start_tree(self, output: int) -> NodeSplit:
        """Start a tree with all rows in node 0."""
        g = self._searched[:, max(output, 0)]
        self._class_tree = output < 0
        self._label = self._y if self._class_tree else (g < 0).astype(np.int64)
        self._n_labels = self._data.n_classes if self._class_tree else 2
        self._mass = np.abs(g)
        self._node = np.zeros(self._data.n_rows, dtype=np.int64)
        self._n_nodes = 1
        return self._best_split(0, search=True)

    def split(
        self, nodes: list[int], features: list[int], bins: list[int], search: list[bool]
    ) -> list[NodeSplit]:
        """Divide nodes."""
        first = self._n_nodes
        for node, feature, bin_ in zip(nodes, features, bins, strict=True):
            here = self._node == node
            self._node[here] = self._n_nodes + (self._bins[feature][here] > bin_)
            self._n_nodes += 2
        wanted = np.repeat(search, 2).tolist()
        return [self._best_split(first + j, search) for j, search in enumerate(wanted)]

    def finish_tree(self, leaf_of_node: NDArray[np.int32]) -> Integers:
        """End the tree, and put the rows on the sides of its leaves."""
        leaf = leaf_of_node[self._node]
        masses = np.zeros((leaf_of_node.max() + 1, self._n_labels), dtype=np.int64)
        np.add.at(masses, (leaf, self._label), self._mass)
        label = masses.argmax(axis=1)[leaf]
        self._side = (label == (self._y if self._class_tree else 0)).astype(np.int64)
        return masses

    def state(self) -> tuple[Floats, Integers]:
        """Return e and the fixed-point direction, for inspection."""
        return self._e, self._g

    def _advance(self, factors: Floats, exponent: int) -> int:
        self._e = _clamped(self._e * factors)
        u = self._fixed_point(self._loss.weight(self._e), exponent).astype(np.int64)
        if self._code is None:
            self._g = -u
            self._g[self._rows, self._y] = u.sum(axis=1)
        else:
            self._g = u * self._code[self._y]
        self._searched = self._g
        wrong = self._e.max(axis=1) >= 1.0
        return int(self._copies[wrong].sum())

    def _margin_factors(self, up: Floats, down: Floats) -> Floats:
        factors: Floats = up[self._side] * down[self._side, self._y][:, None]
        factors[self._rows, self._y] = 1.0
        return factors

    def _edges(self, feature: int) -> Integers:
        """Edges of every threshold of a feature, with h = +1 above it: (n_bins - 1, outputs)."""
        below = np.cumsum(self._histogram(feature), axis=0)
        edges: Integers = self._searched.sum(axis=0) - 2 * below
        return edges[:-1]

    def _histogram(self, feature: int) -> Integers:
        hist = np.zeros((self._n_bins[feature], self._searched.shape[1]), dtype=np.int64)
        np.add.at(hist, self._bins[feature], self._searched)
        return hist

    def _fixed_point(self, u: Floats, exponent: int) -> Floats:
        unit = self._weight * np.ldexp(1.0, exponent)
        rounded: Floats = np.rint(u * unit[:, None]) * self._copies[:, None]
        return rounded

    def _sum(self, u: Floats, exponent: int) -> Floats:
        sums = np.zeros((2, self._data.n_classes, u.shape[1]))
        np.add.at(sums, (self._side, self._y), self._fixed_point(u, exponent))
        scaled: Floats = sums * np.ldexp(1.0, -exponent)
        return scaled

    def _best_split(self, node: int, search: bool) -> NodeSplit:
        here = self._node == node
        count = int(self._copies[here].sum())
        by_label = np.zeros((here.sum(), self._n_labels), dtype=np.int64)
        by_label[np.arange(len(by_label)), self._label[here]] = self._mass[here]
        masses = by_label.sum(axis=0)
        best, feature, bin_ = -1.0, -1, 0
        for f in range(len(self._bins) if search and (masses > 0).sum() > 1 else 0):
            hist = np.zeros((self._n_bins[f], self._n_labels), dtype=np.int64)
            np.add.at(hist, self._bins[f][here], by_label)
            left = np.cumsum(hist, axis=0)[:-1]
            right = masses - left
            allowed = (left.sum(axis=1) > 0) & (right.sum(axis=1) > 0)
            allowed &= self._heavy_enough(f, here)
            if not allowed.any():
                continue
            score = np.full(len(left), -1.0)
            score[allowed] = _purity(left[allowed]) + _purity(right[allowed])
            b = int(np.argmax(score))
            if score[b] > best:
                best, feature, bin_ = float(score[b]), f, b
        if feature < 0:
            return NodeSplit(-1, 0, count, 0.0)
        return NodeSplit(feature, bin_, count, max(0.0, best - float(_purity(masses[None])[0])))

    def _heavy_enough(self, feature: int, here: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return for each bin whether a split after it leaves enough weight on both sides."""
        leaf_weight = self._data.leaf_weight
        if leaf_weight is None:
            return np.ones(self._n_bins[feature] - 1, dtype=bool)
        below = np.cumsum(
            np.bincount(
                self._bins[feature][here],
                weights=leaf_weight.rows[here],
                minlength=self._n_bins[feature],
            )
        )
        left, right = below[:-1], below[-1] - below[:-1]
        heavy: NDArray[np.bool_] = np.minimum(left, right) >= leaf_weight.least
        return heavy


def _clamped(e: Floats) -> Floats:
    return np.minimum(np.maximum(e, SMALLEST_EXPONENTIAL), LARGEST_EXPONENTIAL)


def _best_by(criterion: int, edges: Integers) -> tuple[int, int, int]:
    """Return bin, output and edge of the best threshold of one feature; or bin, 0 and score."""
    if criterion == Criterion.LARGEST:
        sizes = np.abs(edges).max(axis=1)
        bin_ = int(np.argmax(sizes))
        edge = sizes[bin_] if sizes[bin_] in edges[bin_] else -sizes[bin_]
        return bin_, int(np.flatnonzero(edges[bin_] == edge)[0]), int(edge)
    scores = (np.abs(edges) if criterion == Criterion.SUM else (edges >> 6) ** 2).sum(axis=1)
    bin_ = int(np.argmax(scores))
    return bin_, 0, int(scores[bin_])


def _purity(masses: Integers) -> Floats:
    """Sum of squares over sum, the squares added one label after the other."""
    squares = np.zeros(len(masses))
    for label in range(masses.shape[1]):
        mass = masses[:, label].astype(np.float64)
        squares += mass * mass
    purity: Floats = squares / masses.sum(axis=1)
    return purity
