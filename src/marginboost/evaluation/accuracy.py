"""How certain an accuracy is."""

from __future__ import annotations

from scipy.stats import binomtest

__all__ = ["accuracy_interval"]


def accuracy_interval(n_right: int, n_rows: int, confidence: float = 0.95) -> tuple[float, float]:
    """Compute Wilson's interval for an accuracy.

    Parameters
    ----------
    n_right : int
        How many rows were predicted correctly.
    n_rows : int
        Of how many; at least one.
    confidence : float, default=0.95
        Between 0 and 1.

    Returns
    -------
    (float, float)
        Where the accuracy on very many such rows would lie, at this confidence.
    """
    found = binomtest(n_right, n_rows).proportion_ci(confidence, method="wilson")
    return float(found.low), float(found.high)
