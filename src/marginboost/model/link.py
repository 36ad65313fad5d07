"""The link: how scores become probabilities."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, softmax

from marginboost import _native

__all__ = ["Link", "OneAgainstAll", "Softmax", "one_against_all", "softmax_of"]

Floats = NDArray[np.float64]


def softmax_of(scores: Floats, factor: float = 1.0) -> Floats:
    """Return softmax(factor * scores), row by row."""
    probabilities: Floats = softmax(factor * scores, axis=1)
    return probabilities


def one_against_all(scores: Floats) -> Floats:
    """Return the logistic function of 2 * scores, scaled to rows that sum to 1.

    For losses exp(-F_c) on a class's own rows and exp(F_c) on the others, each class a question of its
    own: the expected loss is least at F_c = log(p_c / (1 - p_c)) / 2. With two classes both questions are
    one, and its log-odds are the difference of the scores.
    """
    if scores.shape[1] == 2:
        return softmax_of(scores)
    single = np.maximum(expit(2.0 * scores), 1e-300)
    probabilities: Floats = single / single.sum(axis=1, keepdims=True)
    return probabilities


@dataclass(frozen=True, slots=True)
class Softmax:
    """softmax(factor * F)."""

    factor: float = 1.0

    @property
    def native(self) -> _native.Link:
        """The same in compiled code."""
        return _native.Link.softmax

    def __call__(self, scores: Floats) -> Floats:
        """Turn rows of scores into rows of probabilities."""
        return softmax_of(scores, self.factor)


@dataclass(frozen=True, slots=True)
class OneAgainstAll:
    """See `one_against_all`."""

    factor: float = 1.0  # unused; so that links look alike

    @property
    def native(self) -> _native.Link:
        """The same in compiled code."""
        return _native.Link.one_against_all

    def __call__(self, scores: Floats) -> Floats:
        """Turn rows of scores into rows of probabilities."""
        return one_against_all(scores)


Link = Softmax | OneAgainstAll
