"""The measures against their formulas, with classes and labels that are missing on either side."""

import sys
import warnings
from dataclasses import replace

import numpy as np
import pytest
from support import random_problem

from marginboost import MCBoostClassifier
from marginboost.data.classes import UNSEEN
from marginboost.evaluation.accuracy import accuracy_interval
from marginboost.evaluation.classes import confusion_counts, precision_and_recall
from marginboost.evaluation.evaluate import evaluate
from marginboost.evaluation.margins import normalised_margins
from marginboost.evaluation.probabilities import mean_log_loss, reliability
from marginboost.evaluation.rounds import round_sizes

# Class 3 has no row, class 1 is never predicted, and two rows have a label of no class.
Y = np.array([0, 0, 0, 1, 2, 2, UNSEEN, UNSEEN])
PREDICTED = np.array([0, 2, 3, 0, 2, 2, 0, 3])
K = 4


def test_confusion_counts_every_class():
    counts = confusion_counts(Y, PREDICTED, K)
    expected = [[sum((r == Y) & (c == PREDICTED)) for c in range(K)] for r in range(K)]
    assert counts.tolist() == expected
    assert counts.dtype == np.int64
    assert counts.sum() == 6  # without the labels of no class


def test_precision_and_recall_are_nan_where_there_is_nothing_to_divide_by():
    precision, recall = precision_and_recall(Y, PREDICTED, K)
    np.testing.assert_array_equal(precision, [1 / 2, np.nan, 2 / 3, 0.0])
    np.testing.assert_array_equal(recall, [1 / 3, 0.0, 1.0, np.nan])


def test_log_loss_is_over_the_known_labels():
    rng = np.random.default_rng(0)
    probabilities = rng.dirichlet(np.ones(K), len(Y))
    known = Y != UNSEEN
    expected = -np.log(probabilities[known, Y[known]]).mean()
    assert mean_log_loss(probabilities, Y) == pytest.approx(expected, rel=1e-14)
    # One class alone is no less a loss over all of them.
    assert mean_log_loss(probabilities[:3], Y[:3]) == pytest.approx(
        -np.log(probabilities[:3, 0]).mean(), rel=1e-14
    )


def test_log_loss_of_a_class_that_was_ruled_out_is_finite():
    loss = mean_log_loss(np.array([[1.0, 0.0], [1.0, 0.0]]), np.array([0, 1]))
    assert loss == pytest.approx(-np.log(np.finfo(np.float64).eps) / 2)


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


def test_wilsons_interval():
    """Against statsmodels' proportion_confint(9, 10, method="wilson")."""
    assert accuracy_interval(9, 10) == pytest.approx((0.5958499, 0.9821238), abs=1e-6)
    low, high = accuracy_interval(5, 5)
    assert 0 < low < high == 1.0
    assert accuracy_interval(0, 1)[0] == 0.0


def test_normalised_margins_reach_one():
    """One stump, two classes: every row is as sure as it can be."""
    rows, y = np.array([[0.0], [0.0], [1.0], [1.0], [1.0]]), np.array([0, 0, 1, 1, 1])
    model = MCBoostClassifier(1).fit(rows, y)
    found = normalised_margins(model.ensemble_, model.explain(rows).scores, y)
    np.testing.assert_allclose(found, 1.0, rtol=1e-15)


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


def test_round_sizes_without_covers():
    X, y = random_problem(60, 3, 3, seed=2)
    ensemble = replace(MCBoostClassifier(3).fit(X, y).ensemble_, leaf_cover=None)
    assert (round_sizes(ensemble) > 0).any()
