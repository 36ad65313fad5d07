"""The exponential loss, AdaBoost's."""

from marginboost.loss.base import Floats


class ExponentialLoss:
    """sum of exp(-rho); the paper minimises its logarithm, which normalises the weights."""

    name = "exponential"
    start_weight = 1.0
    normalized = True
    # A pair's expected loss p_a exp(-d) + p_b exp(d) is least at d = log(p_a / p_b) / 2.
    probability_factor = 2.0

    def value(self, e: Floats) -> Floats:
        """Loss of each pair."""
        return e

    def weight(self, e: Floats) -> Floats:
        """Weight of each pair."""
        return e
