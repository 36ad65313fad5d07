"""A compiled model for serving: one row in microseconds, many rows at full speed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marginboost import _native
from marginboost.data.columns import is_frame
from marginboost.data.encoding import Encoding
from marginboost.data.masked import without_mask
from marginboost.data.row_encoding import RowEncoding
from marginboost.data.scored_rows import read_rows
from marginboost.model.ensemble import Ensemble
from marginboost.model.link import OneAgainstAll, Softmax
from marginboost.model.set_rule import SetRule
from marginboost.model.steps import collapse

__all__ = ["CompiledModel"]

_Floats = NDArray[np.float64]


class CompiledModel:
    """The predictions of a fitted classifier, without what only fitting needs.

    It is a snapshot: if the classifier is fitted again or changed, compile it again. It can be pickled,
    copied and called from many threads at once. A model of stumps is collapsed to one step function per
    feature: the same terms are added in a different order, but the scores equal the classifier's to the
    bit, since coefficients lie on a grid (see `marginboost.coefficients.grid`).

    Every method accepts one row (a 1-D NumPy array, a list or a tuple of numbers; returns one label,
    vector or number) or many (any input of the classifier: arrays, data frames, SciPy sparse matrices;
    returns an array). If the model has categories, a row holds them unchanged, among the numbers. Sizes
    and types are checked as in the classifier, and the same values count as missing: NaN, None and nulls.
    Column names are not checked: the columns must be in the order of the fit.

    Parameters
    ----------
    ensemble : Ensemble
        The model.
    classes : ndarray of shape (n_classes,)
        The labels.
    link : Softmax, OneAgainstAll or callable
        Converts an array of scores, (n, n_classes), to probabilities of the same shape.
    n_threads : int
        Threads to use for many rows.
    encoding : Encoding, optional
        Converts the columns of X to those that the ensemble splits; by default they are the same.
    set_rule : SetRule, optional
        Makes prediction sets.
    costs : float64 array of n_classes x n_classes, optional
        The cost of each predicted class (columns) where each class is true (rows). Labels are then those
        of least expected cost.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels.
    n_features_in_ : int
        Number of columns of X.
    form : {"steps", "trees"}
        Whether the stumps were collapsed. Deeper trees are not, and neither are stumps whose tables would
        be more than 8 times as large as the model (and larger than a megabyte).
    n_threads : int
        As given.
    """

    __slots__ = ("_costs", "_encoding", "_ensemble", "_factor", "_holds", "_link", "_native_link",
                 "_row_encoding", "_scorer", "_set_rule", "classes_", "form", "n_features_in_",
                 "n_threads")  # fmt: skip

    def __init__(
        self,
        ensemble: Ensemble,
        classes: NDArray[Any],
        link: Callable[[_Floats], _Floats],
        n_threads: int = 1,
        encoding: Encoding | None = None,
        set_rule: SetRule | None = None,
        costs: _Floats | None = None,
    ) -> None:
        classes = np.array(classes)
        encoding = Encoding.plain(ensemble.n_features) if encoding is None else encoding
        if encoding.n_ordered != ensemble.n_features:
            raise ValueError(
                f"The encoding must make {ensemble.n_features} ordered columns, got "
                f"{encoding.n_ordered}."
            )
        if classes.shape != (ensemble.n_classes,):
            raise ValueError(
                f"classes must have {ensemble.n_classes} entries, got an array of shape "
                f"{classes.shape}."
            )
        classes.flags.writeable = False
        if costs is not None:
            costs = np.array(costs, dtype=np.float64, order="C")
            if costs.shape != 2 * classes.shape:
                raise ValueError(
                    f"costs must have {len(classes)} rows and columns, got an array of shape "
                    f"{costs.shape}."
                )
        self._costs = costs
        steps = collapse(ensemble)
        self._ensemble = ensemble
        self._scorer = ensemble if steps is None else steps
        self._link = link
        self._native_link, self._factor = _native.Link.none, 1.0
        if isinstance(link, Softmax | OneAgainstAll):
            self._native_link, self._factor = link.native, float(link.factor)
        self.form = "trees" if steps is None else "steps"
        self.classes_ = classes
        self.n_features_in_ = encoding.n_features
        self._encoding = encoding
        self._row_encoding = RowEncoding(encoding)
        self._set_rule = set_rule
        self._holds = frozenset(
            n for n, of_column in enumerate(encoding.categories) if of_column is not None
        )
        self.n_threads = n_threads

    def __reduce__(self) -> tuple[type[CompiledModel], tuple[Any, ...]]:
        rest = self._link, self.n_threads, self._encoding, self._set_rule, self._costs
        return CompiledModel, (self._ensemble, self.classes_, *rest)

    def __repr__(self) -> str:
        """Describe the model."""
        return (
            f"CompiledModel({len(self.classes_)} classes, {self.n_features_in_} features, "
            f"{self._scorer.n_trees} {self.form})"
        )

    def __call__(self, row: Any) -> tuple[Any, _Floats]:
        """Predict label and probabilities at once.

        Parameters
        ----------
        row : array-like of shape (n_features,) or (n, n_features)
            One row or many.

        Returns
        -------
        label : object or ndarray of shape (n,)
            As in `predict`.
        probabilities : float64 ndarray of shape (n_classes,) or (n, n_classes)
            As in `predict_proba`.
        """
        X = self._numbers(row)
        if X.ndim == 1:
            return self._of_row(X)
        scores = self._scores(X)
        best = None if self._costs is not None else scores.argmax(axis=1)
        probabilities = self._probabilities(scores)
        return self.classes_[self._decide(probabilities) if best is None else best], probabilities

    def predict(self, row: Any) -> Any:
        """Predict the class with the highest score; with costs, that of least expected cost.

        Parameters
        ----------
        row : array-like of shape (n_features,) or (n, n_features)
            One row or many.

        Returns
        -------
        object or ndarray of shape (n,)
            A label of `classes_`, or one label per row.
        """
        if self._costs is not None:
            return self(row)[0]
        X = self._numbers(row)
        if X.ndim == 1:
            out = np.empty(len(self.classes_))
            return self.classes_[self._score_row(X, out, _native.Link.none, 1.0)]
        return self.classes_[self._scores(X).argmax(axis=1)]

    def predict_proba(self, row: Any) -> _Floats:
        """Estimate the probabilities of the classes, as the classifier does.

        Parameters
        ----------
        row : array-like of shape (n_features,) or (n, n_features)
            One row or many.

        Returns
        -------
        float64 ndarray of shape (n_classes,) or (n, n_classes)
        """
        X = self._numbers(row)
        return self._of_row(X)[1] if X.ndim == 1 else self._probabilities(self._scores(X))

    def predict_set(self, row: Any, coverage: float = 0.9, kind: str = "marginal") -> Any:
        """Predict a set of classes that holds the right one with a given probability.

        Parameters
        ----------
        row : array-like of shape (n_features,) or (n, n_features)
            One row or many.
        coverage : float, default=0.9
            Above 0, below 1.
        kind : {"marginal", "class"}, default="marginal"
            As in the classifier.

        Returns
        -------
        bool ndarray of shape (n_classes,) or (n, n_classes)
            Whether each class, in the order of `classes_`, is in the set.
        """
        if self._set_rule is None:
            raise ValueError(
                "predict_set needs rows that the fit held out, and the compiled classifier had none."
            )
        self._set_rule.check(coverage, kind)
        probabilities = self.predict_proba(row)
        sets = self._set_rule.sets(np.atleast_2d(probabilities), coverage, kind)
        return sets[0] if probabilities.ndim == 1 else sets

    def _probabilities(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Convert rows of scores to probabilities, in place."""
        if self._native_link is _native.Link.none:
            return self._link(scores)
        _native.to_probabilities(scores, self._native_link, self._factor, self.n_threads)
        return scores

    def decision_function(self, row: Any) -> Any:
        """Score the classes.

        Parameters
        ----------
        row : array-like of shape (n_features,) or (n, n_features)
            One row or many.

        Returns
        -------
        float64 ndarray of shape (n_classes,) or (n, n_classes)
            With two classes the score of the second minus that of the first: a float, or a vector.
        """
        X = self._numbers(row)
        if X.ndim == 1:
            out = np.empty(len(self.classes_))
            self._score_row(X, out, _native.Link.none, 1.0)
            return out if len(out) != 2 else float(out[1] - out[0])
        scores = self._scores(X)
        return scores if scores.shape[1] != 2 else scores[:, 1] - scores[:, 0]

    def _scores(self, X: Any) -> _Floats:
        return self._scorer.decision_function(X, n_threads=self.n_threads)

    def _score_row(self, x: _Floats, out: _Floats, link: _native.Link, factor: float) -> int:
        """Score one row of what `_numbers` returns."""
        best = self._scorer.score_row(x, out, link, factor)
        if best < 0:  # a value is missing, and the encoding is plain
            best = self._scorer.score_row(self._row_encoding.apply(x), out, link, factor)
        return best

    def _of_row(self, x: _Floats) -> tuple[Any, _Floats]:
        out = np.empty(len(self.classes_))
        best = self._score_row(x, out, self._native_link, self._factor)
        if self._native_link is _native.Link.none:
            out = self._link(out[None, :])[0]
        if self._costs is not None:
            best = int(self._decide(out[None, :])[0])
        return self.classes_[best], out

    def _decide(self, probabilities: _Floats) -> NDArray[np.int64]:
        """Return the numbers of the classes of least expected cost."""
        assert self._costs is not None
        return _native.least_cost(probabilities, self._costs, self.n_threads)

    def _numbers(self, row: Any) -> Any:
        """Return the ordered columns of one row, contiguous float64, or of many rows.

        One row of a plain encoding stays unchanged: missing values are found when it is scored.
        """
        X = row if isinstance(row, np.ndarray) or _is_table(row) else self._array(row)
        if isinstance(X, np.ma.MaskedArray):
            X = without_mask(X)
        if isinstance(X, np.ndarray) and X.dtype == object and X.ndim == 1:
            read = self._row_encoding.read(X.tolist())
            if read is not None:
                return read if self._encoding.is_plain else self._row_encoding.apply(read)
        if isinstance(X, np.ndarray):
            if X.ndim not in (1, 2) or X.shape[-1] != self.n_features_in_:
                self._refuse_shape(X)
            if self._holds or X.dtype.kind not in "biuf":
                X = self._read(np.atleast_2d(X)).reshape(X.shape)
        else:
            X = self._read(X)
        if X.ndim == 2:
            return self._encoding.apply(X)
        X = np.ascontiguousarray(X, dtype=np.float64)
        return X if self._encoding.is_plain else self._row_encoding.apply(X)

    def _read(self, X: Any) -> Any:
        """Check and read rows as the classifier does."""
        if isinstance(X, np.ndarray) and X.dtype != object and not self._holds:
            raise ValueError(f"A row must hold real numbers, got {X.dtype}.")
        return read_rows(X, self._encoding, reader="CompiledModel", least_rows=0)

    def _array(self, row: Any) -> NDArray[Any]:
        """Return a row or rows as an array, with categories as they are."""
        try:
            return np.asarray(row, dtype=object if self._holds else None)
        except ValueError as error:
            raise ValueError(
                "A row must be a sequence of numbers, and many rows must have the same length, got "
                f"input that NumPy cannot convert: {error}"
            ) from None

    def _refuse_shape(self, row: NDArray[Any]) -> None:
        if row.ndim not in (1, 2):
            raise ValueError(
                f"Input must be one row or a table of rows, got {row.ndim} dimensions."
            )
        raise ValueError(
            f"A row must have {self.n_features_in_} numbers, one per feature, got {row.shape[-1]}."
        )


def _is_table(rows: Any) -> bool:
    """Check whether it is a sparse matrix or a data frame."""
    return not isinstance(rows, list | tuple) and (hasattr(rows, "tocsr") or is_frame(rows))
