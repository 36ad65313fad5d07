"""JointBoost: regression stumps that a growing set of classes shares.

A. Torralba, K. P. Murphy and W. T. Freeman, "Sharing visual features for multiclass and multiview object
detection", IEEE Transactions on Pattern Analysis and Machine Intelligence 29, 2007.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

import numpy as np
from numpy.typing import NDArray

from marginboost.boosting.methods.base import Floats, Shrinking
from marginboost.boosting.weak.base import place
from marginboost.boosting.weak.stump import StumpLearner
from marginboost.boosting.weak.tree import SignTreeGrower
from marginboost.boosting.weights import CodedWeights
from marginboost.coefficients import Solution, exp_of
from marginboost.engine.stumps.base import Weighting
from marginboost.loss import ExponentialLoss

if TYPE_CHECKING:
    from marginboost.boosting.resume import PastTree
    from marginboost.boosting.weak.base import WeakClassifier
    from marginboost.data.rows import Rows
    from marginboost.engine.stumps.base import StumpEngine
    from marginboost.engine.stumps.host import HostStumpEngine
    from marginboost.model.builder import EnsembleBuilder


class JointBoost(Shrinking):
    """The steps of a round.

    Weights w[i, c] = exp(-z[i, c] F[i, c]), z = +1 for the row's class and -1 for the others. The term
    of a round is a regression stump with one pair of values for all classes of a set S, and a constant
    for each other class, fitted by weighted least squares to z. S grows greedily: the class is added
    whose best stump, over all features and thresholds, lowers the error most; of all the sets met on the
    way the best is kept. Deeper than a stump, a tree is grown for the summed direction of S and its two
    outcomes take the stump's place.
    """

    def __init__(self, engine: StumpEngine, data: Rows, *, max_depth: int, eta: float) -> None:
        super().__init__(eta)
        self._engine = engine
        self._data = data
        self._stumps = StumpLearner(data.binned.thresholds)
        self._trees = SignTreeGrower(data.binned.thresholds, max_depth) if max_depth > 1 else None
        k = data.n_classes
        self._code = np.where(np.eye(k, dtype=bool), 1, -1).astype(np.int8)
        self._halves = _Halves(engine, self._code)
        self._weights = CodedWeights(self._halves, data, self._code, mixes_outputs=True)
        sizes = data.binned.n_bins - 1
        self._features = np.repeat(np.arange(len(sizes)), sizes)
        self._bins = np.concatenate([np.arange(size) for size in sizes])

    @property
    def training_loss(self) -> float:
        """The mean over rows of the sum of the questions' losses."""
        return self._weights.mean_loss

    def start(self) -> None:
        """Give all questions the same weight."""
        self._engine.load(self._data, Weighting(ExponentialLoss(), self._halves.code))
        self._weights.start()

    def train_weak_classifier(self) -> WeakClassifier | None:
        """Find the stump and the set of classes that lower the squared error most."""
        if len(self._bins) == 0:
            return None
        left, left_mass, total, mass = self._histograms()
        gain, where, self._shared = share_stump(left, left_mass, total, mass)
        self._gain = gain + float(_explained(total, mass).sum())  # with what the constants explain
        feature, bin_ = int(self._features[where]), int(self._bins[where])
        stump = self._stumps.stump(feature, bin_, int(np.argmax(self._shared)), 0)
        if self._trees is not None:
            self._engine.project(np.tile(self._shared, 2).astype(np.int8))
            tree = self._trees.grow(cast("HostStumpEngine", self._engine), 0)
            if tree.feature:
                return tree
        self._engine.place_stump(feature, bin_, True)
        return stump

    def restore_round(
        self, trees: Sequence[PastTree], votes: Floats | None
    ) -> tuple[WeakClassifier, Floats]:
        """Put the rows where an earlier round's stump or tree puts them."""
        tree = trees[0]
        low, high = 2 * (min(tree.leaf_vector) // 2), 2 * (min(tree.leaf_vector) // 2) + 1
        values = dict(zip(tree.leaf_vector, tree.vectors, strict=True))
        # A side without a leaf has no row, and its values move nothing.
        other = tree.vectors[0]
        tree.leaf_value = [1.0 if vector == high else -1.0 for vector in tree.leaf_vector]
        place(self._engine, tree)
        self._shared = np.ones(self._data.n_classes)  # the values are known
        return tree, np.stack([values.get(low, other), values.get(high, other)])

    def _histograms(self) -> tuple[Floats, Floats, Floats, Floats]:
        """Return sums of w z and of w, at or below every threshold and in all: by class."""
        n_bins = self._data.binned.n_bins
        parts = np.split(self._engine.histograms().astype(np.int64), np.cumsum(n_bins)[:-1])
        below = [np.cumsum(part, axis=0) for part in parts]
        total = below[0][-1].astype(np.float64)
        left = np.concatenate([sums[:-1] for sums in below]).astype(np.float64)
        # The first half of the outputs holds w on a class's own rows, the second -w on the others.
        own, other = np.split(left, 2, axis=1)
        all_own, all_other = np.split(total, 2)
        return own + other, own - other, all_own + all_other, all_own - all_other

    def edge(self, found: WeakClassifier) -> float:
        """Return by how much the squared error falls, as a share of all weights."""
        return self._weights.share(self._weights.real(1) * self._gain)

    def solve(self, found: WeakClassifier) -> Solution:
        """Fit the values of both sides: (2, classes)."""
        sums = self._weights.sums()
        moment = np.einsum("syc,yc->sc", sums, self._code.astype(np.float64))
        mass = np.maximum(sums.sum(axis=1), self._weights.unit)
        constant = moment.sum(axis=0) / mass.sum(axis=0)
        shared = (moment @ self._shared) / (mass @ self._shared)
        values = np.where(self._shared[None, :] > 0, shared[:, None], constant[None, :])
        return Solution(values, 0.0, 0)

    def update_weights(self, found: WeakClassifier, w: Floats) -> float:
        """Multiply the weights by exp(-z * value)."""
        self._weights.advance(exp_of(-self._code[None, :, :] * w[:, None, :]))
        return float("nan")

    def extend(self, builder: EnsembleBuilder, found: WeakClassifier, w: Floats) -> Sequence[float]:
        """Add the values of each side as a vector of its own."""
        low, high = (builder.add_vector(values) for values in w)
        vectors = [high if value > 0 else low for value in found.leaf_value]
        builder.append(found, vectors, [1.0] * len(vectors))
        builder.end_round()
        size = float(np.abs(w[1] - w[0]).sum())
        return [share * size for share in found.gain]


class _Halves:
    """Two outputs per question in an engine: one for the rows of the class, one for all others.

    So the histograms of the direction say both sums of a question, that of w z and that of w. A pair of a
    row and a question has its weight in one of the two outputs, and none in the other.

    Parameters
    ----------
    engine : StumpEngine
        Is loaded with `code`.
    code : int8 array of classes x questions
        What is to be said of each class, -1 or +1.
    """

    def __init__(self, engine: StumpEngine, code: NDArray[np.int8]) -> None:
        self._engine = engine
        self.code = np.concatenate(
            [np.where(code > 0, code, 0), np.where(code < 0, code, 0)], axis=1
        )

    def sums(self, exponent: int) -> Floats:
        """Sum the weights by side, class of the row, and question."""
        own, other = np.split(self._engine.sums(exponent), 2, axis=2)
        both: Floats = own + other
        return both

    def advance_table(self, table: Floats, exponent: int, next_search: int | None = None) -> int:
        """Multiply e by `table[side, class, question]`, where there is a weight."""
        factors = np.where(self.code != 0, np.concatenate([table, table], axis=2), 1.0)
        return self._engine.advance_table(factors, exponent, next_search)


def share_stump(
    left: Floats, left_mass: Floats, total: Floats, mass: Floats
) -> tuple[float, int, NDArray[np.float64]]:
    """Grow the set of classes that share a stump.

    Parameters
    ----------
    left, left_mass : (thresholds, classes) arrays
        Sums of w z and of w at or below each threshold.
    total, mass : (classes,) arrays
        Sums of w z and of w over all rows.

    Returns
    -------
    gain : float
        How much the squared error falls below that of a constant a class.
    where : int
        The threshold.
    shared : (classes,) array of 0 and 1
        The set.
    """
    right, right_mass = total - left, mass - left_mass
    constant = _explained(total, mass)
    shared = np.zeros_like(total)
    sums = [np.zeros(len(left)) for _ in range(4)]
    best: tuple[float, int, Floats] = (-np.inf, 0, shared)
    for _ in range(len(total)):
        gain = (
            _explained(sums[0][:, None] + left, sums[1][:, None] + left_mass)
            + _explained(sums[2][:, None] + right, sums[3][:, None] + right_mass)
            - constant
            - constant @ shared
        )
        gain[:, shared > 0] = -np.inf
        where, added = divmod(int(np.argmax(gain)), len(total))
        shared = shared.copy()
        shared[added] = 1.0
        for sum_, part in zip(sums, (left, left_mass, right, right_mass), strict=True):
            np.add(sum_, part[:, added], out=sum_)
        if gain[where, added] > best[0]:
            best = (float(gain[where, added]), where, shared)
    return best


def _explained(moment: Floats, mass: Floats) -> Floats:
    """Return what a fitted constant takes off the squared error: moment^2 / mass."""
    explained: Floats = moment * moment / np.maximum(mass, 1.0)  # masses are whole numbers
    return explained
