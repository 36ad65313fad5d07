"""What is known of a round when it is over."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from marginboost.html import tag


class Round(NamedTuple):
    """One round of boosting.

    Attributes
    ----------
    number : int
        Number of the round, from 1.
    w : float64 array
        Its coefficients, after shrinkage and bound; for MCBoost the row of W.
    edge : float
        The edge of its weak classifier, in the units of the stopping rule.
    optimality_error : float
        Of the coefficients, before shrinkage.
    training_error : float
        Share of the training rows with a margin of zero or less, after the round; NaN for methods
        that do not keep the margins.
    gains : sequence of float, or array
        By how much the training loss fell with each split: they add up to what the round lowered it by.
        Where the method does not know its loss, in a unit of the round's own.
    training_loss : float
        Mean loss of the training rows after the round, the method's own; NaN where it does not know it.
    validation_error, validation_loss : float
        Share of the validation rows that the model so far gets wrong, and their log loss; NaN where
        there are none. See `marginboost.boosting.validation`.
    coefficient_seconds : float
        That step 4 took: finding the coefficients; 0 where the engine finds them with the tree.
    seconds : float
        Since the fit began.
    seconds_left : float
        That the rounds to come will take, if they are like those so far, and `max_time` lets them.
    """

    number: int
    w: NDArray[np.float64]
    edge: float
    optimality_error: float
    training_error: float
    gains: Sequence[float] | NDArray[np.float64]
    training_loss: float = math.nan
    validation_error: float = math.nan
    validation_loss: float = math.nan
    coefficient_seconds: float = math.nan
    seconds: float = math.nan
    seconds_left: float = math.nan

    def __repr__(self) -> str:
        """Return the numbers that are known; a list of rounds can be read."""
        skipped = ("w", "gains")
        known = [
            f"{name}={value:.6g}"
            for name, value in self._asdict().items()
            if name not in skipped and not math.isnan(value)
        ]
        return f"Round({', '.join(known)})"

    def _repr_html_(self) -> str:
        """Show in a notebook what is known of the round."""
        known = (
            ("training loss", self.training_loss, "{:.4g}"),
            ("training error", 100 * self.training_error, "{:.2f} %"),
            ("validation loss", self.validation_loss, "{:.4g}"),
            ("validation error", 100 * self.validation_error, "{:.2f} %"),
            ("edge", self.edge, "{:.3g}"),
            ("optimality error", self.optimality_error, "{:.2g}"),
            ("seconds since the fit began", self.seconds, "{:.2f}"),
        )
        lines = [(word, form.format(value)) for word, value, form in known if not math.isnan(value)]
        lines.append(("splits", f"{len(self.gains):,}"))
        cells = [
            tag("tr", tag("th", word, scope="row", style="text-align: left"), tag("td", value))
            for word, value in lines
        ]
        head = tag("caption", f"Round {self.number:,}", style="text-align: left")
        return str(tag("table", head, tag("tbody", *cells)))


# Gets every round when it is over; returns why the fit shall end with it, or None.
Callback = Callable[[Round], str | None]


def share_of_fall(fall: float, total: float) -> float:
    """Return what turns the gains of a round's splits into shares of what it lowered the loss by.

    A search scores splits by the weights of its own round. Those of a late round may be nothing but
    rounding, so that its gains are as large as those of the first: only the loss tells them apart.

    Parameters
    ----------
    fall : float
        By how much the loss fell; NaN where it is not known, and gains stay as they are.
    total : float
        The sum of the gains, in any unit.

    Returns
    -------
    float
        With which the gains add up to `fall`; 0 where the loss did not fall.
    """
    if math.isnan(fall):
        return 1.0
    return max(fall, 0.0) / total if total > 0.0 else 0.0
