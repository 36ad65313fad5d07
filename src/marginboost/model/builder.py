"""A builder that collects the trees of an ensemble."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from marginboost.model.ensemble import DTYPES, Ensemble

if TYPE_CHECKING:
    from marginboost.model.tree import AnyTree

__all__ = ["EnsembleBuilder"]

_INTEGER = (int, np.integer)
_OF_NODES = ("feature", "threshold", "left", "right")
_OF_LEAVES = ("leaf_vector", "leaf_value")


class EnsembleBuilder:
    """Collect trees one by one.

    Parameters
    ----------
    n_features : int
        Number of columns of X.
    n_classes : int
        Number of classes.
    """

    __slots__ = ("_columns", "_leaf_offsets", "_n_classes", "_n_features", "_n_vectors",
                 "_node_offsets", "_round_offsets", "_vector_blocks", "_vector_offsets")  # fmt: skip

    def __init__(self, n_features: int, n_classes: int) -> None:
        self._n_features = n_features
        self._n_classes = n_classes
        self._vector_blocks: list[NDArray[np.float64]] = []
        self._n_vectors = 0
        self._vector_offsets = [0]  # by round: number of vectors at its end
        self._round_offsets = [0]
        self._node_offsets = [0]
        self._leaf_offsets = [0]
        # By name: an array or a sequence per tree, which must not change afterwards.
        self._columns: dict[str, list[Any]] = {name: [] for name in (*_OF_NODES, *_OF_LEAVES)}

    @classmethod
    def of(cls, ensemble: Ensemble) -> EnsembleBuilder:
        """Start from the rounds of an ensemble, which is not changed.

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
        for name, column in builder._columns.items():
            column.append(getattr(ensemble, name))
        for name in ("round_offsets", "node_offsets", "leaf_offsets"):
            setattr(builder, f"_{name}", getattr(ensemble, name).tolist())
        return builder

    def __len__(self) -> int:
        """Return the number of complete rounds."""
        return len(self._round_offsets) - 1

    @property
    def n_splits(self) -> int:
        """Number of splits of all trees so far."""
        return self._node_offsets[-1]

    def add_vector(self, row: ArrayLike) -> int:
        """Add a vector for leaves to use.

        Parameters
        ----------
        row : array-like of shape (n_classes,)
            The vector; it is copied.

        Returns
        -------
        int
            Its number, counted from 0, for `append`.
        """
        vector = np.array(row, dtype=np.float64)
        if vector.shape != (self._n_classes,):
            raise ValueError(
                f"A vector must have {self._n_classes} entries, one per class, got an array of "
                f"shape {vector.shape}."
            )
        return self.add_vectors(vector[None])

    def add_vectors(self, rows: NDArray[np.float64]) -> int:
        """Add several vectors, one per row.

        Parameters
        ----------
        rows : float64 ndarray of shape (n, n_classes)
            Not copied: it must not change afterwards.

        Returns
        -------
        int
            The number of the first vector; the others follow.
        """
        if rows.ndim != 2 or rows.shape[1] != self._n_classes:
            raise ValueError(
                f"Vectors must have {self._n_classes} entries, one per class, got an array of shape "
                f"{rows.shape}."
            )
        self._vector_blocks.append(rows)
        self._n_vectors += len(rows)
        return self._n_vectors - len(rows)

    def replace_vectors(self, rows: NDArray[np.float64]) -> None:
        """Replace the first vectors, for methods that correct earlier rounds.

        Parameters
        ----------
        rows : float64 ndarray of shape (n, n_classes)
            The new vectors, at most as many as there are.
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
        """Remove all but the first rounds, including a round in progress.

        Parameters
        ----------
        n_rounds : int
            At most `len` of the builder.
        """
        n_trees = self._round_offsets[n_rounds]
        n_nodes, n_leaves = self._node_offsets[n_trees], self._leaf_offsets[n_trees]
        # Counted again: an interrupt may have come between adding a block and counting it.
        self._n_vectors = self._vector_offsets[n_rounds]
        if sum(map(len, self._vector_blocks)) > self._n_vectors:
            self._vector_blocks = [self._all_vectors()[: self._n_vectors]]
        del self._vector_offsets[n_rounds + 1 :]
        del self._round_offsets[n_rounds + 1 :]
        del self._node_offsets[n_trees + 1 :], self._leaf_offsets[n_trees + 1 :]
        for name, column in self._columns.items():
            _shorten(column, n_nodes if name in _OF_NODES else n_leaves)

    def _all_vectors(self) -> NDArray[np.float64]:
        """Return a new array of all vectors."""
        blocks = [np.empty((0, self._n_classes)), *self._vector_blocks]
        return np.concatenate(blocks, dtype=np.float64)

    def append(
        self,
        weak: AnyTree,
        leaf_vector: int | Sequence[int] | NDArray[np.int32],
        leaf_value: Sequence[float] | None = None,
    ) -> None:
        """Add a tree to the round in progress. It must not change afterwards; `build` checks it.

        Parameters
        ----------
        weak : AnyTree
            A stump, a tree, or any object with ``feature``, ``threshold``, ``left``, ``right`` and
            ``leaf_value``.
        leaf_vector : int or sequence of int, one per leaf
            Number of the vector of all leaves, or of each leaf, from `add_vector`.
        leaf_value : sequence of float, one per leaf, optional
            Factors of the leaves' vectors; ``weak.leaf_value`` if None.
        """
        values: Any = weak.leaf_value
        n_leaves = len(values)
        if leaf_value is not None:
            values = leaf_value
        vectors: Any = leaf_vector
        if isinstance(leaf_vector, _INTEGER):
            vectors = [leaf_vector] * n_leaves
        if len(vectors) != n_leaves or len(values) != n_leaves:
            raise ValueError(
                f"A tree of {n_leaves} leaves must have {n_leaves} vectors and values, got "
                f"{len(vectors)} and {len(values)}."
            )
        columns = self._columns
        for name in _OF_NODES:
            columns[name].append(getattr(weak, name))
        columns["leaf_vector"].append(vectors)
        columns["leaf_value"].append(values)
        self._node_offsets.append(self._node_offsets[-1] + len(weak.feature))
        self._leaf_offsets.append(self._leaf_offsets[-1] + n_leaves)

    def end_round(self) -> None:
        """End the round in progress: the trees since the last call are its trees."""
        self._vector_offsets.append(self._n_vectors)
        self._round_offsets.append(len(self._node_offsets) - 1)

    def append_round(
        self,
        feature: NDArray[np.int32],
        threshold: NDArray[np.float64],
        left: NDArray[np.int32],
        right: NDArray[np.int32],
        vectors: NDArray[np.float64],
    ) -> None:
        """Add a round of one tree, and end it; the arrays must not change afterwards.

        Parameters
        ----------
        feature, threshold, left, right : array
            Its splits, as in `Ensemble`.
        vectors : float64 ndarray of shape (n_leaves, n_classes)
            What each leaf adds to the scores.
        """
        first, n_leaves = self.add_vectors(vectors), len(vectors)
        columns = self._columns
        columns["feature"].append(feature)
        columns["threshold"].append(threshold)
        columns["left"].append(left)
        columns["right"].append(right)
        columns["leaf_vector"].append(np.arange(first, first + n_leaves, dtype=np.int32))
        columns["leaf_value"].append(np.ones(n_leaves))
        self._node_offsets.append(self._node_offsets[-1] + len(feature))
        self._leaf_offsets.append(self._leaf_offsets[-1] + n_leaves)
        self.end_round()

    def last_round(self) -> Ensemble:
        """Return an ensemble of only the last round, with the vectors that it needs.

        The round must have been added tree by tree, not with `of`.

        Returns
        -------
        Ensemble
        """
        first, last = self._round_offsets[-2:]
        columns = {
            name: _joined(column[len(column) - (last - first) :], DTYPES[name][0])
            for name, column in self._columns.items()
        }
        needed, places = np.unique(columns["leaf_vector"], return_inverse=True)
        blocks: list[NDArray[np.float64]] = []
        begin = self._n_vectors
        for block in reversed(self._vector_blocks):  # mostly the last ones
            if begin <= needed.min(initial=begin):
                break
            blocks.insert(0, block)
            begin -= len(block)
        vectors = np.concatenate([np.empty((0, self._n_classes)), *blocks])[needed - begin]
        return Ensemble(
            **columns | {"leaf_vector": places.astype(np.int32)},
            vectors=vectors,
            round_offsets=np.array([0, last - first], dtype=np.int64),
            node_offsets=_from_zero(self._node_offsets[first : last + 1]),
            leaf_offsets=_from_zero(self._leaf_offsets[first : last + 1]),
            n_features=self._n_features,
        )

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
            "round_offsets": np.array(self._round_offsets, dtype=np.int64),
            "node_offsets": np.array(self._node_offsets, dtype=np.int64),
            "leaf_offsets": np.array(self._leaf_offsets, dtype=np.int64),
            **{name: _joined(column, DTYPES[name][0]) for name, column in self._columns.items()},
        }
        for array in arrays.values():
            array.flags.writeable = False  # so that the ensemble does not copy them
        return Ensemble(**arrays, n_features=self._n_features)


def _joined(blocks: Sequence[Any], dtype: type[np.generic]) -> NDArray[Any]:
    """Return a new array of the numbers of all blocks."""
    parts = [np.asarray(block, dtype=dtype) for block in blocks]
    return np.concatenate([np.empty(0, dtype=dtype), *parts])


def _shorten(blocks: list[Any], n: int) -> None:
    """Remove all but the first n numbers of the blocks."""
    kept = 0
    for number, block in enumerate(blocks):
        if kept + len(block) > n:
            blocks[number:] = [block[: n - kept]]
            return
        kept += len(block)


def _from_zero(offsets: list[int]) -> NDArray[np.int64]:
    return np.array(offsets, dtype=np.int64) - offsets[0]


class NoEnsemble(EnsembleBuilder):
    """Discard all trees, for a fit of which only the margins are needed."""

    __slots__ = ()

    def add_vectors(self, rows: NDArray[np.float64]) -> int:
        """Add nothing."""
        return 0

    def append(
        self,
        weak: AnyTree,
        leaf_vector: int | Sequence[int] | NDArray[np.int32],
        leaf_value: Sequence[float] | None = None,
    ) -> None:
        """Add nothing."""

    def append_round(self, *arrays: NDArray[Any]) -> None:
        """Count the round."""
        self.end_round()
