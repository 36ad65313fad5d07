"""The ensemble: trees, and the vectors that their leaves add to the scores, in flat arrays."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from marginboost import _native
from marginboost.data.binning import is_readable
from marginboost.data.sparse_input import is_sparse

__all__ = ["DTYPES", "Ensemble"]

# Input of a type that the compiled code cannot read is converted this many values at a time.
_VALUES_AT_ONCE = 1 << 20

# The arrays of an ensemble: type and number of dimensions.
DTYPES: dict[str, tuple[type[np.generic], int]] = {
    "vectors": (np.float64, 2),
    "round_offsets": (np.int64, 1),
    "node_offsets": (np.int64, 1),
    "feature": (np.int32, 1),
    "threshold": (np.float64, 1),
    "left": (np.int32, 1),
    "right": (np.int32, 1),
    "leaf_offsets": (np.int64, 1),
    "leaf_vector": (np.int32, 1),
    "leaf_value": (np.float64, 1),
}


@dataclass(frozen=True, slots=True, eq=False)
class Ensemble:
    """Trees whose leaves add multiples of vectors to the scores.

    A row that reaches leaf l of a tree gets ``F += leaf_value[l] * vectors[leaf_vector[l]]``: one
    tree after the other, one product and one sum in float64 per class. With one vector per round and
    leaves of -1 and +1, the vectors are the paper's W: ``F[i, :] = sum_j h_j(x_i) W[j, :]``. With
    the identity matrix every leaf votes for a class.

    Everything is checked when an ensemble is created, so a damaged file cannot become one. The arrays
    are copied and read-only.

    Parameters
    ----------
    vectors : float64 ndarray of shape (n_vectors, n_classes)
        The vectors that leaves add to the scores, up to a factor. Finite.
    round_offsets : int64 ndarray of shape (n_rounds + 1,)
        The trees of round t are ``round_offsets[t]:round_offsets[t + 1]``.
    node_offsets : int64 ndarray of shape (n_trees + 1,)
        Internal nodes of tree j are ``node_offsets[j]:node_offsets[j + 1]``.
    feature, threshold : int32 and float64 ndarrays of shape (n_nodes,)
        An internal node sends ``x[feature] <= threshold`` to the left.
    left, right : int32 ndarrays of shape (n_nodes,)
        A child >= 0 is an internal node, counted from the tree's first one, and comes after its
        parent. A child < 0 is the leaf ``~child``, counted from the tree's first leaf.
    leaf_offsets : int64 ndarray of shape (n_trees + 1,)
        Leaves of tree j are ``leaf_offsets[j]:leaf_offsets[j + 1]``. A tree without internal nodes
        sends every row to its first leaf.
    leaf_vector : int32 ndarray of shape (n_leaves,)
        The row of `vectors` that each leaf adds.
    leaf_value : float64 ndarray of shape (n_leaves,)
        The factor of that row. Finite.
    n_features : int
        Number of columns of X.
    leaf_cover : float64 ndarray of shape (n_leaves,), optional
        How many of a sample of the training rows reach each leaf, by weight. Explanations need it.

    Raises
    ------
    ValueError
        If an array has a wrong type or shape, or holds a wrong index or value.
    """

    vectors: NDArray[np.float64]
    round_offsets: NDArray[np.int64]
    node_offsets: NDArray[np.int64]
    feature: NDArray[np.int32]
    threshold: NDArray[np.float64]
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    leaf_offsets: NDArray[np.int64]
    leaf_vector: NDArray[np.int32]
    leaf_value: NDArray[np.float64]
    n_features: int
    leaf_cover: NDArray[np.float64] | None = None
    _predictor: _native.Predictor | None = field(init=False, repr=False)

    def __post_init__(self) -> None:
        for name, (dtype, ndim) in DTYPES.items():
            array = getattr(self, name)
            if not isinstance(array, np.ndarray) or array.dtype != dtype or array.ndim != ndim:
                got = getattr(array, "dtype", type(array).__name__)
                raise ValueError(
                    f"{name} must be a NumPy array of {np.dtype(dtype)} with {ndim} dimensions, "
                    f"got {got} with {np.ndim(array)}."
                )
            # A read-only array that owns its memory cannot be changed elsewhere, and need not be copied.
            is_own = array.flags.owndata and not array.flags.writeable
            own = array if is_own and array.flags.c_contiguous else np.array(array, order="C")
            own.flags.writeable = False
            object.__setattr__(self, name, own)
        object.__setattr__(self, "n_features", int(self.n_features))
        _native.check_ensemble(*self._flat())
        object.__setattr__(self, "_predictor", None)
        if self.leaf_cover is not None:
            object.__setattr__(self, "leaf_cover", self._checked_cover(self.leaf_cover))

    def _flat(self) -> tuple[Any, ...]:
        """Return the arguments of compiled code."""
        return *[getattr(self, name) for name in DTYPES], self.n_features

    @property
    def _compiled(self) -> _native.Predictor:
        """The predictor, made when it is first used: most ensembles of a fit become parts of others."""
        if self._predictor is None:
            object.__setattr__(self, "_predictor", _native.Predictor(*self._flat()))
        return self._predictor  # type: ignore[return-value]

    def __reduce__(self) -> tuple[type[Ensemble], tuple[Any, ...]]:
        # The compiled predictor is not pickled: a copy checks its arrays and creates its own.
        return Ensemble, tuple(getattr(self, f.name) for f in fields(self) if f.init)

    def _checked_cover(self, cover: Any) -> NDArray[np.float64]:
        if not isinstance(cover, np.ndarray) or cover.dtype != np.float64:
            raise ValueError("leaf_cover must be a NumPy array of float64.")
        if cover.shape != self.leaf_value.shape:
            raise ValueError(
                f"leaf_cover must have one entry per leaf, {len(self.leaf_value)}, got an array of "
                f"shape {cover.shape}."
            )
        if not (np.isfinite(cover) & (cover >= 0)).all():
            raise ValueError("leaf_cover must be finite and not negative.")
        own = np.array(cover)
        own.flags.writeable = False
        return own

    def with_cover(self, leaf_cover: NDArray[np.float64]) -> Ensemble:
        """Return an ensemble with the same arrays and this cover of the leaves.

        Parameters
        ----------
        leaf_cover : float64 ndarray of shape (n_leaves,)
            Finite and not negative.

        Returns
        -------
        Ensemble
        """
        other = copy(self)
        object.__setattr__(other, "leaf_cover", self._checked_cover(leaf_cover))
        return other

    def __copy__(self) -> Ensemble:
        # Nothing in it can change, so a copy shares everything, including the compiled predictor.
        other: Ensemble = object.__new__(Ensemble)
        for f in fields(self):
            object.__setattr__(other, f.name, getattr(self, f.name))
        return other

    @property
    def n_rounds(self) -> int:
        """Number of rounds."""
        return len(self.round_offsets) - 1

    @property
    def n_trees(self) -> int:
        """Number of trees in all rounds."""
        return len(self.node_offsets) - 1

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return int(self.vectors.shape[1])

    def decision_function(
        self, X: Any, *, n_threads: int = 1, n_rounds: int | None = None
    ) -> NDArray[np.float64]:
        """Compute the score of every class for every row.

        Parameters
        ----------
        X : ndarray or SciPy sparse matrix of shape (n, n_features)
            Raw values, of any real type and memory layout. They are compared as float64. A sparse
            matrix is read by rows and never made dense: only the columns that some tree splits are
            read. The scores are those of the dense array, to the bit.
        n_threads : int
            Threads to use. The result does not depend on it.
        n_rounds : int, optional
            Use only the first ``n_rounds`` rounds.

        Returns
        -------
        float64 ndarray of shape (n, n_classes)
            F, summed in the order of the trees.
        """
        X = self._readable(X)
        scores = np.zeros((X.shape[0], self.n_classes))
        self._add_scores(X, scores, 0, self.n_rounds if n_rounds is None else n_rounds, n_threads)
        return scores

    def staged(self, X: Any, *, n_threads: int = 1) -> Iterator[NDArray[np.float64]]:
        """Yield F after each round, a new array each time.

        Parameters
        ----------
        X : ndarray or SciPy sparse matrix of shape (n, n_features)
            As for `decision_function`.
        n_threads : int
            Threads to use.

        Yields
        ------
        float64 ndarray of shape (n, n_classes)
            Equal to ``decision_function(X, n_rounds=t)`` for t = 1, 2, ...
        """
        X = self._readable(X)
        scores = np.zeros((X.shape[0], self.n_classes))
        for t in range(self.n_rounds):
            self._add_scores(X, scores, t, t + 1, n_threads)
            yield scores.copy()

    def add_scores(self, X: Any, scores: NDArray[np.float64], *, n_threads: int = 1) -> None:
        """Add the output of all trees to existing scores, one tree after the other.

        Parameters
        ----------
        X : ndarray or SciPy sparse matrix of shape (n, n_features)
            As for `decision_function`.
        scores : contiguous float64 ndarray of shape (n, n_classes)
            Changed in place.
        n_threads : int
            Threads to use.
        """
        self._add_scores(self._readable(X), scores, 0, self.n_rounds, n_threads)

    def tree_outputs(self, X: NDArray[Any], j: int) -> NDArray[np.int64]:
        """Find the leaf of tree j that each row reaches, in plain NumPy.

        Parameters
        ----------
        X : ndarray of shape (n, n_features)
            As for `decision_function`.
        j : int
            Number of the tree, from 0.

        Returns
        -------
        int64 ndarray of shape (n,)
            Indices of `leaf_vector` and `leaf_value`, starting at ``leaf_offsets[j]``.
        """
        if is_sparse(X):
            raise ValueError(f"X must be a NumPy array, got {type(X).__name__}.")
        self._readable(X)
        if not 0 <= j < self.n_trees:
            raise ValueError(f"j must be from 0 to {self.n_trees - 1}, got {j}.")
        first, last = self.node_offsets[j : j + 2]
        # Children come after their parents, so one pass over the nodes brings every row to a leaf.
        place = np.full(X.shape[0], 0 if last > first else ~0, dtype=np.int64)
        for node in range(first, last):
            here = np.flatnonzero(place == node - first)
            # As float64: NumPy would round the threshold to the type of a float32 column.
            values = X[here, self.feature[node]].astype(np.float64)
            goes_left = values <= self.threshold[node]
            place[here] = np.where(goes_left, self.left[node], self.right[node])
        leaves: NDArray[np.int64] = self.leaf_offsets[j] + ~place
        return leaves

    def weak_outputs(self, X: NDArray[Any], j: int) -> NDArray[np.float64]:
        """Find the value of the leaf of tree j that each row reaches, in plain NumPy.

        Parameters
        ----------
        X : ndarray of shape (n, n_features)
            As for `decision_function`.
        j : int
            Number of the tree, from 0.

        Returns
        -------
        float64 ndarray of shape (n,)
            h_j(x), if leaves have the values -1 and +1.
        """
        outputs: NDArray[np.float64] = self.leaf_value[self.tree_outputs(X, j)]
        return outputs

    def feature_importances(self, gains: ArrayLike) -> NDArray[np.float64]:
        """Add up the gains of each feature's splits.

        Parameters
        ----------
        gains : array-like of shape (n_nodes,)
            The gain of each internal node: finite, not negative.

        Returns
        -------
        float64 ndarray of shape (n_features,)
            With sum 1; zeros if nothing was gained.
        """
        gains = np.asarray(gains, dtype=np.float64)
        if gains.shape != self.feature.shape:
            raise ValueError(
                f"gains must have shape {self.feature.shape}, one per split, got {gains.shape}."
            )
        if not (np.isfinite(gains) & (gains >= 0)).all():
            raise ValueError("gains must be finite and not negative.")
        largest = gains.max(initial=0.0)
        if largest == 0:
            return np.zeros(self.n_features)
        # Scaled first: the sum of huge gains could overflow.
        total = np.bincount(self.feature, weights=gains / largest, minlength=self.n_features)
        return np.asarray(total / total.sum())

    def score_row(
        self, x: NDArray[np.float64], out: NDArray[np.float64], link: _native.Link, factor: float
    ) -> int:
        """Score one row; only its length is checked.

        Parameters
        ----------
        x : contiguous float64 ndarray of shape (n_features,)
            The row.
        out : contiguous float64 ndarray of shape (n_classes,)
            Receives F, or the probabilities.
        link : _native.Link
            The link to apply to F.
        factor : float
            Factor of the softmax.

        Returns
        -------
        int
            The class with the highest score; -1, with `out` unchanged, if a value is NaN.
        """
        return self._compiled.score_row(x, out, link, factor)

    def _readable(self, X: Any) -> Any:
        """Check X; return it, or a sparse X in CSR format without duplicate entries."""
        of_scipy = is_sparse(X)
        if of_scipy and (X.ndim != 2 or X.dtype.kind not in "biuf"):
            raise ValueError(
                f"A sparse X must have two dimensions and real numbers, got {X.dtype} of shape "
                f"{X.shape}."
            )
        is_array = isinstance(X, np.ndarray)
        if not of_scipy and (not is_array or X.ndim != 2 or X.dtype.kind not in "biuf"):
            got = f"{X.dtype} of shape {X.shape}" if is_array else type(X).__name__
            raise ValueError(f"X must be a two-dimensional NumPy array of real numbers, got {got}.")
        if X.shape[1] != self.n_features:
            raise ValueError(f"X must have {self.n_features} columns, got {X.shape[1]}.")
        if not of_scipy:
            return X
        X = X.tocsr()
        if not X.has_canonical_format:
            X = X.copy()
            X.sum_duplicates()
        return X

    def _add_scores(
        self, X: Any, scores: NDArray[np.float64], first: int, last: int, n_threads: int
    ) -> None:
        if is_sparse(X):
            values: Any = np.ascontiguousarray(X.data, "f4" if X.dtype == np.float32 else "f8")
            index: Any = np.int32 if X.indices.dtype == X.indptr.dtype == np.int32 else np.int64
            self._compiled.add_sparse_scores(
                values,
                np.ascontiguousarray(X.indices, index),
                np.ascontiguousarray(X.indptr, index),
                X.shape[1],
                scores,
                first,
                last,
                n_threads,
            )
            return
        if is_readable(X):
            self._compiled.add_scores(X, scores, first, last, n_threads)
            return
        step = max(1, _VALUES_AT_ONCE // max(1, X.shape[1]))
        for start in range(0, X.shape[0], step):
            rows = slice(start, start + step)
            part = X[rows].astype(np.float64)
            self._compiled.add_scores(part, scores[rows], first, last, n_threads)
