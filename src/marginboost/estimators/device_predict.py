"""Predictions for arrays on a GPU: they are made there, and stay there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sklearn.utils.validation import check_is_fitted

from marginboost.backends.input_columns import check_array_width
from marginboost.engine.gpu.arrays import lies_on_gpu
from marginboost.engine.gpu.device import cuda_device
from marginboost.engine.gpu.prediction import DevicePrediction

if TYPE_CHECKING:
    from marginboost.estimators.fitted import FittedClassifier

__all__ = ["device_prediction"]


def device_prediction(classifier: FittedClassifier, X: Any) -> DevicePrediction | None:
    """Return what a classifier predicts for rows on a GPU; None if the host has to predict.

    That is the case for rows on the host; for columns of categories, whose numbers the host looks up; and
    for torch's tensors where CuPy is not installed.
    """
    if not lies_on_gpu(X):
        return None
    check_is_fitted(classifier)
    if not classifier.encoding_.numbers_alone:
        return None
    try:
        device = cuda_device()
    except ImportError:
        return None
    X = device.xp.asarray(X.detach() if hasattr(X, "detach") else X)
    if X.ndim != 2 or X.dtype.kind not in "biuf" or 0 in X.shape:
        raise ValueError(
            "X must be a two-dimensional array of real numbers with at least one row and one "
            f"column; got {X.dtype} of shape {X.shape}."
        )
    check_array_width(classifier, X.shape[1])
    return DevicePrediction(device, classifier.ensemble_, classifier.encoding_, X)
