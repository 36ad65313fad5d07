"""The criterion of the best stump."""

from enum import IntEnum


class Criterion(IntEnum):
    """What the best stump maximizes; edges are those of the outputs."""

    LARGEST = 0  # the largest |edge| of any output
    SUM = 1  # the sum of |edge| over the outputs
    SQUARES = 2  # the sum of (edge >> 6) ** 2 over the outputs
