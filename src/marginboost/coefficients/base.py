"""The result of a solver."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

# Solvers stop at this error, half of the 1e-8 that users are promised.
TOLERANCE = 5e-9


class Solution(NamedTuple):
    """Coefficients and their optimality error.

    Attributes
    ----------
    w : float64 array of k
        The coefficients, >= 0, the smallest 0.
    optimality_error : float
        Largest KKT residual, relative to the part of the loss that w can change.
    iterations : int
        Number of sweeps or Newton steps.
    """

    w: NDArray[np.float64]
    optimality_error: float
    iterations: int
