"""Support vector machines: linear, radial and with the histogram intersection kernel."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter, process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.decomposition import PCA
from sklearn.metrics.pairwise import linear_kernel, rbf_kernel
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.svm import SVC

from experiments.draws import Split
from experiments.features.histogram_intersection import histogram_intersection
from experiments.stopwatch import processor_seconds
from experiments.trial import Measures

__all__ = ["SVMS", "measure_svm", "svm_conditions"]

Matrix = NDArray[Any]
COSTS = (0.1, 1.0, 10.0, 100.0)
FOLDS = 5


@dataclass(frozen=True)
class Svm:
    """A support vector machine to compare with.

    Attributes
    ----------
    label : str
        Its name in tables.
    kernel : callable
        Of two matrices.
    """

    label: str
    kernel: Callable[[Matrix, Matrix], Matrix]


SVMS = {
    "svm-linear": Svm("Linear SVM", linear_kernel),
    "svm-rbf": Svm("RBF SVM", rbf_kernel),
    "svm-hik": Svm("HIK SVM", histogram_intersection),
}


def svm_conditions(C: float | None) -> dict[str, Any]:
    """Return what decides a fit besides data and kernel, as `experiments.conditions` has it."""
    return {
        "parameters": {"C": list(COSTS) if C is None else [C], "folds": FOLDS, "scaled": C is None}
    }


def measure_svm(
    method: str,
    split: Split,
    *,
    seed: int,
    n_components: int | None = None,
    C: float | None = None,
    n_jobs: int = 1,
    processor_times: bool = False,
) -> Measures:
    """Fit a support vector machine, one against one as in LIBSVM, and test it.

    All features are scaled by one factor, so that the average row has length 1 under the kernel;
    for the radial kernel, so that the average distance between rows is 1. The penalty C is the one
    with the lowest error in 5-fold cross-validation on the training rows.

    Parameters
    ----------
    method : str
        Name in `SVMS`.
    split : Split
        Data.
    seed : int
        Seed of the folds.
    n_components : int or None, default=None
        First project on this many principal components of the training rows.
    C : float or None, default=None
        This penalty, on features that are not scaled; None for the cross-validated one.
    n_jobs : int, default=1
        Processes of the cross-validation.
    processor_times : bool, default=False
        Whether to time the fit, and the prediction of all test rows again on one thread, by the clock
        of the processor, which does not run while other programs have it.

    Returns
    -------
    dict
        `wrong`, `n_test`, `n_train`, `n_features`, `n_classes`, `wrong_rows`; `fit_seconds`, with
        the cross-validation; `predict_seconds`, of all test rows; if asked for,
        `fit_processor_seconds` and `predict_processor_seconds`; `C` and `n_support`.
    """
    began, processor = perf_counter(), process_time()
    X, X_test = split.X.astype(np.float64), split.X_test.astype(np.float64)
    projection = None
    if n_components is not None:
        projection = PCA(min(n_components, *X.shape), random_state=seed).fit(X)
        X = projection.transform(X)
    kernel = SVMS[method].kernel
    scale = _scale(method, X) if C is None else 1.0
    gram = kernel(scale * X, scale * X)
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=seed)
    search = GridSearchCV(
        SVC(kernel="precomputed"),
        {"C": list(COSTS) if C is None else [C]},
        cv=folds,
        n_jobs=n_jobs,
    ).fit(gram, split.y)
    fitted, processor = perf_counter(), process_time() - processor
    # Only support vectors need their kernel with new rows.
    model = search.best_estimator_
    support = scale * X[model.support_]

    def predict() -> NDArray[Any]:
        rows = X_test if projection is None else projection.transform(X_test)
        values = np.zeros((len(rows), len(X)))
        values[:, model.support_] = kernel(scale * rows, support)
        predicted: NDArray[Any] = model.predict(values)
        return predicted

    ready = perf_counter()
    wrong = np.flatnonzero(predict() != split.y_test)
    predict_seconds = perf_counter() - ready
    measures: Measures = {
        "wrong": len(wrong),
        "n_test": len(split.y_test),
        "n_train": len(split.y),
        "n_features": X.shape[1],
        "n_classes": len(model.classes_),
        "wrong_rows": wrong.tolist(),
        "fit_seconds": round(fitted - began, 4),
        "predict_seconds": round(predict_seconds, 4),
        "C": search.best_params_["C"],
        "n_support": len(model.support_),
    }
    if processor_times:
        measures["fit_processor_seconds"] = round(processor, 4)
        measures["predict_processor_seconds"] = processor_seconds(predict)
    return measures


def _scale(method: str, X: Matrix) -> float:
    """Return the factor with which the penalties tried have the right magnitude."""
    if method == "svm-linear":
        return float(1 / np.sqrt(np.mean(np.sum(X**2, axis=1))))
    if method == "svm-rbf":
        # rbf_kernel's gamma is 1 / n_features; the mean squared distance is twice the variance.
        return float(np.sqrt(X.shape[1] / (2 * X.var(axis=0).sum())))
    return float(1 / np.mean(np.sum(X, axis=1)))
