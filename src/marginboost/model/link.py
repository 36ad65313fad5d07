"""The link: how scores become probabilities."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from marginboost import _native

__all__ = ["Link", "OneAgainstAll", "Softmax"]

Floats = NDArray[np.float64]


class _Rule:
    """A rule that compiled code applies."""

    native: ClassVar[_native.Link]
    factor: float

    def __call__(self, scores: Floats, n_threads: int = 1) -> Floats:
        """Turn rows of scores into rows of probabilities.

        Parameters
        ----------
        scores : float64 array of rows x classes
            Stays as it is.
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


@dataclass(frozen=True)
class OneAgainstAll(_Rule):
    """The logistic function of 2 * F, scaled to rows that sum to 1.

    For losses exp(-F_c) on a class's own rows and exp(F_c) on the others, each class a question of its
    own: the expected loss is least at F_c = log(p_c / (1 - p_c)) / 2. With two classes both questions are
    one, and its log-odds are the difference of the scores: softmax(F).
    """

    native: ClassVar[_native.Link] = _native.Link.one_against_all

    factor: float = 1.0  # unused; so that links look alike


Link = Softmax | OneAgainstAll
