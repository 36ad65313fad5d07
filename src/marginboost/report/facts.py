"""The facts about a model that the report shows."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from marginboost.data.classes import UNSEEN
from marginboost.estimators.explanations import explain_numbers, names_of
from marginboost.evaluation.accuracy import accuracy_interval
from marginboost.evaluation.choice import is_sum
from marginboost.evaluation.classes import confusion_counts, macro_f1, precision_and_recall
from marginboost.evaluation.costs import Decided, decided
from marginboost.evaluation.drift import Shift, column_shifts
from marginboost.evaluation.evaluate import Evaluation
from marginboost.evaluation.margins import normalised_margins
from marginboost.evaluation.probabilities import Reliability, mean_log_loss, reliability
from marginboost.evaluation.ranking import one_against_rest, top_k_accuracy
from marginboost.evaluation.segments import Segment, weak_segments
from marginboost.evaluation.stages import staged_errors
from marginboost.model.explanation import Explanation

__all__ = ["Facts"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# The number of rows whose contributions are averaged.
_EXPLAINED_ROWS = 500
# The number of rows of the learning curve, and of those that are compared with the training rows.
_STAGED_ROWS = 4_000
_COMPARED_ROWS = 20_000
# The number of columns in which rows are sought that are often wrong.
_SEARCHED_COLUMNS = 30
# The number of probabilities that are sorted, class by class.
_RANKED_VALUES = 10_000_000


@dataclass(frozen=True, eq=False)
class Facts:
    """A fitted model and what it predicts for labelled rows.

    Parameters
    ----------
    model : classifier
        Fitted.
    rows : Evaluation or None
        None where no rows were given.
    """

    model: Any
    rows: Evaluation | None

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the columns of X."""
        return names_of(self.model)

    @cached_property
    def labels(self) -> list[str]:
        """The labels of the classes, as text."""
        return [str(label) for label in self.model.classes_]

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.labels)

    @cached_property
    def is_of_stumps(self) -> bool:
        """Whether no tree splits more than once."""
        return bool(np.diff(self.model.ensemble_.node_offsets).max(initial=0) <= 1)

    @cached_property
    def class_counts(self) -> Floats | None:
        """Training rows per class, if the model knows them."""
        counts = getattr(self.model, "class_count_", None)
        return None if counts is None else np.asarray(counts, dtype=np.float64)

    @cached_property
    def changed_parameters(self) -> dict[str, str]:
        """Parameters that differ from their defaults."""
        defaults = inspect.signature(type(self.model).__init__).parameters
        return {
            name: repr(value)
            for name, value in self.model.get_params(deep=False).items()
            if repr(value) != repr(defaults[name].default)
        }

    @cached_property
    def seconds(self) -> float | None:
        """How long the fit took, if the model knows it."""
        seconds = np.atleast_1d(getattr(self.model, "fit_seconds_", np.empty(0)))
        return float(np.max(seconds)) if len(seconds) else None

    def curve(self, which: str) -> Floats | None:
        """Return an attribute with one number per round, or None."""
        values = getattr(self.model, which, None)
        if values is None or not len(values) or not np.isfinite(values).any():
            return None
        return np.asarray(values, dtype=np.float64)

    @cached_property
    def is_sum(self) -> bool:
        """Whether the model is the sum of several fits; its curves of the training rows are theirs."""
        return is_sum(self.model)

    @cached_property
    def train_error(self) -> float | None:
        """Share of the training rows that are wrong, if the model knows it."""
        errors = self.curve("train_errors_")
        if errors is None or self.is_sum or not self.model.n_iter_:
            return None
        return float(errors[self.model.n_iter_ - 1])

    @cached_property
    def importances(self) -> Floats:
        """The features' shares in how far splits move the scores."""
        return np.asarray(self.model.feature_importances_, dtype=np.float64)

    @cached_property
    def by_importance(self) -> list[int]:
        """The features in use, the most important first."""
        order = np.argsort(-self.importances, kind="stable")
        return [int(j) for j in order if self.importances[j] > 0]

    # ---- about the rows

    @cached_property
    def right(self) -> NDArray[np.bool_]:
        """Whether each row is predicted correctly."""
        rows = self._rows
        return np.asarray(rows.predicted == rows.y)

    @property
    def _rows(self) -> Evaluation:
        if self.rows is None:
            raise ValueError("X and y must be given for this part of the report; they were not.")
        return self.rows

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self._rows)

    @cached_property
    def n_unseen(self) -> int:
        """Rows whose label was not seen in training."""
        return int((self._rows.y == UNSEEN).sum())

    @cached_property
    def accuracy(self) -> float:
        """Share of the rows that are predicted correctly."""
        return float(self.right.mean())

    @cached_property
    def accuracy_range(self) -> tuple[float, float]:
        """Wilson's interval for the accuracy, at a confidence of 95 %."""
        return accuracy_interval(int(self.right.sum()), self.n_rows)

    @cached_property
    def baseline_class(self) -> int:
        """The most frequent class: of the training rows if the model knows them, otherwise of these."""
        counts = self.class_rows if self.class_counts is None else self.class_counts
        return int(np.argmax(counts))

    @cached_property
    def baseline(self) -> float:
        """Share of the rows that belong to the most frequent class: the accuracy of always naming it."""
        return float((self._rows.y == self.baseline_class).mean())

    @cached_property
    def macro_f1(self) -> float:
        """Mean F1 score of the classes."""
        return macro_f1(self._rows.y, self._rows.predicted)

    @property
    def k(self) -> int:
        """How many guesses `top_k` allows."""
        return 2 if self.n_classes <= 4 else 3

    @cached_property
    def top_k(self) -> float:
        """Share of the rows whose class is among the k most probable; NaN for two classes."""
        if self.n_classes <= 2:
            return float("nan")
        return top_k_accuracy(self._rows.probabilities, self._rows.y, self.k)

    @cached_property
    def ranked_rows(self) -> Integers:
        """The rows on which the ranking of a class is measured: all, or evenly spread ones."""
        return self._some(max(1_000, _RANKED_VALUES // self.n_classes))

    @cached_property
    def ranking(self) -> tuple[Floats, Floats]:
        """Area under the ROC curve and average precision, per class."""
        which = self.ranked_rows
        return one_against_rest(self._rows.probabilities[which], self._rows.y[which])

    @cached_property
    def staged(self) -> tuple[Integers, Floats] | None:
        """The error of these rows after some of the rounds; None where it cannot be known."""
        which = self._some(_STAGED_ROWS)
        return staged_errors(self.model, self._rows.X[which], self._rows.y[which])

    @cached_property
    def shifts(self) -> list[Shift | None] | None:
        """Per column, where the rows differ most from the training rows."""
        return column_shifts(self.model, self._rows.X[self._some(_COMPARED_ROWS)])

    @cached_property
    def missing(self) -> Floats:
        """Share of the rows in which each column's value is missing, or an unseen category."""
        X = self._rows.X
        if X.dtype.kind != "f":
            return np.zeros(X.shape[1])
        if sparse.issparse(X):
            entries = X.tocoo()
            gaps = np.bincount(entries.col[np.isnan(entries.data)], minlength=X.shape[1])
            return np.asarray(gaps / self.n_rows)
        return np.array([np.isnan(X[:, j]).mean() for j in range(X.shape[1])])

    @cached_property
    def newly_missing(self) -> list[int]:
        """The used columns with missing numbers here, but none in training; the most important first."""
        encoding = self.model.encoding_
        single = np.bincount(encoding.source, minlength=encoding.n_features) == 1
        return [
            j
            for j in self.by_importance
            if self.missing[j] > 0 and single[j] and encoding.categories[j] is None
        ]

    @cached_property
    def weak_segments(self) -> list[Segment]:
        """Values of the most important columns at which the model errs clearly more often."""
        columns = self.by_importance[:_SEARCHED_COLUMNS]
        return weak_segments(self.model.encoding_, self._rows.X, self.right, columns)

    def _some(self, n: int) -> Integers:
        """Return the numbers of at most n rows, evenly spread over those given."""
        spread = np.linspace(0, self.n_rows - 1, min(self.n_rows, n))
        return np.unique(spread.astype(np.int64))

    @cached_property
    def log_loss(self) -> float:
        """Mean of -log of the probability of a row's class, over rows with known labels."""
        return mean_log_loss(self._rows.probabilities, self._rows.y)

    @cached_property
    def cost(self) -> Decided | None:
        """The mean cost of the predictions, where mistakes have costs."""
        return decided(self.model, self._rows)

    @cached_property
    def steps_off(self) -> Decided | None:
        """How many classes predictions are off, where classes have an order."""
        return decided(self.model, self._rows, steps=True)

    @cached_property
    def confusion(self) -> Integers:
        """Number of rows by class and predicted class."""
        return confusion_counts(self._rows.y, self._rows.predicted, self.n_classes)

    @cached_property
    def class_rows(self) -> Integers:
        """Number of rows per class."""
        sums: Integers = self.confusion.sum(axis=1)
        return sums

    @cached_property
    def _precision_and_recall(self) -> tuple[Floats, Floats]:
        return precision_and_recall(self._rows.y, self._rows.predicted, self.n_classes)

    @property
    def precision(self) -> Floats:
        """Share of the rows predicted as each class that belong to it; NaN if there are none."""
        return self._precision_and_recall[0]

    @property
    def recall(self) -> Floats:
        """Share of each class's rows that are predicted as it; NaN where it has none."""
        return self._precision_and_recall[1]

    @cached_property
    def reliability(self) -> Reliability:
        """Probabilities against how often predictions are right."""
        n_bins = min(10, max(2, self.n_rows // 30))
        return reliability(self._rows.probabilities, self._rows.y, n_bins)

    @cached_property
    def margins(self) -> Floats:
        """Normalised margins of the rows with known labels."""
        rows = self._rows.known()
        return normalised_margins(self.model.ensemble_, rows.scores, rows.y)

    @cached_property
    def explained_rows(self) -> Integers:
        """Some rows, evenly spread over those given."""
        return self._some(_EXPLAINED_ROWS)

    @cached_property
    def explanation(self) -> Explanation | None:
        """What moves the scores of these rows; None if the model has no covers."""
        if self.model.ensemble_.leaf_cover is None:
            return None
        return self.explain(self.explained_rows, None if self.n_classes <= 12 else 3)

    def explain(
        self, which: Integers, top: int | None = None, only: Sequence[int] | None = None
    ) -> Explanation:
        """Explain some of the rows: for all classes, those with the largest scores, or some."""
        return explain_numbers(self.model, self._rows.X[which], top, only)

    @cached_property
    def surely_wrong(self) -> list[int]:
        """The rows that are predicted wrongly, the most certain first."""
        rows = self._rows
        wrong = np.flatnonzero(~self.right & (rows.y != UNSEEN))
        sure = rows.probabilities[wrong, rows.predicted[wrong]]
        return [int(i) for i in wrong[np.argsort(-sure, kind="stable")]]
