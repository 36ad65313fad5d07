"""When to end a fit before its last round."""

from __future__ import annotations

import math

__all__ = ["EarlyStopping"]


class EarlyStopping:
    """Ends a fit whose validation loss has not improved for some rounds.

    Parameters
    ----------
    n_iter_no_change : int
        Rounds without an improvement that are waited for.
    tol : float
        A loss must be lower by more than this to count as an improvement. What falls by less a round,
        but goes on falling, adds up.
    """

    def __init__(self, n_iter_no_change: int, tol: float) -> None:
        self._patience = n_iter_no_change
        self._tol = tol
        self._reference = math.inf
        self._waited = 0

    def is_over(self, loss: float) -> bool:
        """Take note of a round's loss; say whether the fit shall end."""
        if loss < self._reference - self._tol:
            self._reference, self._waited = loss, 0
        else:
            self._waited += 1
        return self._waited >= self._patience
