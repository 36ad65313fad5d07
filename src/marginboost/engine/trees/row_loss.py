"""The logarithm in the logistic loss of the engines for vector-leaf trees."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from marginboost.engine.trees.base import Singles

__all__ = ["log_one_plus"]


def log_one_plus(e: Singles) -> Singles:
    """Compute log(1 + e) in float32, by operations whose bits are the same on every machine.

    The logarithms of libraries differ in their last bits. This one consists of sums, products and
    quotients of float32, and of operations on their bits, in the same order on every engine.

    Parameters
    ----------
    e : float32 array
        From 0 to 2**121.

    Returns
    -------
    float32 array
        With a relative error below 1e-6.
    """
    one = np.float32(1.0)
    # 1 + e = 2**n * m with m from 3/4 to 3/2, and log(m) = 2 atanh(s), s = (m - 1) / (m + 1).
    bits = (one + e).view(np.int32)
    n = (bits - np.int32(0x3F400000)) >> np.int32(23)
    m = (bits - (n << np.int32(23))).view(np.float32)
    # Where n is 0, m - 1 is e, which may be too small for 1 + e to hold all of it.
    f: Singles = np.where(n == 0, e, m - one)
    s = f / (np.float32(2.0) + f)
    z = s * s
    series = np.full_like(z, 2.0 / 7.0)
    for term in (2.0 / 5.0, 2.0 / 3.0, 2.0):
        series = series * z + np.float32(term)
    whole: Singles = n.astype(np.float32) * np.float32(np.log(2.0))
    return np.asarray(whole + s * series, dtype=np.float32)
