"""The engine for vector-leaf trees in NumPy: slow, and meant to be read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from marginboost.data.copies import count_copies
from marginboost.data.dense_bins import dense_bins
from marginboost.engine.trees.base import LARGEST_RATIO, LOSS_BITS, SMALLEST_RATIO, NodeSplit
from marginboost.engine.trees.growth import grow_in_batches
from marginboost.engine.trees.row_loss import log_one_plus

if TYPE_CHECKING:
    from marginboost.data.row_view import HeldOutRows, RowView
    from marginboost.data.training_set import TrainingSet
    from marginboost.engine.trees.base import Floats, RowSample, Singles
    from marginboost.engine.trees.growth import GrownTree, GrowthRules
    from marginboost.engine.trees.interactions import Interactions
    from marginboost.engine.trees.slots import Slots
    from marginboost.loss import Loss

Integers = NDArray[np.int64]


class ReferenceTreeEngine:
    """See `TreeEngine` and `PartialTreeEngine`: every method here is its definition."""

    name = "reference"

    _g: Integers
    _searched: Integers

    def load(self, data: TrainingSet, loss: Loss, slots: Slots, view: RowView) -> None:
        """Take the rows."""
        self._data, self._loss, self._slots, self._view = data, loss, slots, view
        self._seen = seen = data.seen(view)
        self._n_bins = data.binned.n_bins
        self._y = data.labels
        self._rows = np.arange(data.n_rows)
        ones = np.ones(data.n_rows)
        self._weight = ones.astype(np.float32) if seen.weight is None else seen.weight
        copies = ones if seen.multiplicity is None else seen.multiplicity
        self._copies = copies.astype(np.int64)
        pairs = loss.pair_weights
        self._pair_weights = None if pairs is None else pairs[self._y]
        self._e = np.ones((data.n_rows, data.n_classes), dtype=np.float32)
        self._e[self._rows, self._y] = SMALLEST_RATIO
        self._leaf = np.zeros(data.n_rows, dtype=np.int64)

    def advance(
        self, up: Singles, down: Singles, signs: Singles, exponent: int, mass_exponent: int
    ) -> tuple[int, int]:
        """Move the margins, then form the new direction."""
        factor = up[self._leaf] * down[self._leaf, self._y][:, None]
        self._e = np.clip(self._e * factor, np.float32(SMALLEST_RATIO), np.float32(LARGEST_RATIO))
        u = self._weights()
        mass = self._row_sums(u)
        scale = np.float32(2.0**exponent) * self._weight
        slots = self._slots
        lanes = np.zeros((len(u), slots.lanes), dtype=np.float32)
        lane_of_class = slots.lane_of_class()
        for r, lane in enumerate(lane_of_class):  # a lane's classes one after the other
            lanes[:, lane] += u[:, r] * signs[r]
        g = _rounded(lanes * -scale[:, None])
        own = lane_of_class[self._y]
        g[self._rows, own] += _rounded(signs[self._y] * mass * scale)
        g[:, slots.lanes - 2] = _rounded(mass * (np.float32(2.0**mass_exponent) * self._weight))
        g[:, slots.lanes - 1] = 1
        self._g = g * self._copies[:, None]
        wrong = self._copies[(self._e >= 1.0).any(axis=1)].sum()
        units = 2.0 ** (mass_exponent + LOSS_BITS) * self._weight.astype(np.float64)
        losses = np.rint(self._row_losses(u).astype(np.float64) * units).astype(np.int64)
        return int(wrong), int((losses * self._copies).sum())

    def start_tree(
        self,
        features: NDArray[np.int32],
        sample: RowSample,
        least_count: int,
        smoothing: float,
    ) -> NodeSplit:
        """Start a tree."""
        self._least, self._smoothing = least_count, np.float32(smoothing)
        self.begin_tree(features, sample)
        return self._best_split(0, features)

    def begin_tree(self, features: NDArray[np.int32], sample: RowSample) -> None:
        """Start a tree with no search."""
        self._features = features
        drawn = self._drawn_copies(sample)
        self._sampled = (self._weight > 0.0) & (drawn > 0)
        # Of a row that counts more than once, a search sees the copies that are drawn.
        self._searched = self._g // np.maximum(self._copies, 1)[:, None] * drawn[:, None]
        self._node = np.zeros(self._data.n_rows, dtype=np.int64)
        self._n_nodes = 1

    def grow_tree(
        self,
        features: NDArray[np.int32],
        sample: RowSample,
        rules: GrowthRules,
        interactions: Interactions | None = None,
    ) -> GrownTree:
        """Grow a whole tree."""
        return grow_in_batches(self, features, sample, rules, interactions)

    def split(
        self,
        nodes: list[int],
        features: list[int],
        bins: list[int],
        search: list[bool],
        allowed: NDArray[np.bool_] | None = None,
    ) -> list[NodeSplit]:
        """Divide nodes."""
        first = self._n_nodes
        self.move_rows(nodes, features, bins)
        found = []
        for j, wanted in enumerate(search):
            searched = self._features if allowed is None else self._features[allowed[j]]
            pair = (first + 2 * j, first + 2 * j + 1)
            found += [self._best_split(node, searched if wanted else None) for node in pair]
        return found

    def move_rows(self, nodes: list[int], features: list[int], bins: list[int]) -> None:
        """Divide nodes with no search."""
        for node, feature, bin_ in zip(nodes, features, bins, strict=True):
            here = self._node == node
            left = dense_bins(self._data.binned, feature) <= bin_
            self._node[here] = np.where(left, self._n_nodes, self._n_nodes + 1)[here]
            self._n_nodes += 2

    def node_histograms(
        self, nodes: list[int], out: NDArray[np.int32] | None = None
    ) -> NDArray[np.int32]:
        """Sum the direction of the sampled rows of some nodes by feature and bin."""
        lanes, n_bins = self._g.shape[1], int(self._n_bins[self._features].sum())
        hist = np.zeros((len(nodes), n_bins, lanes), dtype=np.int32)
        for of_node, node in zip(hist, nodes, strict=True):
            rows = self._searched_rows(node)
            every = [self._histogram(f, rows) for f in self._features.tolist()]
            of_node[:] = np.concatenate(every)
        return hist

    def finish_tree(self, leaf_of_node: NDArray[np.int32], exponent: int) -> tuple[Floats, Floats]:
        """End the tree and sum the weights of its leaves."""
        self._leaf = leaf_of_node[self._node].astype(np.int64)
        shape = (int(leaf_of_node.max()) + 1, self._data.n_classes)
        own, against = np.zeros(shape), np.zeros(shape)
        u = self._weights()
        scale = 2.0**exponent
        mass = self._row_sums(u).astype(np.float64) * (scale * self._weight.astype(np.float64))
        np.add.at(own, (self._leaf, self._y), np.rint(mass) * self._copies)
        weights = _rounded(u * (np.float32(scale) * self._weight)[:, None])
        np.add.at(against, self._leaf, weights * self._copies[:, None])
        return own, against

    def held_out(self) -> HeldOutRows:
        """Return the margins of the rows that the view holds out."""
        return self._data.describe_held_out(self._view, self._e[self._seen.held_out_rows])

    def state(self) -> tuple[Singles, NDArray[np.int32]]:
        """Return copies of e and the direction, for inspection."""
        return self._e.copy(), self._g.astype(np.int32)

    def _weights(self) -> Singles:
        """Return the loss's weights u."""
        u = self._e
        if self._loss.name == "logistic":
            u = self._e / (np.float32(1.0) + self._e)
        return u if self._pair_weights is None else u * self._pair_weights

    def _row_losses(self, u: Singles) -> Singles:
        """Return the loss of each row, of weights u."""
        if self._loss.name == "exponential":
            return self._row_sums(u)
        if self._pair_weights is not None:
            return self._row_sums(log_one_plus(self._e) * self._pair_weights)
        return self._row_logarithms()

    def _row_logarithms(self) -> Singles:
        """Sum log(1 + e) of each row, two tiles to a logarithm: (1 + a)(1 + b) = 1 + (a + b + ab)."""
        classes = self._slots.lanes - 2
        n, k = self._e.shape
        pairs = -(-k // (2 * classes))
        e = np.zeros((n, 2 * pairs * classes), dtype=np.float32)
        e[:, :k] = self._e
        a, b = e.reshape(n, pairs, 2, classes).transpose(2, 0, 1, 3)
        return self._row_sums(log_one_plus((a + b) + a * b).reshape(n, pairs * classes))

    def _row_sums(self, values: Singles) -> Singles:
        """Sum each row: tile after tile, then the lanes of the one that is left."""
        lanes, classes = self._slots.lanes, self._slots.lanes - 2
        sums = np.zeros((len(values), lanes), dtype=np.float32)
        for first in range(0, values.shape[1], classes):
            block = values[:, first : first + classes]
            sums[:, : block.shape[1]] += block
        return _sum_lanes(sums)

    def _drawn_copies(self, sample: RowSample) -> Integers:
        """Count the copies of each row, of those that the fit sees, that are in a sample."""
        seen = self._seen
        if seen.hashes is None:
            return self._copies
        if seen.copies is None:
            return sample.holds(seen.hashes).astype(np.int64)
        bounds = seen.bounds[self._y]

        def chosen(rows: Integers, of_copy: NDArray[np.uint64]) -> NDArray[np.bool_]:
            return (of_copy >= bounds[rows]) & sample.holds(of_copy)

        drawn: Integers = count_copies(seen.hashes, seen.copies, chosen)
        return drawn

    def _searched_rows(self, node: int) -> Integers:
        rows: Integers = self._rows[(self._node == node) & self._sampled]
        return rows

    def _histogram(self, feature: int, rows: Integers) -> Integers:
        hist = np.zeros((self._n_bins[feature], self._g.shape[1]), dtype=np.int64)
        np.add.at(hist, dense_bins(self._data.binned, feature)[rows], self._searched[rows])
        return hist

    def _best_split(self, node: int, features: NDArray[np.int32] | None) -> NodeSplit:
        """Search some features of a node; None: no search."""
        rows = self._searched_rows(node)
        total = self._searched[rows].sum(axis=0)
        count = int(total[self._slots.lanes - 1])
        if features is None or count < 2 * self._least:
            return NodeSplit(-1, 0, count, 0.0)
        here = self._score(total[None])[0]
        best, feature, bin_ = np.float32(-1.0), -1, 0
        for f in features.tolist():
            if self._n_bins[f] < 2:
                continue
            left = self._histogram(f, rows).cumsum(axis=0)[:-1]
            right = total - left
            scores = self._score(left) + self._score(right)
            enough = np.minimum(left, right)[:, self._slots.lanes - 1] >= self._least
            scores = np.where(enough, scores, np.float32(-1.0))
            b = int(scores.argmax())
            if scores[b] > best:
                best, feature, bin_ = scores[b], f, b
        if feature < 0 or not best > here:
            return NodeSplit(-1, 0, count, 0.0)
        return NodeSplit(feature, bin_, count, float(best) - float(here))

    def _score(self, sums: Integers) -> Singles:
        """Sum of squared lanes over the mass, in float32, lane with lane."""
        lanes = self._slots.lanes
        values = sums.astype(np.float32)
        mass = values[:, lanes - 2].copy()
        values[:, lanes - 2 : lanes] = 0.0
        scores: Singles = _sum_lanes(values * values) / (mass + self._smoothing)
        return scores


def _rounded(values: Singles) -> Integers:
    return np.rint(values).astype(np.int64)


def _sum_lanes(values: Singles) -> Singles:
    """Add lane j and lane j + half, until one is left."""
    while values.shape[1] > 1:
        half = values.shape[1] // 2
        values = values[:, :half] + values[:, half:]
    return values[:, 0]
