"""Orientation of gradients, as votes for bins of the circle."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def orientation_votes(
    down: NDArray[np.float32],
    right: NDArray[np.float32],
    orientations: int,
    *,
    signed: bool,
    interpolate: bool,
) -> NDArray[np.float32]:
    """Return the votes of the pixels, each by its gradient's length: m x orientations x pixels.

    Bin 0 begins at the direction along the columns; bins continue towards growing rows.

    Parameters
    ----------
    down, right : arrays of shape (m, height, width)
        The gradients.
    orientations : int
        How many bins.
    signed : bool
        Whether the bins share the full circle; else opposite directions are one, and the bins share
        half of it.
    interpolate : bool
        Whether a vote is shared by the two bins whose middles are nearest, in proportion; else the
        bin that it falls into has all.
    """
    length = np.hypot(down, right).reshape(len(down), -1)
    bins_a_radian = orientations / (2 * np.pi if signed else np.pi)
    # Upright and level edges abound and lie on edges of bins: without shared votes they must not be
    # put to either side by rounding.
    angle = np.arctan2(down, right, dtype=np.float32 if interpolate else np.float64)
    place = angle.reshape(length.shape) * angle.dtype.type(bins_a_radian)
    votes = np.zeros((len(down), orientations, length.shape[1]), dtype=np.float32)
    if interpolate:
        place -= 0.5  # from edges of bins to their middles
    whole = np.floor(place)
    # The remainder also brings angles below 0 home, and those that rounding put at a full turn.
    first = whole.astype(np.int64) % orientations
    if not interpolate:
        give(votes, first, length)
        return votes
    share = place - whole
    give(votes, first, length * (1 - share))
    give(votes, (first + 1) % orientations, length * share)
    return votes


def give(votes: NDArray[np.float32], bins: NDArray[np.int64], weight: NDArray[np.float32]) -> None:
    """Put every pixel's weight into one of its bins."""
    np.put_along_axis(votes, bins[:, None, :], weight[:, None, :], axis=1)
