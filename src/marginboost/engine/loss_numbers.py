"""The numbers of the losses in compiled code and kernels."""

from __future__ import annotations

__all__ = ["LOSS_NUMBERS"]

LOSS_NUMBERS = {"exponential": 0, "logistic": 1, "softmax": 2}
