"""What one round minimises, written out over all rows and classes, and SciPy's solver for it."""

import numpy as np
from formulas import others
from scipy.optimize import minimize
from scipy.special import expit, logsumexp

PROMISED = 1e-8  # what optimality_errors_ stays below
NUS = [0.0, 1e-9, 1e-4, 1e-2, 0.1]


class RoundProblem:
    """What one round minimises over w >= 0: all rows, all classes, nothing summed up beforehand.

    `capped` adds the with_shared_docs cap of the exponential loss: where no pair of two classes is on the
    wrong side, one unit is, so that w stays finite.
    """

    def __init__(self, margins, h, y, loss, nu, *, capped=False):
        self.k = margins.shape[1]
        self.rho, self.h, self.loss, self.nu = margins, h, loss, nu
        self.other = others(y, self.k)
        self.own = np.eye(self.k)[y]
        self.cap = np.full((self.k, self.k), -np.inf)
        if capped and loss == "exponential":
            plus, minus = (self.own.T @ (self.other * (h == sign)[:, None]) for sign in (1, -1))
            empty = (plus + minus.T == 0) & ~np.eye(self.k, dtype=bool)
            self.cap[empty] = np.log(2**-49 * np.exp(-margins)[self.other].sum())

    def cap_terms(self, w):
        return self.cap + w - w[:, None]

    def margins(self, w):
        return self.rho + self.h[:, None] * ((self.own @ w)[:, None] - w)

    def __call__(self, w):
        """Objective and gradient."""
        rho = self.margins(w)
        if self.loss == "exponential":  # the paper's sum has a constant 1 for a row's own class
            caps = self.cap_terms(w)
            value = np.logaddexp(logsumexp(np.where(self.other, -rho, 0.0)), logsumexp(caps))
            u = np.where(self.other, np.exp(-rho - value), 0.0)
            caps = np.exp(caps - value)
        else:
            caps = np.zeros((self.k, self.k))
            value = np.logaddexp(0.0, -rho)[self.other].sum()
            u = np.where(self.other, expit(-rho), 0.0)
        hu = self.h[:, None] * u
        gradient = hu.sum(axis=0) - self.own.T @ hu.sum(axis=1)
        gradient += caps.sum(axis=0) - caps.sum(axis=1)
        return value + self.nu * w.sum(), gradient + self.nu

    def weight_sum(self, w):
        """Sum of the weights at w: the scale of the gradient."""
        rho = self.margins(w)
        if self.loss == "logistic":
            return expit(-rho)[self.other].sum()
        return np.exp(-rho[self.other] - logsumexp(np.where(self.other, -rho, 0.0))).sum()

    def rounding(self, w):
        """Bound what fixed-point sums (2**-50 of the weights' mass a term) do to the gradient."""
        growth = np.exp(self.h[:, None] * (w - (self.own @ w)[:, None]))[self.other]
        if self.loss == "exponential":
            e = np.exp(-self.rho)[self.other]
            floors = np.exp(w - w[:, None]).sum()  # an empty cell counts as one unit
            return 2**-49 * e.sum() * (growth.sum() + floors) / ((e * growth).sum() + len(self.h))
        u = expit(-self.rho)[self.other]
        return 2**-49 * (u * np.maximum(growth, 1)).sum() * growth.size


def kkt_residual(gradient, w):
    return np.where(w > 0, np.abs(gradient), np.maximum(0.0, -gradient)).max()


def lbfgs(problem, start):
    bounds = [(0, None)] * len(start)
    options = {"maxiter": 500, "ftol": 1e-15, "gtol": 1e-10}
    return minimize(problem, start, jac=True, bounds=bounds, method="L-BFGS-B", options=options)
