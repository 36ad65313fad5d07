"""The scale of real weights: their mean becomes 1.

A model depends only on the ratios of its weights, so a constant factor must not matter: neither to the
meaning of settings (a pseudo-count, a penalty), nor to the range of floating-point numbers. Powers of two
are factored out first, without rounding, by adding up exponents: no product or sum of weights over- or
underflows, unless weights are farther apart than float64 can hold. Then they are divided by their mean.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from marginboost.data.integer_weights import unit_of

__all__ = ["FactorParts", "WeightScale", "mean_of", "scaled_weights", "split_factors"]

Floats = NDArray[np.float64]


class WeightScale(NamedTuple):
    """The divisor of the weights, the same for all rows of a fit.

    Attributes
    ----------
    exponent : int
        Exponent of the power of two that is factored out first. All weights are then below 1, and the
        largest is at least 1/4.
    mean : float
        The mean of the remaining factors.
    """

    exponent: int
    mean: float


class FactorParts(NamedTuple):
    """Factors as fractions from 1/2 to 1, times powers of two: per class, or per row."""

    fraction: Any
    exponent: Any


def split_factors(class_weight: Floats) -> FactorParts | None:
    """Split the factors of classes; return None if they are equal and so have no effect."""
    if np.all(class_weight == class_weight[0]):
        return None
    return FactorParts(*np.frexp(class_weight))


def scaled_weights(
    weight: Any | None,
    factors: FactorParts | None,
    multiplicity: Any | None,
    scale: WeightScale | None,
    xp: Any = np,
) -> Any:
    """Multiply weights by factors, and bring the products to a mean of 1.

    Parameters
    ----------
    weight : float64 array or None
        Positive weight of each row; None for 1.
    factors : FactorParts or None
        One factor per row; None for 1. Weight and factors must not both be None.
    multiplicity : int32 array or None
        How often each row counts; None for once.
    scale : WeightScale or None
        The scale of the whole data set that these rows are a part of; None if these are all rows.
    xp : module
        The module of the arrays.
    """
    given = [FactorParts(*xp.frexp(weight))] if weight is not None else []
    if factors is not None:
        given.append(factors)
    fraction, exponent = given[0]
    for more in given[1:]:
        fraction, exponent = fraction * more.fraction, exponent + more.exponent
    del given
    highest = int(exponent.max()) if scale is None else scale.exponent
    scaled = xp.ldexp(fraction, exponent - highest)
    del fraction, exponent
    if scale is not None:
        return scaled / scale.mean
    count = float(len(scaled) if multiplicity is None else multiplicity.sum())
    unit = unit_of(1.0, count)
    # Integers, so that the sum does not depend on the order of rows.
    whole = xp.rint(scaled / unit)
    if multiplicity is not None:
        whole *= multiplicity
    scaled /= mean_of(float(whole.sum()), count)
    return scaled


def mean_of(whole: float, count: float) -> float:
    """Return the mean of `count` weights below 1 whose sum is `whole` units."""
    return whole * unit_of(1.0, count) / count
