"""The logistic loss, as in LogitBoost."""

import numpy as np

from marginboost.loss.base import Floats


class LogisticLoss:
    """Sum of log(1 + exp(-rho))."""

    name = "logistic"
    start_weight = 0.5
    # The paper's dual also requires weights that sum to 1; its KKT condition contradicts that.
    normalized = False
    pair_weights = None
    # The expected loss of a pair has its minimum at d = log(p_a / p_b).
    probability_factor = 1.0

    def value(self, e: Floats) -> Floats:
        """Loss of each pair."""
        return np.log1p(e)

    def weight(self, e: Floats) -> Floats:
        """Weight of each pair."""
        weight: Floats = e / (1.0 + e)
        return weight
