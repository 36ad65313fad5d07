"""What is to be said of a model, gathered before any of it is written."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marginboost.data.classes import UNSEEN
from marginboost.estimators.explaining import explain_numbers, names_of
from marginboost.model.explanation import Explanation
from marginboost.report.evaluation import Evaluation
from marginboost.report.measures import (
    Reliability,
    confusion_counts,
    normalised_margins,
    reliability,
)

__all__ = ["Facts"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# Rows whose contributions are averaged.
_EXPLAINED_ROWS = 500


@dataclass(frozen=True, eq=False)
class Facts:
    """A fitted model, and what it says of labelled rows.

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
        """Training rows by class, where the model knows."""
        counts = getattr(self.model, "class_count_", None)
        return None if counts is None else np.asarray(counts, dtype=np.float64)

    @cached_property
    def changed_parameters(self) -> dict[str, str]:
        """Parameters that are not at their defaults."""
        defaults = inspect.signature(type(self.model).__init__).parameters
        return {
            name: repr(value)
            for name, value in self.model.get_params(deep=False).items()
            if repr(value) != repr(defaults[name].default)
        }

    @cached_property
    def seconds(self) -> float | None:
        """How long the fit took, where the model knows."""
        seconds = np.atleast_1d(getattr(self.model, "fit_seconds_", np.empty(0)))
        return float(seconds[-1]) if len(seconds) else None

    def curve(self, which: str) -> Floats | None:
        """Return an attribute that holds a number a round, where there is one."""
        values = getattr(self.model, which, None)
        if values is None or not len(values) or not np.isfinite(values).any():
            return None
        return np.asarray(values, dtype=np.float64)

    @cached_property
    def importances(self) -> Floats:
        """The features' shares in how far splits move the scores."""
        return np.asarray(self.model.feature_importances_, dtype=np.float64)

    @cached_property
    def by_importance(self) -> list[int]:
        """The features that are used, the most important first."""
        order = np.argsort(-self.importances, kind="stable")
        return [int(j) for j in order if self.importances[j] > 0]

    # ---- of rows

    @cached_property
    def right(self) -> NDArray[np.bool_]:
        """Whether each row's class is predicted."""
        rows = self._rows
        return np.asarray(rows.predicted == rows.y)

    @property
    def _rows(self) -> Evaluation:
        if self.rows is None:
            raise ValueError("This needs rows, got a report without X and y.")
        return self.rows

    @property
    def n_rows(self) -> int:
        """Number of rows that were given."""
        return len(self._rows)

    @cached_property
    def n_unseen(self) -> int:
        """Rows whose label was not seen in training."""
        return int((self._rows.y == UNSEEN).sum())

    @cached_property
    def accuracy(self) -> float:
        """Share of the rows that are right."""
        return float(self.right.mean())

    @cached_property
    def accuracy_range(self) -> tuple[float, float]:
        """Where the accuracy on very many such rows would lie, at 95 %: Wilson's interval."""
        n, p, z = self.n_rows, self.accuracy, 1.959964
        middle = (p + z * z / (2 * n)) / (1 + z * z / n)
        half = z / (1 + z * z / n) * np.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
        return max(0.0, middle - half), min(1.0, middle + half)

    @cached_property
    def log_loss(self) -> float:
        """Mean of -log of the probability of a row's class, over rows of known labels."""
        rows = self._rows.known()
        if not len(rows):
            return float("nan")
        sure = rows.probabilities[np.arange(len(rows)), rows.y]
        return float(-np.log(np.clip(sure, np.finfo(np.float64).eps, 1.0)).mean())

    @cached_property
    def confusion(self) -> Integers:
        """Rows by class and predicted class."""
        return confusion_counts(self._rows.y, self._rows.predicted, self.n_classes)

    @cached_property
    def class_rows(self) -> Integers:
        """Rows of each class."""
        sums: Integers = self.confusion.sum(axis=1)
        return sums

    @cached_property
    def recall(self) -> Floats:
        """Share of each class's rows that are found; NaN where it has none."""
        return _ratio(np.diag(self.confusion), self.class_rows)

    @cached_property
    def precision(self) -> Floats:
        """Share of the rows predicted as each class that are of it; NaN where there are none."""
        return _ratio(np.diag(self.confusion), self.confusion.sum(axis=0))

    @cached_property
    def reliability(self) -> Reliability:
        """Probabilities against what happens."""
        n_bins = min(10, max(2, self.n_rows // 30))
        return reliability(self._rows.probabilities, self._rows.y, n_bins)

    @cached_property
    def margins(self) -> Floats:
        """Normalised margins of the rows of known labels."""
        rows = self._rows.known()
        return normalised_margins(self.model.ensemble_, rows.scores, rows.y)

    @cached_property
    def explained_rows(self) -> Integers:
        """Some rows, evenly spread over those given."""
        n = min(self.n_rows, _EXPLAINED_ROWS)
        return np.unique(np.linspace(0, self.n_rows - 1, n).astype(np.int64))

    @cached_property
    def explanation(self) -> Explanation | None:
        """What moves the scores of these rows; None where the model has no covers."""
        if self.model.ensemble_.leaf_cover is None:
            return None
        return self.explain(self.explained_rows, None if self.n_classes <= 12 else 3)

    def explain(
        self, which: Integers, top: int | None = None, only: Sequence[int] | None = None
    ) -> Explanation:
        """Explain some of the rows: all classes, those of largest scores, or some."""
        return explain_numbers(self.model, self._rows.X[which], top, only)

    @cached_property
    def surely_wrong(self) -> list[int]:
        """The rows that are wrong, the surest first."""
        rows = self._rows
        wrong = np.flatnonzero(~self.right & (rows.y != UNSEEN))
        sure = rows.probabilities[wrong].max(axis=1)
        return [int(i) for i in wrong[np.argsort(-sure, kind="stable")]]


def _ratio(part: Integers, whole: Integers) -> Floats:
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(whole > 0, part / np.maximum(whole, 1), np.nan))
