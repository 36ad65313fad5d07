"""Losses of the margins: the paper's two, over pairs (row, other class), and the softmax loss."""

from marginboost.loss.base import Loss
from marginboost.loss.exponential import ExponentialLoss
from marginboost.loss.logistic import LogisticLoss
from marginboost.loss.pair_weighted import PairWeightedLoss, weigh_by_distance
from marginboost.loss.softmax import SoftmaxLoss

LOSSES: dict[str, Loss] = {loss.name: loss for loss in (ExponentialLoss(), LogisticLoss())}

__all__ = [
    "LOSSES",
    "ExponentialLoss",
    "LogisticLoss",
    "Loss",
    "PairWeightedLoss",
    "SoftmaxLoss",
    "weigh_by_distance",
]
