"""An ensemble in the making."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from marginboost.model.ensemble import DTYPES, Ensemble

if TYPE_CHECKING:
    from marginboost.weak.base import AnyTree

__all__ = ["EnsembleBuilder"]

_INTEGER = (int, np.integer)


class EnsembleBuilder:
    """Collects trees one by one.

    Parameters
    ----------
    n_features : int
        Number of columns of X.
    n_classes : int
        Number of classes.
    """

    __slots__ = ("_feature", "_leaf_offsets", "_leaf_value", "_leaf_vector", "_left", "_n_classes",
                 "_n_features", "_n_vectors", "_node_offsets", "_right", "_round_offsets",
                 "_threshold", "_vector_blocks", "_vector_offsets")  # fmt: skip

    def __init__(self, n_features: int, n_classes: int) -> None:
        self._n_features = n_features
        self._n_classes = n_classes
        self._vector_blocks: list[NDArray[np.float64]] = []
        self._n_vectors = 0
        self._vector_offsets = [0]  # by round: how many vectors there were at its end
        self._round_offsets = [0]
        self._node_offsets = [0]
        self._feature: list[int] = []
        self._threshold: list[float] = []
        self._left: list[int] = []
        self._right: list[int] = []
        self._leaf_offsets = [0]
        self._leaf_vector: list[int] = []
        self._leaf_value: list[float] = []

    @classmethod
    def of(cls, ensemble: Ensemble) -> EnsembleBuilder:
        """Start from the rounds of an ensemble, which stays as it is.

        Parameters
        ----------
        ensemble : Ensemble
            Its vectors keep their numbers.

        Returns
        -------
        EnsembleBuilder
        """
        builder = cls(ensemble.n_features, ensemble.n_classes)
        builder._vector_blocks = [ensemble.vectors]
        builder._n_vectors = len(ensemble.vectors)
        builder._vector_offsets = [len(ensemble.vectors)] * (ensemble.n_rounds + 1)
        for name in DTYPES:
            if name != "vectors":
                setattr(builder, f"_{name}", getattr(ensemble, name).tolist())
        return builder

    def __len__(self) -> int:
        """Return the number of rounds that were ended."""
        return len(self._round_offsets) - 1

    @property
    def n_vectors(self) -> int:
        """Number of vectors so far."""
        return self._n_vectors

    def add_vector(self, row: ArrayLike) -> int:
        """Add a vector for leaves to use.

        Parameters
        ----------
        row : array-like of shape (n_classes,)
            Is copied.

        Returns
        -------
        int
            Its number, counted from 0, for `append`.
        """
        vector = np.array(row, dtype=np.float64)
        if vector.shape != (self._n_classes,):
            raise ValueError(
                f"A vector must have {self._n_classes} entries, one a class, got an array of "
                f"shape {vector.shape}."
            )
        return self.add_vectors(vector[None])

    def add_vectors(self, rows: NDArray[np.float64]) -> int:
        """Add vectors, one a row.

        Parameters
        ----------
        rows : float64 ndarray of shape (n, n_classes)
            Is kept: it must not change any more.

        Returns
        -------
        int
            The number of the first one; the others follow.
        """
        if rows.ndim != 2 or rows.shape[1] != self._n_classes:
            raise ValueError(
                f"Vectors must have {self._n_classes} entries, one a class, got an array of shape "
                f"{rows.shape}."
            )
        self._vector_blocks.append(rows)
        self._n_vectors += len(rows)
        return self._n_vectors - len(rows)

    def replace_vectors(self, rows: NDArray[np.float64]) -> None:
        """Put other vectors in the place of the first ones, for methods that correct earlier rounds.

        Parameters
        ----------
        rows : float64 ndarray of shape (n, n_classes)
            With at most as many rows as there are vectors.
        """
        if rows.shape[1:] != (self._n_classes,) or len(rows) > self._n_vectors:
            raise ValueError(
                f"rows must have {self._n_classes} columns and at most {self._n_vectors} rows, "
                f"got an array of shape {rows.shape}."
            )
        vectors = self._all_vectors()
        vectors[: len(rows)] = rows
        self._vector_blocks = [vectors]

    def keep_rounds(self, n_rounds: int) -> None:
        """Forget all but the first rounds, and a round in progress with them.

        Parameters
        ----------
        n_rounds : int
            At most `len` of the builder.
        """
        n_trees = self._round_offsets[n_rounds]
        n_nodes, n_leaves = self._node_offsets[n_trees], self._leaf_offsets[n_trees]
        # Counted anew: an interrupt may have come between a block and its number.
        self._n_vectors = self._vector_offsets[n_rounds]
        if sum(map(len, self._vector_blocks)) > self._n_vectors:
            self._vector_blocks = [self._all_vectors()[: self._n_vectors]]
        del self._vector_offsets[n_rounds + 1 :]
        del self._round_offsets[n_rounds + 1 :]
        del self._node_offsets[n_trees + 1 :], self._leaf_offsets[n_trees + 1 :]
        for nodes in (self._feature, self._threshold, self._left, self._right):
            del nodes[n_nodes:]
        del self._leaf_vector[n_leaves:], self._leaf_value[n_leaves:]

    def _all_vectors(self) -> NDArray[np.float64]:
        """Return a new array of all vectors."""
        blocks = [np.empty((0, self._n_classes)), *self._vector_blocks]
        return np.concatenate(blocks, dtype=np.float64)

    def append(
        self,
        weak: AnyTree,
        leaf_vector: int | Sequence[int],
        leaf_value: Sequence[float] | None = None,
    ) -> None:
        """Add a tree to the round in progress. Its numbers are copied, and checked by `build`.

        Parameters
        ----------
        weak : AnyTree
            A stump, a tree, or any object with ``feature``, ``threshold``, ``left``, ``right`` and
            ``leaf_value``.
        leaf_vector : int or sequence of int, one a leaf
            Number of the vector of all leaves, or of each leaf, by `add_vector`.
        leaf_value : sequence of float, one a leaf, optional
            What the leaves multiply their vectors by; ``weak.leaf_value`` if None.
        """
        values = weak.leaf_value
        n_leaves = len(values)
        if leaf_value is not None:
            values = leaf_value
        vectors = [leaf_vector] * n_leaves if isinstance(leaf_vector, _INTEGER) else leaf_vector
        if len(vectors) != n_leaves or len(values) != n_leaves:
            raise ValueError(
                f"A tree of {n_leaves} leaves must have as many vectors and values, got "
                f"{len(vectors)} and {len(values)}."
            )
        self._feature.extend(weak.feature)
        self._threshold.extend(weak.threshold)
        self._left.extend(weak.left)
        self._right.extend(weak.right)
        self._leaf_vector.extend(vectors)
        self._leaf_value.extend(values)
        self._node_offsets.append(len(self._feature))
        self._leaf_offsets.append(len(self._leaf_value))

    def end_round(self) -> None:
        """End the round in progress: the trees since the last call are its trees."""
        self._vector_offsets.append(self._n_vectors)
        self._round_offsets.append(len(self._node_offsets) - 1)

    def build(self) -> Ensemble:
        """Return the ensemble so far; more rounds may follow.

        Returns
        -------
        Ensemble
        """
        left_over = len(self._node_offsets) - 1 - self._round_offsets[-1]
        if left_over:
            raise ValueError(
                f"The round in progress must be ended before an ensemble is built, got "
                f"{left_over} trees since the last round."
            )
        arrays = {
            "vectors": self._all_vectors(),
            **{
                name: np.array(getattr(self, f"_{name}"), dtype=dtype)
                for name, (dtype, _) in DTYPES.items()
                if name != "vectors"
            },
        }
        for array in arrays.values():
            array.flags.writeable = False  # so that the ensemble takes them as they are
        return Ensemble(**arrays, n_features=self._n_features)


class NoEnsemble(EnsembleBuilder):
    """Takes trees and forgets them, for a fit whose margins alone are wanted."""

    __slots__ = ()

    def add_vectors(self, rows: NDArray[np.float64]) -> int:
        """Add nothing."""
        return 0

    def append(
        self,
        weak: AnyTree,
        leaf_vector: int | Sequence[int],
        leaf_value: Sequence[float] | None = None,
    ) -> None:
        """Add nothing."""
