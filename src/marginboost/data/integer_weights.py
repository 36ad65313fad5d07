"""Row weights as integers of a common unit, whose sums are exact in doubles, in any order."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Weights = NDArray[np.float64] | None
Multiplicities = NDArray[np.int32] | None


def weight_unit(n_rows: int, weight: Weights, multiplicity: Multiplicities) -> float:
    """Return a power of two such that the sum of all weights is below 2**52 units."""
    largest = 1.0
    if weight is not None:
        largest = float(weight.max()) if len(weight) else 0.0
    return unit_of(largest, float(n_rows) if multiplicity is None else float(multiplicity.sum()))


def unit_of(largest: float, count: float) -> float:
    """Return that unit for `count` rows with weights up to `largest`."""
    return float(np.ldexp(1.0, int(np.frexp(max(largest, 1e-300) * count)[1]) - 51))


def integer_weights(
    rows: slice, weight: Weights, multiplicity: Multiplicities, unit: float, xp: Any = np
) -> NDArray[np.float64]:
    """Return weight * multiplicity of some rows, with the weight rounded to an integer of units.

    `xp` is the module of the arrays.
    """
    whole: NDArray[np.float64]
    if weight is None:
        whole = xp.full(rows.stop - rows.start, 1.0 / unit)
    else:
        whole = xp.rint(weight[rows] / unit)
    if multiplicity is not None:
        whole *= multiplicity[rows]
    return whole
