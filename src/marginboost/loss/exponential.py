"""The exponential loss, as in AdaBoost."""

from marginboost.loss.base import Floats


class ExponentialLoss:
    """Sum of exp(-rho); the paper minimises its logarithm, which normalises the weights."""

    name = "exponential"
    start_weight = 1.0
    normalized = True
    pair_weights = None
    # The expected loss of a pair, p_a exp(-d) + p_b exp(d), has its minimum at d = log(p_a / p_b) / 2.
    probability_factor = 2.0

    def value(self, e: Floats) -> Floats:
        """Loss of each pair."""
        return e

    def weight(self, e: Floats) -> Floats:
        """Weight of each pair."""
        return e
