"""The best coefficients of a round balance a k x k matrix.

Run: python -m experiments.findings.balancing

With the exponential loss, a weak classifier h with values -1 and +1 changes the loss to

    sum over classes r, s of B[r, s] exp(w[s] - w[r]),

where B[r, s] adds up the weights of all pairs (row of class r, other class s) with h = +1, and of all
pairs (row of class s, other class r) with h = -1. At the minimum every class's row of the scaled
matrix sums to the same as its column. So the rows are read once, and not in every step of a solver.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from sklearn.datasets import load_digits

Floats = NDArray[np.float64]


def matrix(h: NDArray[np.int_], y: NDArray[np.int_], weights: Floats) -> Floats:
    """Return B for the outputs of a weak classifier, classes, and the weights of rows x classes."""
    k = weights.shape[1]
    B = np.zeros((k, k))
    for r in range(k):
        B[r] += weights[(y == r) & (h > 0)].sum(axis=0)
        B[:, r] += weights[(y == r) & (h < 0)].sum(axis=0)
    np.fill_diagonal(B, 0.0)
    return B


def balanced(B: Floats, sweeps: int = 50) -> Floats:
    """Return the coefficients that balance a matrix, class by class."""
    w = np.zeros(len(B))
    for _ in range(sweeps):
        for r in range(len(B)):
            scaled = B * np.exp(w[None, :] - w[:, None])
            w[r] += 0.5 * np.log(scaled[r].sum() / scaled[:, r].sum())
    return np.asarray(w - w.min())


def solved(h: NDArray[np.int_], y: NDArray[np.int_], weights: Floats) -> Floats:
    """Return the coefficients that SciPy finds by going through all rows in every step."""
    k = weights.shape[1]

    def loss(w: Floats) -> float:
        margins = h[:, None] * (w[y][:, None] - w[None, :])
        return float((weights * np.exp(-margins)).sum())

    w = minimize(loss, np.zeros(k), method="BFGS", options={"gtol": 1e-8}).x
    return np.asarray(w - w.min())


def main() -> float:
    """Compare both on handwritten digits; return the largest difference."""
    X, y = load_digits(return_X_y=True)
    h = np.where(X[:, 36] > 7.0, 1, -1)  # a stump on a pixel in the middle
    weights = np.ones((len(y), 10))
    weights[np.arange(len(y)), y] = 0.0
    B = matrix(h, y, weights / weights.sum())
    ours, theirs = balanced(B), solved(h, y, weights / weights.sum())
    scaled = B * np.exp(ours[None, :] - ours[:, None])
    apart = float(np.abs(ours - theirs).max())
    print("class  coefficient  the same by SciPy  row sum   column sum")
    for r in range(10):
        sums = f"{scaled[r].sum():.6f}  {scaled[:, r].sum():.6f}"
        print(f"{r:5d}  {ours[r]:11.6f}  {theirs[r]:17.6f}  {sums}")
    print(f"Largest difference of a coefficient: {apart:.1e}")
    return apart


if __name__ == "__main__":
    main()
