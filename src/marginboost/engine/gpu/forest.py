"""The trees of an ensemble on a device, which score rows there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from marginboost.data.encoding import Encoding
    from marginboost.engine.gpu.device import Device
    from marginboost.engine.gpu.device_matrix import DeviceMatrix
    from marginboost.model.ensemble import Ensemble

__all__ = ["Forest"]

_ROWS = 128  # of a block, as in the kernel

# Classes of a thread: the least of these that holds all, or the largest.
_CLASSES = (4, 8, 16, 32)

# Products of leaves' values and vectors are made ahead up to this many bytes.
_PRODUCT_BYTES = 1 << 28

# Shared memory of a block that the system reserves.
_RESERVED_BYTES = 1 << 10

# As the structures in the kernel.
_TREE = np.dtype([("node", "i8"), ("leaf", "i8"), ("n_nodes", "i4"), ("n_leaves", "i4")])


class Forest:
    """The trees of an ensemble, for rows of one type.

    The scores are those of `Ensemble.decision_function`, to the bit.

    Parameters
    ----------
    device : Device
        Device of the rows.
    ensemble : Ensemble
        The trees.
    encoding : Encoding
        Which column of X, and which value if that is missing, each feature of the trees is. No column
        holds categories.
    matrix : DeviceMatrix
        The rows.
    """

    def __init__(
        self, device: Device, ensemble: Ensemble, encoding: Encoding, matrix: DeviceMatrix
    ) -> None:
        assert encoding.numbers_alone
        self._device, self._matrix = device, matrix
        self._n_classes = k = ensemble.n_classes
        source = encoding.source[ensemble.feature]
        used, column = np.unique(source, return_inverse=True)
        nodes = _nodes(ensemble, encoding, column, matrix.compares_floats)
        put = device.put
        self._used = put(used.astype(np.int32) if len(used) else np.zeros(1, np.int32))
        self._n_used = len(used)
        needed = _ROWS * len(used) * matrix.dtype.itemsize
        staged = needed <= device.shared_bytes // 2 - _RESERVED_BYTES
        self._staged, self._shared = np.int32(staged), needed if staged else 0
        has_products = 8 * k * len(ensemble.leaf_value) <= _PRODUCT_BYTES
        products = _products(ensemble) if has_products else ensemble.vectors
        self._trees = (
            put(_trees(ensemble).view(np.uint8)),
            np.int32(ensemble.n_trees),
            put(nodes.view(np.uint8) if len(nodes) else np.zeros(16, np.uint8)),
            put(products.ravel()),
            put(ensemble.leaf_vector),
            put(ensemble.leaf_value),
            np.int32(has_products),
            np.int32(k),
        )
        self._classes = next((n for n in _CLASSES if n >= k), _CLASSES[-1])
        self._score_rows = matrix.kernel("score_rows", "row_scores", CLASSES=self._classes)

    def scores(self, first: int = 0, n_rows: int | None = None) -> Any:
        """Score some rows, all by default: float64 device array of rows x classes."""
        n = self._matrix.shape[0] - first if n_rows is None else n_rows
        out = self._device.xp.empty((n, self._n_classes), dtype=np.float64)
        self._score_rows(
            (max(1, -(-n // _ROWS)), -(-self._n_classes // self._classes)),
            _ROWS,
            *self._matrix.location,
            self._used,
            np.int32(self._n_used),
            self._staged,
            np.int64(first),
            np.int64(n),
            *self._trees,
            out,
            shared=self._shared,
        )
        return out


def _nodes(
    ensemble: Ensemble, encoding: Encoding, column: NDArray[np.intp], as_floats: bool
) -> NDArray[Any]:
    """Return the nodes, as the kernel reads them."""
    threshold = ensemble.threshold
    missing_goes_left = encoding.fill[ensemble.feature] <= threshold
    children = [("column", "i4"), ("left", "i4"), ("right", "i4")]
    padding = [] if as_floats else [("padding", "i4", (3,))]
    nodes = np.zeros(
        len(threshold), [("threshold", "f4" if as_floats else "f8"), *children, *padding]
    )
    nodes["threshold"] = _rounded_down(threshold) if as_floats else threshold
    nodes["column"] = 2 * column.astype(np.int32) + missing_goes_left
    nodes["left"], nodes["right"] = ensemble.left, ensemble.right
    return nodes


def _rounded_down(numbers: NDArray[np.float64]) -> NDArray[np.float32]:
    """Return the largest float32 that is at most each number."""
    with np.errstate(over="ignore"):
        nearest = numbers.astype(np.float32)
    return np.where(nearest > numbers, np.nextafter(nearest, np.float32(-np.inf)), nearest)


def _trees(ensemble: Ensemble) -> NDArray[Any]:
    trees = np.zeros(max(1, ensemble.n_trees), _TREE)
    for offsets, first, count in (
        (ensemble.node_offsets, "node", "n_nodes"),
        (ensemble.leaf_offsets, "leaf", "n_leaves"),
    ):
        trees[first][: ensemble.n_trees] = offsets[:-1]
        trees[count][: ensemble.n_trees] = np.diff(offsets)
    return trees


def _products(ensemble: Ensemble) -> NDArray[np.float64]:
    """Return value times vector of every leaf, tree by tree: the leaves of a class are adjacent."""
    leaves = ensemble.leaf_value[:, None] * ensemble.vectors[ensemble.leaf_vector]
    n_leaves, k = leaves.shape
    counts = np.diff(ensemble.leaf_offsets)
    first = np.repeat(ensemble.leaf_offsets[:-1], counts)
    within = np.arange(n_leaves) - first
    places = (first * k + within)[:, None] + np.repeat(counts, counts)[:, None] * np.arange(k)
    products = np.empty(max(1, n_leaves * k))
    products[places] = leaves
    return products
