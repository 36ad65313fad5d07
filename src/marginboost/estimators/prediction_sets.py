"""Prediction sets: the classes that a row may belong to, with a stated coverage."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from marginboost.data.collection import is_collection
from marginboost.engine.gpu.arrays import to_host
from marginboost.estimators.class_frequencies import ClassFrequencies
from marginboost.estimators.fitted import Floats
from marginboost.estimators.settings import check_bool
from marginboost.model.set_rule import SetRule

if TYPE_CHECKING:
    from marginboost.model.calibration_rows import CalibrationRows

__all__ = ["PredictionSets"]


class PredictionSets(ClassFrequencies):
    """A classifier that keeps the probabilities of rows that it did not see."""

    calibration_rows_: CalibrationRows

    def predict_set(
        self,
        X: Any,
        coverage: float = 0.9,
        kind: str = "marginal",
        *,
        randomized: bool = False,
        random_state: int | np.random.RandomState | None = None,
    ) -> NDArray[np.bool_]:
        """Predict, for each row, a set of classes that holds the right one with a given probability.

        The thresholds come from rows that calibration held out, or from `X_val`; see the page on
        decisions for what is guaranteed. A set holds the classes whose probability reaches a threshold.
        Unless they are randomised, no set is empty. A larger coverage adds classes to a set but removes
        none.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to classify.
        coverage : float, default=0.9
            The share of rows whose set is to hold their class. Above 0, below 1.
        kind : {"marginal", "class"}, default="marginal"
            "marginal": the coverage is that of all rows together, and every set holds the most probable
            class. "class": the rows of every class are covered as often, those of rare ones too; sets are
            larger, and need not hold the most probable class.
        randomized : bool, default=False
            Whether chance decides at the threshold, so that rows like the held-out ones are covered
            exactly as often as asked for, also where the model is right more often than that. Some sets
            are then empty.
        random_state : int, RandomState instance or None, default=None
            What randomised sets are drawn by. The same number gives the same sets.

        Returns
        -------
        bool ndarray of shape (n_samples, n_classes)
            Whether each class, in the order of `classes_`, is in the set of each row.

        Examples
        --------
        >>> from marginboost import MarginBoostClassifier
        >>> from sklearn.datasets import load_iris
        >>> X, y = load_iris(return_X_y=True)
        >>> model = MarginBoostClassifier(random_state=0).fit(X, y)
        >>> model.predict_set(X[:2], coverage=0.95)
        array([[ True, False, False],
               [ True, False, False]])
        """
        check_is_fitted(self)
        rule = self._set_rule()
        rule.check(coverage, kind)
        check_bool("randomized", randomized)
        if randomized and is_collection(X):
            raise ValueError(
                "X must be in memory for randomised sets, got a Dask collection. Pass X.compute(), or "
                "randomized=False."
            )

        def predict_rows(rows: Any) -> NDArray[np.bool_]:
            probabilities = to_host(self.predict_proba(rows))
            if not randomized:
                return rule.sets(probabilities, coverage, kind)
            u = check_random_state(random_state).random_sample(len(probabilities))
            return rule.randomized_sets(probabilities, coverage, kind, u)

        if is_collection(X):
            none = np.empty((0, len(self.classes_)), dtype=np.bool_)
            found: NDArray[np.bool_] = self._lazily(predict_rows, X, none)
            return found
        return predict_rows(X)

    def _set_calibration(self, frequencies: Floats, rows: CalibrationRows | None) -> None:
        """Keep the class frequencies of a fit, and the rows that it held out or none."""
        self.training_frequencies_, self.class_frequencies_ = frequencies.copy(), frequencies.copy()
        self.__dict__.pop("calibration_rows_", None)
        if rows is not None:
            self.calibration_rows_ = rows

    def _set_rule(self) -> SetRule:
        """Return what makes prediction sets."""
        rule = self._set_rule_or_none()
        if rule is None:
            raise ValueError(
                "predict_set needs rows that the fit held out, and this model has none. Fit it with "
                "calibrate=True, or with X_val and y_val. A model from a file of an earlier version must "
                "be fitted again."
            )
        return rule

    def _set_rule_or_none(self) -> SetRule | None:
        rows = getattr(self, "calibration_rows_", None)
        return None if rows is None else SetRule(rows, self.classes_, self._frequency_ratio())
