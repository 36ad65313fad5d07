"""What the splits of a round count for."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["share_out"]


def share_out(fall: float, gains: Sequence[float] | NDArray[np.float64]) -> NDArray[np.float64]:
    """Share out what a round lowered the training loss by among its splits.

    A search judges splits by the weights of its own round. Those of a late round may be nothing but
    rounding, so that its gains are as large as those of the first: only the loss tells them apart.

    Parameters
    ----------
    fall : float
        By how much the loss fell; NaN where it is not known, and gains stay as they are.
    gains : sequence of float
        What each split gains, in any unit: not negative.

    Returns
    -------
    float64 array
        In proportion to `gains`, with the sum `fall`; zeros where the loss did not fall.
    """
    shares = np.asarray(gains, dtype=np.float64)
    if math.isnan(fall):
        return shares
    total = float(shares.sum())
    return shares * (max(fall, 0.0) / total if total > 0.0 else 0.0)
