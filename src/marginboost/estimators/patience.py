"""When to end a fit that has not improved for a while, and keep all its rounds."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from marginboost.boosting.round import Round

__all__ = ["Patience"]

# By how much the validation loss must fall to count as an improvement.
TOLERANCE = 1e-4


class Patience:
    """A callback that ends a fit whose validation loss has not improved for long enough.

    Long enough is a number of rounds, and half as many as there were before: what few rounds more say
    after hundreds of rounds is chance.

    Parameters
    ----------
    n_rounds : int
        Rounds to wait for, at least.
    """

    def __init__(self, n_rounds: int) -> None:
        self._n_rounds = n_rounds
        self._best = math.inf
        self._at = 0

    def __call__(self, finished: Round) -> bool:
        """Return whether to end the fit."""
        if finished.validation_loss < self._best - TOLERANCE:
            self._best, self._at = finished.validation_loss, finished.number
        return finished.number - self._at >= max(self._n_rounds, self._at // 2)
