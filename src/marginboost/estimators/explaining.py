"""How a fitted classifier explains itself."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, frexp
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from marginboost.data.collection import is_collection
from marginboost.data.encoding import Encoding
from marginboost.data.memory import check_memory
from marginboost.data.row_view import RowView
from marginboost.data.rows import Rows
from marginboost.engine.gpu.arrays import to_host
from marginboost.engine.threads import effective_threads
from marginboost.estimators.given_columns import number_columns
from marginboost.estimators.settings import check_integer
from marginboost.model.ensemble import Ensemble
from marginboost.model.explanation import Explanation, explain, feature_names
from marginboost.model.shapes import FeatureShape, feature_shapes

__all__ = [
    "IMPORTANCE_ROWS", "ExplainingMixin", "cover_rows", "explain_numbers", "names_of", "numbers_of",
    "thinned",
]

# Training rows that the covers of leaves are counted on: a tenth is known to half a percent.
COVER_ROWS = 4096
# With very many trees fewer rows will do: so many walks down a tree are done.
COVER_WALKS = 1 << 22
FEWEST_ROWS = 256
# Training rows that the importances of features are means over.
IMPORTANCE_ROWS = 256


class _Fitted(Protocol):
    classes_: NDArray[Any]
    ensemble_: Ensemble
    encoding_: Encoding
    n_jobs: int | None

    @property
    def _sparse_formats(self) -> tuple[str, ...] | bool: ...


class ExplainingMixin:
    """Gives a classifier `explain` and `feature_shapes`."""

    def explain(self: _Fitted, X: Any, top: int | None = None) -> Explanation:
        """Tell what each column of X adds to the scores.

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
        """Tell what each column adds to the scores, by its value, for a model of stumps.

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
    what = f"contributions of {X.shape[0]:,} rows to {n_asked:,} classes; `top` asks for fewer"
    check_memory(needed, what)
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
    return number_columns(model, to_host(X), model.encoding_, model._sparse_formats)


def names_of(model: Any) -> tuple[str, ...]:
    """Return the names of the columns of X that a fitted classifier knows."""
    return feature_names(getattr(model, "feature_names_in_", None), model.encoding_.n_features)


def cover_rows(data: Rows, n_trees: int, seed: int) -> tuple[Any, NDArray[np.float64]]:
    """Return some training rows, as many as trees of a model are covered by, and their weights.

    The rows are chosen by their hashes, so they are the same on every engine, in any order.

    Parameters
    ----------
    data : Rows
        What was fitted to.
    n_trees : int
        Trees of the model.
    seed : int
        Of the hashes: where a fit hashes its rows, its own, since a `Rows` keeps those of one seed.

    Returns
    -------
    X : array or SciPy sparse matrix
        Ordered columns.
    weight : float64 array
        Whole numbers, if all weights of the fit are; else at most 1.
    """
    n_rows = min(COVER_ROWS, max(FEWEST_ROWS, COVER_WALKS // max(1, n_trees)))
    share = n_rows / data.n_counted
    while True:
        # All classes alike. Of few rows all may be missed.
        bound = np.uint64(min(int(share * 2.0**64), 2**64 - 1))
        view = RowView(seed, np.full(data.n_classes, bound, dtype=np.uint64))
        rows = data.sample_rows(view)
        if len(rows.weight) or share >= 1.0:
            # Weights have no scale of their own, but for those that count rows.
            largest = data.largest_weight
            scale = 0 if largest is None else -frexp(largest)[1]
            return rows.X, np.ldexp(rows.row_weight(), scale)
        share *= 8.0


def thinned(weight: NDArray[np.float64], n: int) -> NDArray[np.float64]:
    """Choose about so many of some rows, evenly by weight.

    Parameters
    ----------
    weight : float64 array
        Weights of rows, equal rows one after the other.
    n : int
        How many to choose, each copy of a row on its own.

    Returns
    -------
    float64 array of whole numbers
        How often each row is chosen: as often as all its copies together would be.
    """
    ends = np.cumsum(weight)
    total = float(ends[-1]) if len(ends) else 0.0
    if not total > 0.0:
        return np.zeros_like(weight)
    # A step of a whole number chooses no row twice; all of them, where there are few.
    step = ceil(total / n) if (weight == np.floor(weight)).all() else total / n
    return np.diff(np.floor(ends / step), prepend=0.0)
