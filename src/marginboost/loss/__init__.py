"""The two losses of the paper, over pairs (row, other class)."""

from marginboost.loss.base import Loss
from marginboost.loss.exponential import ExponentialLoss
from marginboost.loss.logistic import LogisticLoss

LOSSES: dict[str, Loss] = {loss.name: loss for loss in (ExponentialLoss(), LogisticLoss())}

__all__ = ["LOSSES", "ExponentialLoss", "LogisticLoss", "Loss"]
