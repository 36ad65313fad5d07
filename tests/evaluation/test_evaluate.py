"""Evaluation with labels of every kind, known and unknown."""

import sys
import warnings

import numpy as np
import pytest
from support import random_problem

from marginboost import MCBoostClassifier
from marginboost.data.classes import UNSEEN
from marginboost.evaluation.classes import confusion_counts, precision_and_recall
from marginboost.evaluation.evaluate import evaluate
from marginboost.evaluation.probabilities import mean_log_loss, reliability

# Class 3 has no row, class 1 is never predicted, and two rows have a label of no class.
Y = np.array([0, 0, 0, 1, 2, 2, UNSEEN, UNSEEN])
PREDICTED = np.array([0, 2, 3, 0, 2, 2, 0, 3])
K = 4


def test_labels_that_are_all_unknown():
    y = np.full(len(Y), UNSEEN)
    assert not confusion_counts(y, PREDICTED, K).any()
    assert confusion_counts(y, PREDICTED, K).shape == (K, K)
    assert np.isnan(precision_and_recall(y, PREDICTED, K)).all()
    assert np.isnan(mean_log_loss(np.full((len(Y), K), 1 / K), y))
    assert (reliability(np.full((len(Y), K), 1 / K), y, 2).accuracy == 0).all()


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("classes", "confusion_matrix"),
        ("classes", "precision_recall_fscore_support"),
        ("probabilities", "log_loss"),
    ],
)
def test_a_row_per_class_is_no_regression(monkeypatch, module, name):
    """Scikit-learn 1.6 warns of it; later versions do not."""
    place = f"marginboost.evaluation.{module}"
    real = getattr(sys.modules[place], name)

    def warning(*arguments, **settings):
        warnings.warn("The number of unique classes is greater than ...", stacklevel=2)
        return real(*arguments, **settings)

    monkeypatch.setattr(f"{place}.{name}", warning)
    y = np.arange(30)
    assert (confusion_counts(y, y, 30) == np.eye(30)).all()
    assert (np.array(precision_and_recall(y, y, 30)) == 1).all()
    assert mean_log_loss(np.full((30, 30), 1 / 30), y) == pytest.approx(np.log(30))


@pytest.mark.parametrize("names", [["a", "b", "c"], [7, -1, 3], [1.0, 2.0, 5.0]])
def test_labels_of_every_kind(names):
    X, numbers = random_problem(60, 3, 3, seed=2)
    y = np.array(names)[numbers]
    model = MCBoostClassifier(5).fit(X, y)
    labels = y.copy()
    labels[:4] = "z" if y.dtype.kind == "U" else 99
    rows = evaluate(model, X, labels)
    assert (rows.y[:4] == UNSEEN).all()
    assert (model.classes_[rows.y[4:]] == y[4:]).all()
    assert (model.classes_[rows.predicted] == model.predict(X)).all()
    np.testing.assert_allclose(rows.probabilities, model.predict_proba(X))
    assert len(rows.known()) == len(y) - 4


def test_rows_and_labels_must_agree():
    X, y = random_problem(60, 3, 3, seed=2)
    model = MCBoostClassifier(2).fit(X, y)
    with pytest.raises(ValueError, match="same number of rows, at least one, got 60 and 3"):
        evaluate(model, X, y[:3])
    with pytest.raises(ValueError, match="one dimension"):
        evaluate(model, X, y[:, None])
