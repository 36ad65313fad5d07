"""Explanations: what the columns of X add to the scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marginboost import _native
from marginboost.data.encoding import Category, Encoding
from marginboost.model.cover import compact_blocks, compact_features, flat_arrays
from marginboost.model.ensemble import Ensemble
from marginboost.model.explanation_html import explanation_html

__all__ = ["Explanation", "explain"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

_SHOWN_FEATURES = 5


@dataclass(frozen=True, slots=True, eq=False)
class Explanation:
    """Shapley values: what each column of X adds to the scores of some classes.

    ``base + contributions.sum(axis=1)`` equals ``scores`` to the bit. The contributions to a score are
    rounded to a grid (of about 15 digits) on which sums in float64 are exact, so their sum is the same in
    any order. `base` is the remainder: it is equal in all rows except for its last digits. Scores lie on
    such a grid themselves, since a fit rounds its coefficients to one. Only for scores beyond 2,048, or
    for an ensemble that was made by hand, the last digit may be lost.

    Attributes
    ----------
    contributions : float64 ndarray of shape (n, n_features, n_asked)
        How much a column moves a class's score away from `base`.
    base : float64 ndarray of shape (n, n_asked)
        The mean score of the class over the sample of training rows that gave the cover of the leaves.
    scores : float64 ndarray of shape (n, n_asked)
        The scores F of the classes.
    classes : int64 ndarray of shape (n, n_asked)
        The explained classes, as indices of `labels`.
    labels : ndarray of shape (n_classes,)
        The labels of all classes.
    feature_names : tuple of str
        The names of the columns of X.
    X : array or sparse matrix of shape (n, n_features)
        The explained rows as numbers: NaN for missing values; in a column of categories the index of the
        value's category.
    categories : tuple, one entry per column of X
        None for a column of numbers; otherwise its categories.
    """

    contributions: Floats
    base: Floats
    scores: Floats
    classes: Integers
    labels: NDArray[Any]
    feature_names: tuple[str, ...]
    X: Any
    categories: tuple[tuple[Category, ...] | None, ...]

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.scores)

    def __repr__(self) -> str:
        """Describe the content, and what moved the first row most."""
        n, n_features, n_asked = self.contributions.shape
        text = f"Explanation({n} rows, {n_features} features, {n_asked} classes per row)"
        if not n or not n_asked:
            return text
        label = self.labels[self.classes[0, self.scores[0].argmax()]]
        moved = ", ".join(
            f"{name} = {value}: {amount:+.3g}" for name, value, amount in self.top_features(0)
        )
        return f"{text}\nrow 0, class {label}: {self.scores[0].max():.3g}; {moved}"

    def _repr_html_(self) -> str:
        """Show the first rows in a notebook."""
        return str(explanation_html(self))

    def top_features(
        self, row: int, label: Any = None, n: int = _SHOWN_FEATURES
    ) -> list[tuple[str, str, float]]:
        """Return the columns that move a score most.

        Parameters
        ----------
        row : int
            The number of the row.
        label : object, optional
            The class; by default the one with the highest score.
        n : int
            Maximum number of columns; those that add nothing are left out.

        Returns
        -------
        list of (str, str, float)
            Name, value and contribution, the largest first.
        """
        place = self.place_of(row, label)
        amounts = self.contributions[row, :, place]
        order = np.argsort(-np.abs(amounts), kind="stable")[:n]
        return [
            (self.feature_names[j], self.value_of(row, j), float(amounts[j]))
            for j in order.tolist()
            if amounts[j]
        ]

    def place_of(self, row: int, label: Any = None) -> int:
        """Return the index of a class among the explained classes of a row.

        Parameters
        ----------
        row : int
            The number of the row.
        label : object, optional
            The class; by default the one with the highest score.

        Returns
        -------
        int
        """
        if not -len(self) <= row < len(self):
            raise ValueError(f"row must be one of the {len(self)} rows, got {row}.")
        if label is None:
            return int(self.scores[row].argmax())
        found = np.flatnonzero(self.labels[self.classes[row]] == label)
        if not len(found):
            raise ValueError(
                f"Row {row} was explained for the classes "
                f"{self.labels[self.classes[row]].tolist()}, got {label!r}; pass a larger `top` to "
                "explain more classes."
            )
        return int(found[0])

    def value_of(self, row: int, feature: int) -> str:
        """Return the value of a column in a row as text.

        Parameters
        ----------
        row, feature : int
            The numbers of the row and of the column of X.

        Returns
        -------
        str
        """
        value = float(self.X[row, feature])
        categories = self.categories[feature]
        if np.isnan(value):
            return "missing" if categories is None else "missing or unseen"
        return f"{value:g}" if categories is None else str(categories[int(value)])

    def importances(self) -> Floats:
        """Compute how far each column moves the scores on average.

        Returns
        -------
        float64 ndarray of shape (n_features,)
            Mean absolute contribution, over rows and explained classes.
        """
        means: Floats = np.abs(self.contributions).mean(axis=(0, 2))
        return means

    def to_frame(self) -> Any:
        """Make a table with one line per row, class and column.

        Returns
        -------
        pandas.DataFrame, polars.DataFrame or dict
            With the columns row, class, feature and contribution; a dict of arrays if neither pandas nor
            polars is installed.
        """
        n, n_features, n_asked = self.contributions.shape
        table = {
            "row": np.repeat(np.arange(n), n_features * n_asked),
            "class": np.repeat(self.labels[self.classes], n_features, axis=0).ravel(),
            "feature": np.tile(np.repeat(np.array(self.feature_names, dtype=object), n_asked), n),
            "contribution": self.contributions.ravel(),
        }
        for name in ("pandas", "polars"):
            try:
                module = __import__(name)
            except ImportError:
                continue
            return module.DataFrame(table)
        return table

    def to_shap(self) -> Any:
        """Make a `shap.Explanation` of these values, for the plots of the package shap.

        Returns
        -------
        shap.Explanation
            With values of shape (n, n_features, n_asked), or (n, n_features) where one class per row was
            asked for. Outputs have the names of the classes; if these differ from row to row (`top`),
            they are "rank 1", "rank 2" and so on.
        """
        try:
            shap = import_module("shap")
        except ImportError as error:
            raise ImportError("to_shap needs the package shap: pip install shap") from error
        X = self.X.toarray() if hasattr(self.X, "toarray") else np.asarray(self.X)
        shown = None
        if any(categories is not None for categories in self.categories):
            rows, columns = range(X.shape[0]), range(X.shape[1])
            shown = np.array([[self.value_of(i, j) for j in columns] for i in rows], dtype=object)
        alike = len(self) > 0 and bool((self.classes == self.classes[0]).all())
        names = [f"rank {place + 1}" for place in range(self.classes.shape[1])]
        if alike:
            names = [str(label) for label in self.labels[self.classes[0]]]
        single = self.classes.shape[1] == 1
        return shap.Explanation(
            self.contributions[..., 0] if single else self.contributions,
            base_values=self.base[:, 0] if single else self.base,
            data=X,
            display_data=shown,
            feature_names=list(self.feature_names),
            output_names=None if single else names,
        )


def explain(
    ensemble: Ensemble,
    encoding: Encoding,
    X: Any,
    classes: Integers,
    scores: Floats,
    *,
    n_threads: int = 1,
) -> tuple[Floats, Floats]:
    """Compute the Shapley values of the columns of X.

    Parameters
    ----------
    ensemble : Ensemble
        The trees, with the cover of their leaves.
    encoding : Encoding
        The encoding whose ordered columns the ensemble splits; the players are the columns of X.
    X : array or SciPy sparse matrix of shape (n, n_ordered)
        Ordered columns.
    classes : int64 array of n x n_asked
        The classes to explain, per row.
    scores : float64 array of n x n_asked
        Their scores.
    n_threads : int
        Threads to use. The result does not depend on it.

    Returns
    -------
    contributions : float64 array of n x encoding.n_features x n_asked
    base : float64 array of n x n_asked
    """
    if ensemble.leaf_cover is None:
        raise ValueError(
            "The ensemble must have a leaf_cover to be explained, got none; fit the model again, or "
            "add one with `with_cover`."
        )
    used, feature = compact_features(ensemble)
    player = encoding.source[used]
    explainer = _native.Explainer(
        **flat_arrays(ensemble, feature, len(used)),
        leaf_cover=ensemble.leaf_cover,
        player=np.ascontiguousarray(player),
        n_players=encoding.n_features,
    )
    n_rows, n_asked = classes.shape
    contributions = np.zeros((n_rows, encoding.n_features, n_asked))
    base = np.empty((n_rows, n_asked))
    classes, scores = np.ascontiguousarray(classes), np.ascontiguousarray(scores)
    for rows, block in compact_blocks(X, used):
        explainer.explain(
            block, classes[rows], scores[rows], contributions[rows], base[rows], n_threads
        )
    return contributions, base


def feature_names(given: Sequence[Any] | None, n_features: int) -> tuple[str, ...]:
    """Return the names of the columns of X; x0, x1, ... if it had none."""
    if given is not None:
        return tuple(str(name) for name in given)
    return tuple(f"x{j}" for j in range(n_features))
