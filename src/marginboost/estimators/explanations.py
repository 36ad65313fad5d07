"""How a fitted classifier explains itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from marginboost.backends.input_columns import number_columns
from marginboost.data.collection import is_collection
from marginboost.data.encoding import Encoding
from marginboost.data.memory import check_memory
from marginboost.engine.gpu.arrays import to_host
from marginboost.engine.threads import effective_threads
from marginboost.estimators.settings import check_integer
from marginboost.estimators.stored_predict import in_memory
from marginboost.model.ensemble import Ensemble
from marginboost.model.explanation import Explanation, explain, feature_names
from marginboost.model.shap_trees import shap_trees
from marginboost.model.shapes import FeatureShape, feature_shapes

__all__ = [
    "Explanations",
    "explain_numbers",
    "names_of",
    "numbers_of",
]


class _Fitted(Protocol):
    classes_: NDArray[Any]
    ensemble_: Ensemble
    encoding_: Encoding
    n_jobs: int | None
    _sparse_formats: tuple[str, ...] | bool


class Explanations:
    """Gives a classifier `explain`, `feature_shapes` and `to_shap`."""

    def explain(self: _Fitted, X: Any, top: int | None = None) -> Explanation:
        """Return what each column of X adds to the scores.

        These are Shapley values, found exactly: a column's mean effect on a score over all orders in
        which the columns may become known. What is not known is averaged over the rows that came
        the same way down a tree. They add up to the scores.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to explain.
        top : int, optional
            Explain only so many classes a row, those of largest score, the largest first. With many
            classes this saves time and memory. None: all classes, in the order of `classes_`.

        Returns
        -------
        Explanation
            With ``base + contributions.sum(axis=1)`` equal to ``scores``. With two classes, these are
            two scores, whose difference `decision_function` gives.
        """
        check_is_fitted(self)
        check_integer("top", top, 1, none_is="all classes")
        if is_collection(X):
            raise ValueError(
                "X must be rows in memory, got a Dask collection; call its compute() on the rows to "
                "explain."
            )
        return explain_numbers(self, numbers_of(self, X), top)

    def feature_shapes(self: _Fitted) -> list[FeatureShape]:
        """Return what each column adds to the scores, by its value, for a model of stumps.

        Returns
        -------
        list of FeatureShape
            One a column of X: thresholds, and what is added between them for each class.

        Raises
        ------
        ValueError
            If some tree splits more than once: then what a column adds depends on the others.
        """
        check_is_fitted(self)
        return feature_shapes(self.ensemble_, self.encoding_, names_of(self))

    def to_shap(self: _Fitted) -> dict[str, Any]:
        """Describe the trees for `shap.TreeExplainer`, which accepts the result as a model.

        Its path-dependent values equal the contributions of `explain`, up to rounding.

        Returns
        -------
        dict
            With one output per class, the scores F.

        Raises
        ------
        ValueError
            If a tree splits a column of categories. `explain(X).to_shap()` works for all models.
        """
        check_is_fitted(self)
        return shap_trees(self.ensemble_, self.encoding_)


def explain_numbers(
    model: _Fitted, X: Any, top: int | None = None, only: Sequence[int] | None = None
) -> Explanation:
    """Explain rows that are numbers already, as `Encoding.apply` takes them; see `explain`.

    Parameters
    ----------
    model : classifier
        Fitted.
    X : array or SciPy sparse matrix of shape (n, n_features)
        Rows.
    top : int, optional
        As for `explain`.
    only : sequence of int, optional
        Explain these classes, by their places in `classes_`, for every row.

    Returns
    -------
    Explanation
    """
    ordered = model.encoding_.apply(X)
    threads = effective_threads(model.n_jobs)
    scores = model.ensemble_.decision_function(ordered, n_threads=threads)
    n_classes = len(model.classes_)
    everyone = np.arange(n_classes) if only is None else np.asarray(only, dtype=np.int64)
    n_asked = len(everyone) if top is None else min(int(top), n_classes)
    needed = 8 * X.shape[0] * model.encoding_.n_features * n_asked
    check_memory(
        needed,
        lambda: (
            f"contributions of {X.shape[0]:,} rows to {n_asked:,} classes; `top` asks for fewer"
        ),
    )
    classes = np.broadcast_to(everyone, (X.shape[0], len(everyone)))
    if top is not None:
        classes = np.argsort(-scores, axis=1, kind="stable")[:, :n_asked]
    asked = np.take_along_axis(scores, classes, axis=1)
    contributions, base = explain(
        model.ensemble_, model.encoding_, ordered, classes, asked, n_threads=threads
    )
    return Explanation(
        contributions,
        base,
        asked,
        np.array(classes),
        model.classes_,
        names_of(model),
        X,
        model.encoding_.categories,
    )


def numbers_of(model: _Fitted, X: Any) -> Any:
    """Check and read rows as a matrix of numbers, as `Encoding.apply` takes them."""
    X = in_memory(X, getattr(model, "feature_names_in_", None))
    return number_columns(model, to_host(X), model.encoding_, model._sparse_formats)


def names_of(model: Any) -> tuple[str, ...]:
    """Return the names of the columns of X that a fitted classifier knows."""
    return feature_names(getattr(model, "feature_names_in_", None), model.encoding_.n_features)
