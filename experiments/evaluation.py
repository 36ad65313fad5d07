"""The evaluation functions of the paper's Table VI, in NumPy, as the paper writes them.

The library evaluates a model in its own ways: tree by tree in compiled code, by ranks for many
rows, or collapsed to one step function per feature. This module evaluates the sum itself, so that
the cost of the methods can be compared: it evaluates every weak classifier and multiplies its
output by coefficients.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from marginboost.model.ensemble import Ensemble

Floats = NDArray[np.float64]

# The number of rows per batch is such that the outputs of the weak classifiers stay in the cache.
_VALUES_AT_ONCE = 1 << 16


class Evaluation(Protocol):
    """An evaluation function: scores the classes."""

    @property
    def n_weak(self) -> int:
        """Number of weak classifiers."""
        ...

    @property
    def n_coefficients(self) -> int:
        """Number of coefficients, including those of the code."""
        ...

    def scores(self, X: Floats) -> Floats:
        """Score every class for some rows."""
        ...


@dataclass(frozen=True)
class Stumps:
    """The outputs of n stumps: `above` where x[feature] > threshold, else `below`."""

    feature: NDArray[np.intp]
    threshold: Floats
    below: Floats
    above: Floats

    @classmethod
    def of(cls, ensemble: Ensemble) -> Stumps:
        """Take the stumps of an ensemble, with the values of their leaves."""
        if not (np.diff(ensemble.node_offsets) == 1).all():
            raise ValueError("All trees must be stumps; got others: fit with max_depth=1.")
        first = ensemble.leaf_offsets[:-1]
        below, above = first + ~ensemble.left, first + ~ensemble.right
        if (ensemble.leaf_vector[below] != ensemble.leaf_vector[above]).any():
            raise ValueError(
                "The leaves of a stump must share a vector; got a method whose leaves name classes."
            )
        return cls(
            ensemble.feature.astype(np.intp),
            ensemble.threshold,
            ensemble.leaf_value[below],
            ensemble.leaf_value[above],
        )

    def __len__(self) -> int:
        return len(self.feature)

    def outputs(self, X: Floats) -> Floats:
        """Return the output of each stump for each row."""
        return np.where(X[:, self.feature] > self.threshold, self.above, self.below)

    def divided(self, w: Floats) -> Stumps:
        """Return stumps whose outputs are divided by w."""
        return Stumps(self.feature, self.threshold, self.below / w, self.above / w)


@dataclass(frozen=True)
class MatrixOfCoefficients:
    """F_r = sum_j h_j(x) w_jr."""

    stumps: Stumps
    W: Floats

    @classmethod
    def of(cls, ensemble: Ensemble) -> MatrixOfCoefficients:
        """Convert a model with one row of coefficients per round."""
        return cls(Stumps.of(ensemble), _vectors(ensemble))

    @property
    def n_weak(self) -> int:
        """Number of weak classifiers."""
        return len(self.stumps)

    @property
    def n_coefficients(self) -> int:
        """Those of W."""
        return self.W.size

    def scores(self, X: Floats) -> Floats:
        """Score every class."""
        return self.stumps.outputs(X) @ self.W


@dataclass(frozen=True)
class SingleLabelCode:
    """F_r = sum_j w_j h_j(x) m_jr."""

    stumps: Stumps
    w: Floats
    M: Floats

    @classmethod
    def of(cls, ensemble: Ensemble) -> SingleLabelCode:
        """Convert a model with one codeword per round.

        The code is -1 and +1. The output of a weak classifier is at most 1 in size; the rest is its
        weight.
        """
        vectors = _vectors(ensemble)
        code = np.sign(vectors)
        sizes = np.abs(vectors).max(axis=1)
        if not np.array_equal(code * sizes[:, None], vectors):
            raise ValueError(
                "A row of the code must be -1 and +1 up to a factor; got coefficients of many sizes."
            )
        stumps = Stumps.of(ensemble)
        votes = np.maximum(np.abs(stumps.below), np.abs(stumps.above))
        votes[votes == 0.0] = 1.0
        return cls(stumps.divided(votes), sizes * votes, code)

    @property
    def n_weak(self) -> int:
        """Number of weak classifiers."""
        return len(self.stumps)

    @property
    def n_coefficients(self) -> int:
        """Those of w and M."""
        return self.w.size + self.M.size

    def scores(self, X: Floats) -> Floats:
        """Score every class."""
        return (self.stumps.outputs(X) * self.w) @ self.M


@dataclass(frozen=True)
class MultiLabelCode:
    """F_r = sum_j' m_j'r sum_j w_j h_j'j(x): one weak classifier per column of the code and round."""

    stumps: Stumps
    w: Floats
    M: Floats

    @classmethod
    def of(cls, ensemble: Ensemble) -> MultiLabelCode:
        """Convert a model with one weak classifier per column and round."""
        stumps = Stumps.of(ensemble)
        columns = ensemble.vectors.shape[0]
        rounds = ensemble.n_rounds
        every = np.tile(np.arange(columns), rounds)
        if not np.array_equal(ensemble.leaf_vector[ensemble.leaf_offsets[:-1]], every):
            raise ValueError(
                "Every round must have one weak classifier per column; got other ones."
            )
        votes = np.abs(stumps.above)
        return cls(stumps.divided(votes), votes[::columns].copy(), ensemble.vectors)

    @property
    def n_weak(self) -> int:
        """Number of weak classifiers."""
        return len(self.stumps)

    @property
    def n_coefficients(self) -> int:
        """Those of w and M."""
        return self.w.size + self.M.size

    def scores(self, X: Floats) -> Floats:
        """Score every class."""
        said = self.stumps.outputs(X).reshape(len(X), len(self.w), len(self.M))
        columns: Floats = self.w @ said
        return columns @ self.M


# By the name of the method.
FORMULAS: dict[str, Callable[[Ensemble], Evaluation]] = {
    "mh": SingleLabelCode.of,
    "ecc": SingleLabelCode.of,
    "mo": MultiLabelCode.of,
    "exp": MatrixOfCoefficients.of,
    "log": MatrixOfCoefficients.of,
    "multiboost": MatrixOfCoefficients.of,
    "gradboost": MatrixOfCoefficients.of,
}


def best_classes(evaluation: Evaluation, X: NDArray[Any]) -> NDArray[np.intp]:
    """Return the class with the largest score for every row, batch by batch."""
    rows = max(1, _VALUES_AT_ONCE // max(1, evaluation.n_weak))
    parts = [
        evaluation.scores(X[first : first + rows]).argmax(axis=1)
        for first in range(0, len(X), rows)
    ]
    return np.concatenate(parts)


def _vectors(ensemble: Ensemble) -> Floats:
    """Return the vector of each tree."""
    return np.ascontiguousarray(ensemble.vectors[ensemble.leaf_vector[ensemble.leaf_offsets[:-1]]])
