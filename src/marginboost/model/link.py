"""The link: how scores become probabilities."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from marginboost import _native

__all__ = ["Link", "OneAgainstAll", "Softmax"]

Floats = NDArray[np.float64]

# Smaller probabilities get the logarithm of this one.
_LEAST = 2.0**-1000


class _Rule:
    """A link that compiled code applies."""

    native: ClassVar[_native.Link]
    factor: float

    def scores_of(self, probabilities: Floats) -> Floats:
        """Return scores of one row that give these probabilities; 0 counts as 2**-1000."""
        raise NotImplementedError

    def __call__(self, scores: Floats, n_threads: int = 1) -> Floats:
        """Convert rows of scores to rows of probabilities.

        Parameters
        ----------
        scores : float64 array of rows x classes
            Is not changed.
        n_threads : int
            Threads to use. The result does not depend on it.
        """
        probabilities = np.array(scores, dtype=np.float64, order="C")
        _native.to_probabilities(probabilities, self.native, self.factor, n_threads)
        return probabilities


@dataclass(frozen=True)
class Softmax(_Rule):
    """softmax(factor * F)."""

    native: ClassVar[_native.Link] = _native.Link.softmax

    factor: float = 1.0

    def scores_of(self, probabilities: Floats) -> Floats:
        """Return such scores; the smallest is 0."""
        logs = _logs(probabilities)
        scores: Floats = (logs - logs.min()) / self.factor
        return scores


@dataclass(frozen=True)
class OneAgainstAll(_Rule):
    """The logistic function of 2 * F, scaled to rows that sum to 1.

    For losses exp(-F_c) on a class's own rows and exp(F_c) on the others, so that each class is a binary
    problem: the expected loss has its minimum at F_c = log(p_c / (1 - p_c)) / 2. With two classes both
    problems are the same, and their log-odds are the difference of the scores: softmax(F).
    """

    native: ClassVar[_native.Link] = _native.Link.one_against_all

    factor: float = 1.0  # unused; so that links have the same attributes

    def scores_of(self, probabilities: Floats) -> Floats:
        """Return such scores: half of the log-odds of each class."""
        scores: Floats = 0.5 * (_logs(probabilities) - _logs(1.0 - probabilities))
        return scores


def _logs(probabilities: Floats) -> Floats:
    return np.asarray(_native.log(np.maximum(probabilities, _LEAST)))


Link = Softmax | OneAgainstAll
