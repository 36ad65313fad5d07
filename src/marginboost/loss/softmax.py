"""The multi-class logistic loss, over rows instead of pairs."""

import numpy as np

from marginboost.loss.base import Floats


class SoftmaxLoss:
    """log(1 + sum over r != y of exp(-rho_r)): minus the log-likelihood of softmax(F)."""

    name = "softmax"
    start_weight = 1.0
    normalized = False
    pair_weights = None
    probability_factor = 1.0

    def value(self, e: Floats) -> Floats:
        """Loss of each row."""
        return np.log1p(row_sums(e))

    def weight(self, e: Floats) -> Floats:
        """Weight of each pair: the probability of the wrong class."""
        weight: Floats = e / (1.0 + row_sums(e))[:, None]
        return weight


def row_sums(e: Floats) -> Floats:
    """Sum each row in the order that all engines use.

    Eight partial sums, output c in the (c mod 8)th, then ((0+4) + (2+6)) + ((1+5) + (3+7)).
    """
    partial = np.zeros((len(e), 8))
    for first in range(0, e.shape[1], 8):
        block = e[:, first : first + 8]
        partial[:, : block.shape[1]] += block
    four = partial[:, :4] + partial[:, 4:]
    sums: Floats = (four[:, 0] + four[:, 2]) + (four[:, 1] + four[:, 3])
    return sums
