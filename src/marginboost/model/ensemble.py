"""The ensemble: weak classifiers and their coefficients, in flat arrays."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from marginboost import _native
from marginboost.data.binning import is_readable

__all__ = ["Ensemble", "EnsembleBuilder", "TreeLike"]

# Input of a type that the compiled code cannot read is converted this many values at a time.
_VALUES_AT_ONCE = 1 << 20

_DTYPES: dict[str, tuple[type[np.generic], int]] = {
    "coef": (np.float64, 2),
    "node_offsets": (np.int64, 1),
    "feature": (np.int32, 1),
    "threshold": (np.float64, 1),
    "left": (np.int32, 1),
    "right": (np.int32, 1),
    "leaf_offsets": (np.int64, 1),
    "leaf_value": (np.float64, 1),
}


class TreeLike(Protocol):
    """One tree with leaves of -1 and +1, as `EnsembleBuilder` reads it."""

    @property
    def feature(self) -> Sequence[int] | NDArray[Any]:
        """Feature of each internal node; the root comes first, children after their parents."""

    @property
    def threshold(self) -> Sequence[float] | NDArray[Any]:
        """Threshold of each internal node: a value at most as large goes left."""

    @property
    def left(self) -> Sequence[int] | NDArray[Any]:
        """Left child of each internal node: a node, or ``~leaf``."""

    @property
    def right(self) -> Sequence[int] | NDArray[Any]:
        """Right child of each internal node: a node, or ``~leaf``."""

    @property
    def leaf_value(self) -> Sequence[float] | NDArray[Any]:
        """-1 or +1 for each leaf."""


@dataclass(frozen=True, slots=True, eq=False)
class Ensemble:
    """Weak classifiers h_j in {-1, +1} with coefficients W: ``F[i, :] = sum_j h_j(x_i) W[j, :]``.

    Everything is checked when an ensemble is made, so a damaged file cannot become one. The arrays
    are copied and read-only.

    Parameters
    ----------
    coef : float64 ndarray of shape (n_rounds, n_classes)
        The paper's W.
    node_offsets : int64 ndarray of shape (n_rounds + 1,)
        Internal nodes of weak classifier j are ``node_offsets[j]:node_offsets[j + 1]``.
    feature, threshold : int32 and float64 ndarrays of shape (n_nodes,)
        An internal node sends ``x[feature] <= threshold`` to the left.
    left, right : int32 ndarrays of shape (n_nodes,)
        A child >= 0 is an internal node, counted from the tree's first one, and comes after its
        parent. A child < 0 is the leaf ``~child``, counted from the tree's first leaf.
    leaf_offsets : int64 ndarray of shape (n_rounds + 1,)
        Leaves of weak classifier j are ``leaf_offsets[j]:leaf_offsets[j + 1]``. A tree without
        internal nodes says what its first leaf says.
    leaf_value : float64 ndarray of shape (n_leaves,)
        -1 or +1.
    n_features : int
        Number of columns of X.

    Raises
    ------
    ValueError
        If an array has a wrong type or shape, or holds a wrong index or value.
    """

    coef: NDArray[np.float64]
    node_offsets: NDArray[np.int64]
    feature: NDArray[np.int32]
    threshold: NDArray[np.float64]
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    leaf_offsets: NDArray[np.int64]
    leaf_value: NDArray[np.float64]
    n_features: int
    _predictor: _native.Predictor = field(init=False, repr=False)

    def __post_init__(self) -> None:
        for name, (dtype, ndim) in _DTYPES.items():
            array = getattr(self, name)
            if not isinstance(array, np.ndarray) or array.dtype != dtype or array.ndim != ndim:
                got = getattr(array, "dtype", type(array).__name__)
                raise ValueError(
                    f"{name} must be a NumPy array of {np.dtype(dtype)} with {ndim} dimensions, "
                    f"got {got} with {np.ndim(array)}."
                )
            own = np.array(array, dtype=dtype, order="C")
            own.flags.writeable = False
            object.__setattr__(self, name, own)
        predictor = _native.Predictor(
            self.coef,
            self.node_offsets,
            self.feature,
            self.threshold,
            self.left,
            self.right,
            self.leaf_offsets,
            self.leaf_value,
            int(self.n_features),
        )
        object.__setattr__(self, "_predictor", predictor)

    def __reduce__(self) -> tuple[type[Ensemble], tuple[Any, ...]]:
        # The compiled predictor is not pickled: a copy checks its arrays and makes its own.
        return Ensemble, tuple(getattr(self, f.name) for f in fields(self) if f.init)

    @property
    def n_rounds(self) -> int:
        """Number of weak classifiers."""
        return int(self.coef.shape[0])

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return int(self.coef.shape[1])

    def decision_function(
        self, X: NDArray[Any], *, n_threads: int = 1, n_rounds: int | None = None
    ) -> NDArray[np.float64]:
        """Score every class for every row.

        Parameters
        ----------
        X : ndarray of shape (n, n_features)
            Raw values, of any real type and memory layout. They are compared as float64.
        n_threads : int
            Threads to use. The result does not depend on it.
        n_rounds : int, optional
            Use the first ``n_rounds`` weak classifiers only.

        Returns
        -------
        float64 ndarray of shape (n, n_classes)
            F, summed in the order of the rounds.
        """
        self._check_input(X)
        scores = np.zeros((X.shape[0], self.n_classes))
        self._add_scores(X, scores, 0, self.n_rounds if n_rounds is None else n_rounds, n_threads)
        return scores

    def staged(self, X: NDArray[Any], *, n_threads: int = 1) -> Iterator[NDArray[np.float64]]:
        """Yield F after each round, a new array each time.

        Parameters
        ----------
        X : ndarray of shape (n, n_features)
            As for `decision_function`.
        n_threads : int
            Threads to use.

        Yields
        ------
        float64 ndarray of shape (n, n_classes)
            Equal to ``decision_function(X, n_rounds=j)`` for j = 1, 2, ...
        """
        self._check_input(X)
        scores = np.zeros((X.shape[0], self.n_classes))
        for j in range(self.n_rounds):
            self._add_scores(X, scores, j, j + 1, n_threads)
            yield scores.copy()

    def weak_outputs(self, X: NDArray[Any], j: int) -> NDArray[np.float64]:
        """Evaluate weak classifier j, in plain NumPy.

        Parameters
        ----------
        X : ndarray of shape (n, n_features)
            As for `decision_function`.
        j : int
            Number of the round, from 0.

        Returns
        -------
        float64 ndarray of shape (n,)
            h_j(x), -1 or +1.
        """
        self._check_input(X)
        if not 0 <= j < self.n_rounds:
            raise ValueError(f"j must be from 0 to {self.n_rounds - 1}, got {j}.")
        first, last = self.node_offsets[j : j + 2]
        # Children come after their parents, so one walk over the nodes brings every row to a leaf.
        place = np.full(X.shape[0], 0 if last > first else ~0, dtype=np.int32)
        for node in range(first, last):
            here = np.flatnonzero(place == node - first)
            # As float64: NumPy would round the threshold to the type of a float32 column.
            values = X[here, self.feature[node]].astype(np.float64)
            goes_left = values <= self.threshold[node]
            place[here] = np.where(goes_left, self.left[node], self.right[node])
        outputs: NDArray[np.float64] = self.leaf_value[self.leaf_offsets[j] + ~place]
        return outputs

    def split_counts(self) -> NDArray[np.int64]:
        """Count the internal nodes that split each feature.

        Returns
        -------
        int64 ndarray of shape (n_features,)
        """
        return np.bincount(self.feature, minlength=self.n_features).astype(np.int64)

    def feature_importances(self, gains: ArrayLike) -> NDArray[np.float64]:
        """Add up the gains of each feature's splits.

        Parameters
        ----------
        gains : array-like of shape (n_nodes,)
            What each internal node gained: finite, not negative.

        Returns
        -------
        float64 ndarray of shape (n_features,)
            With sum 1; zeros if nothing was gained.
        """
        gains = np.asarray(gains, dtype=np.float64)
        if gains.shape != self.feature.shape:
            raise ValueError(
                f"gains must have shape {self.feature.shape}, one a split, got {gains.shape}."
            )
        if not (np.isfinite(gains) & (gains >= 0)).all():
            raise ValueError("gains must be finite and not negative.")
        largest = gains.max(initial=0.0)
        if largest == 0:
            return np.zeros(self.n_features)
        # Scaled first: the sum of huge gains could overflow.
        total = np.bincount(self.feature, weights=gains / largest, minlength=self.n_features)
        return np.asarray(total / total.sum())

    def _check_input(self, X: NDArray[Any]) -> None:
        if not isinstance(X, np.ndarray) or X.ndim != 2 or X.dtype.kind not in "biuf":
            got = f"{X.dtype} of shape {X.shape}" if isinstance(X, np.ndarray) else type(X).__name__
            raise ValueError(f"X must be a two-dimensional NumPy array of real numbers, got {got}.")
        if X.shape[1] != self.n_features:
            raise ValueError(f"X must have {self.n_features} columns, got {X.shape[1]}.")

    def _add_scores(
        self, X: NDArray[Any], scores: NDArray[np.float64], first: int, last: int, n_threads: int
    ) -> None:
        if is_readable(X, ("f4", "f8")):
            self._predictor.add_scores(X, scores, first, last, n_threads)
            return
        step = max(1, _VALUES_AT_ONCE // max(1, X.shape[1]))
        for start in range(0, X.shape[0], step):
            rows = slice(start, start + step)
            part = X[rows].astype(np.float64)
            self._predictor.add_scores(part, scores[rows], first, last, n_threads)


class EnsembleBuilder:
    """Collects weak classifiers one by one.

    Parameters
    ----------
    n_features : int
        Number of columns of X.
    n_classes : int
        Number of classes.
    """

    __slots__ = ("_coef", "_feature", "_leaf_offsets", "_leaf_value", "_left", "_n_classes",
                 "_n_features", "_node_offsets", "_right", "_threshold")  # fmt: skip

    def __init__(self, n_features: int, n_classes: int) -> None:
        self._n_features = n_features
        self._n_classes = n_classes
        self._coef: list[float] = []
        self._node_offsets = [0]
        self._feature: list[int] = []
        self._threshold: list[float] = []
        self._left: list[int] = []
        self._right: list[int] = []
        self._leaf_offsets = [0]
        self._leaf_value: list[float] = []

    def __len__(self) -> int:
        """Return the number of weak classifiers so far."""
        return len(self._node_offsets) - 1

    def append(self, weak: TreeLike, coef_row: Sequence[float] | NDArray[Any]) -> None:
        """Add one round. What it is given is copied, and checked only by `build`.

        Parameters
        ----------
        weak : TreeLike
            A stump, a tree, or any object with these attributes.
        coef_row : array-like of shape (n_classes,)
            The round's row of W.
        """
        self._coef.extend(coef_row)
        self._feature.extend(weak.feature)
        self._threshold.extend(weak.threshold)
        self._left.extend(weak.left)
        self._right.extend(weak.right)
        self._leaf_value.extend(weak.leaf_value)
        self._node_offsets.append(len(self._feature))
        self._leaf_offsets.append(len(self._leaf_value))

    def build(self) -> Ensemble:
        """Return the ensemble so far; more rounds may follow.

        Returns
        -------
        Ensemble
        """
        size = len(self) * self._n_classes
        if len(self._coef) != size:
            raise ValueError(
                f"Every row of coefficients must have {self._n_classes} entries, got "
                f"{len(self._coef)} for {len(self)} rounds."
            )
        return Ensemble(
            coef=np.array(self._coef, dtype=np.float64).reshape(len(self), self._n_classes),
            node_offsets=np.array(self._node_offsets, dtype=np.int64),
            feature=np.array(self._feature, dtype=np.int32),
            threshold=np.array(self._threshold, dtype=np.float64),
            left=np.array(self._left, dtype=np.int32),
            right=np.array(self._right, dtype=np.int32),
            leaf_offsets=np.array(self._leaf_offsets, dtype=np.int64),
            leaf_value=np.array(self._leaf_value, dtype=np.float64),
            n_features=self._n_features,
        )
