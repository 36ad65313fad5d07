"""The outputs of all weak classifiers on all training rows: the matrix H of MultiBoost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from marginboost.boosting.methods.base import Floats

if TYPE_CHECKING:
    from marginboost.boosting.weak.base import WeakClassifier

# As measured: the time of a multiplication in a sparse product, and that of the call of two of them, both
# in multiplications of a dense product.
SPARSE_MULTIPLICATION = 3
SPARSE_CALLS = 700_000


class Outputs:
    """H, rows x weak classifiers, with entries -1 and +1: its products with matrices.

    Stumps divide the values of each feature into cells, by the thresholds that they have there. A row
    is in one cell of each feature, and its cell is all that a stump looks at, so that H = A S with two
    sparse factors: A says which cells a row is in, S what each stump says of the cells of its feature.
    Where that saves time, products go through the factors. They differ from those with H by rounding.

    Parameters
    ----------
    bins : ndarray of shape (n_features, n_rows)
        Bins of the training rows.
    """

    def __init__(self, bins: NDArray[Any]) -> None:
        self._bins = bins
        self._n_rows = int(bins.shape[1])
        self._dense = np.zeros((self._n_rows, 0))
        self._stumps: list[WeakClassifier] = []
        self._cells: dict[int, tuple[NDArray[Any], NDArray[np.int64]]] = {}
        self._factors: tuple[csr_array, csr_array] | None = None
        self._only_stumps = True

    @property
    def n_classifiers(self) -> int:
        """The number of columns."""
        return int(self._dense.shape[1])

    def add(self, weak: WeakClassifier, n_columns: int) -> None:
        """Add a column.

        Parameters
        ----------
        weak : WeakClassifier
            Its leaves say -1 or +1.
        n_columns : int
            Of the matrices that H is to be multiplied with, for the choice of the faster way.
        """
        self._dense = np.column_stack([self._dense, said_of(self._bins, weak)])
        self._only_stumps &= len(weak.feature) == 1
        self._factors = None
        if not self._only_stumps:
            return
        self._stumps.append(weak)
        feature = weak.feature[0]
        thresholds = np.unique(
            [stump.bin[0] for stump in self._stumps if stump.feature[0] == feature]
        )
        # The cells of a feature: at most its first threshold, ..., above its last.
        cell = np.searchsorted(thresholds, self._bins[feature], side="left")
        self._cells[feature] = thresholds, cell
        if self._is_faster(n_columns):
            self._factors = self._factorised()

    def times(self, W: Floats) -> Floats:
        """Return H W."""
        if self._factors is None:
            return self._dense @ W
        cells, stumps = self._factors
        product: Floats = cells @ (stumps @ W)
        return product

    def transposed_times(self, g: Floats) -> Floats:
        """Return the product of the transposed H and a matrix."""
        if self._factors is None:
            return self._dense.T @ g
        cells, stumps = self._factors
        product: Floats = stumps.T @ (cells.T @ g)
        return product

    def _is_faster(self, n_columns: int) -> bool:
        per_feature = dict.fromkeys(self._cells, 0)
        for stump in self._stumps:
            per_feature[stump.feature[0]] += 1
        entries = self._n_rows * len(self._cells) + sum(
            (len(self._cells[feature][0]) + 1) * count for feature, count in per_feature.items()
        )
        sparse = SPARSE_MULTIPLICATION * entries * n_columns + SPARSE_CALLS
        return sparse < self._dense.size * n_columns

    def _factorised(self) -> tuple[csr_array, csr_array]:
        """Return which cells each row is in, and what each stump says of each cell."""
        first = dict[int, int]()  # cell of each feature
        n_cells = 0
        for feature, (thresholds, _) in self._cells.items():
            first[feature] = n_cells
            n_cells += len(thresholds) + 1
        at = np.column_stack([first[f] + cell for f, (_, cell) in self._cells.items()])
        rows = np.arange(0, at.size + 1, len(self._cells))
        cells = csr_array((np.ones(at.size), at.ravel(), rows), shape=(self._n_rows, n_cells))
        said = np.zeros((n_cells, self.n_classifiers))
        for column, stump in enumerate(self._stumps):
            feature = stump.feature[0]
            thresholds = self._cells[feature][0]
            values = stump.leaf_value[~stump.left[0]], stump.leaf_value[~stump.right[0]]
            below = int(np.searchsorted(thresholds, stump.bin[0])) + 1
            start, end = first[feature], first[feature] + len(thresholds) + 1
            said[start : start + below, column] = values[0]
            said[start + below : end, column] = values[1]
        return cells, csr_array(said)


def said_of(bins: NDArray[Any], weak: WeakClassifier) -> Floats:
    """Return what a weak classifier says of each row, -1 or +1, given bins of features x rows."""
    node = np.zeros(bins.shape[1], dtype=np.int64)
    for q in range(len(weak.feature)):  # children come after their parents
        here = node == q
        above = bins[weak.feature[q]][here] > weak.bin[q]
        node[here] = np.where(above, weak.right[q], weak.left[q])
    said: Floats = np.asarray(weak.leaf_value, dtype=np.float64)[~node]
    return said
