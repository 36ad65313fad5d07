"""The model that is left where no split is of use: the class frequencies."""

from __future__ import annotations

from typing import TYPE_CHECKING

from marginboost.boosting.calibration import class_frequencies
from marginboost.boosting.round import Round
from marginboost.coefficients.grid import on_grid
from marginboost.model.constant import Leaf

if TYPE_CHECKING:
    from marginboost.data.rows import Rows
    from marginboost.model.builder import EnsembleBuilder
    from marginboost.model.link import Link

__all__ = ["add_frequencies"]


def add_frequencies(builder: EnsembleBuilder, data: Rows, link: Link) -> Round:
    """Add a round without a split, whose scores become the class frequencies.

    Parameters
    ----------
    builder : EnsembleBuilder
        Without rounds.
    data : Rows
        The rows of the fit.
    link : Link
        What makes probabilities of scores.

    Returns
    -------
    Round
        Its record.
    """
    scores = on_grid(link.scores_of(class_frequencies(data)))
    builder.append(Leaf(), builder.add_vector(scores))
    builder.end_round()
    counts = data.class_counts
    # Only rows of the class of largest score have margins above zero, and only if it is one class.
    largest = scores == scores.max()
    right = float(counts[largest].sum()) if largest.sum() == 1 else 0.0
    error = 1.0 - right / float(counts.sum())
    return Round(0, scores, 0.0, 0.0, error, [])
