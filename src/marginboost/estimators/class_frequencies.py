"""Other frequencies of the classes at work than in training."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from marginboost.estimators.fitted import FittedClassifier, Floats
from marginboost.model.frequency_shift import log_ratio, shift

__all__ = ["ClassFrequencies"]

_MOST_NAMED = 5


class ClassFrequencies(FittedClassifier):
    """A classifier that knows how frequent the classes were in training."""

    class_frequencies_: Floats
    probability_scale_: float
    training_frequencies_: Floats

    def with_class_frequencies(self, frequencies: Mapping[Any, float]) -> Self:
        """Return a copy of the fitted classifier for rows among which classes have other frequencies.

        Its probabilities are p_k * new_k / trained_k, scaled to rows that sum to 1: by Bayes' rule, those
        of rows that differ from the training rows only in how frequent the classes are. `predict` and
        `predict_set` follow, and so do files, `compile` and ONNX.

        Parameters
        ----------
        frequencies : dict from label to float
            The new frequency of every class, 0 or more; they are scaled to the sum 1, so that counts
            will do.

        Returns
        -------
        BoostedClassifier
            With these `class_frequencies_`. The ratios are those to `training_frequencies_`, also where
            this classifier is such a copy itself.

        Notes
        -----
        Training frequencies are shares of the weight: with `class_weight` or `sample_weight`, those of
        the weighted rows, which is what probabilities refer to. After `class_weight="balanced"` they are
        all the same, and the true frequencies given here undo the weights.

        Examples
        --------
        >>> from marginboost import MarginBoostClassifier
        >>> from sklearn.datasets import load_iris
        >>> X, y = load_iris(return_X_y=True)
        >>> model = MarginBoostClassifier(random_state=0).fit(X, y)
        >>> rare = model.with_class_frequencies({0: 0.49, 1: 0.49, 2: 0.02})
        >>> bool((rare.predict_proba(X)[:, 2] <= model.predict_proba(X)[:, 2]).all())
        True
        """
        check_is_fitted(self)
        if not self._knows_frequencies:
            raise ValueError(
                "with_class_frequencies needs the class frequencies of the training rows. This model, "
                "from a file of an earlier version, lacks them: fit it again."
            )
        wanted = self._checked_frequencies(frequencies)
        trained = self.training_frequencies_
        change = log_ratio(wanted, trained) - log_ratio(self.class_frequencies_, trained)
        found = copy(self)
        found.ensemble_, found.probability_scale_ = shift(
            self.ensemble_, self.probability_scale_, change
        )
        found.class_frequencies_ = wanted
        if hasattr(self, "coef_"):
            found.coef_ = found.ensemble_.vectors[: len(self.coef_)]
        return found

    def _checked_frequencies(self, frequencies: Mapping[Any, float]) -> Floats:
        """Return frequencies in the order of the classes, with the sum 1."""
        if not isinstance(frequencies, Mapping):
            raise ValueError(
                "frequencies must be a dictionary from label to frequency; got "
                f"{type(frequencies).__name__}."
            )
        labels = self.classes_.tolist()
        unknown = [label for label in frequencies if label not in labels]
        missing = [label for label in labels if label not in frequencies]
        if unknown or missing:
            what, which = ("lacks", missing) if missing else ("has, but training had not,", unknown)
            named = ", ".join(repr(label) for label in which[:_MOST_NAMED])
            more = ", ..." if len(which) > _MOST_NAMED else ""
            raise ValueError(
                f"frequencies must have every class of training and no other; it {what} {named}{more}."
            )
        try:
            found = np.array([float(frequencies[label]) for label in labels])
        except (TypeError, ValueError):
            found = np.array([np.nan])
        if not np.isfinite(found).all() or (found < 0.0).any() or not found.any():
            raise ValueError(
                "frequencies must be finite numbers of at least 0, and not all 0; got "
                f"{list(frequencies.values())!r:.200}."
            )
        found /= found.max()  # so that the sum stays finite
        lost = np.flatnonzero((found > 0.0) & (self.training_frequencies_ == 0.0))
        if len(lost):
            raise ValueError(
                "frequencies must be 0 where the training rows of a class have no weight; got "
                f"{frequencies[labels[lost[0]]]!r} for {labels[lost[0]]!r}."
            )
        scaled: Floats = found / found.sum()
        return scaled

    @property
    def _knows_frequencies(self) -> bool:
        """Whether frequencies are known; a file of an earlier version lacks them."""
        return hasattr(self, "training_frequencies_") and hasattr(self, "class_frequencies_")

    @property
    def _has_other_frequencies(self) -> bool:
        """Whether this is a copy for other frequencies."""
        return self._knows_frequencies and not np.array_equal(
            self.training_frequencies_, self.class_frequencies_
        )

    def _frequency_ratio(self) -> Floats | None:
        """Return the frequency of each class at work over that in training; None: they are the same."""
        if not self._has_other_frequencies:
            return None
        trained = self.training_frequencies_
        ratio: Floats = self.class_frequencies_ / np.where(trained > 0.0, trained, 1.0)
        return ratio
