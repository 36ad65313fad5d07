"""Prediction sets against MAPIE's."""

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression

from marginboost.model.calibration_rows import CalibrationRows
from marginboost.model.set_rule import SetRule

mapie = pytest.importorskip("mapie.classification", reason="needs the package mapie")

COVERAGES = [0.8, 0.9, 0.95]


@pytest.mark.filterwarnings("ignore")
def test_marginal_sets_are_least_ambiguous_sets_with_the_most_probable_class():
    X, y = make_classification(
        3000, 8, n_informative=5, n_classes=4, flip_y=0.3, class_sep=0.5, random_state=0
    )
    fit, held_out, new = np.split(np.arange(3000), [1000, 1799])
    model = LogisticRegression().fit(X[fit], y[fit])
    oracle = mapie.SplitConformalClassifier(
        model, confidence_level=COVERAGES, conformity_score="lac", prefit=True
    )
    oracle.conformalize(X[held_out], y[held_out])
    expected = oracle.predict_set(X[new])[1]
    ones = np.ones(len(held_out), dtype=np.int64)
    logits = model.predict_log_proba(X[held_out])
    rows = CalibrationRows.of_logits(logits, y[held_out], ones.astype(float), ones)
    shares = model.predict_proba(X[new])
    for place, coverage in enumerate(COVERAGES):
        found = SetRule(rows, model.classes_).sets(shares, coverage, "marginal")
        theirs = expected[:, :, place].copy()
        theirs[np.arange(len(new)), shares.argmax(axis=1)] = True
        assert theirs.sum() < theirs.size
        # Ours are from probabilities that are rounded down by up to a thousandth.
        assert (found >= theirs).all()
        assert found.sum() <= theirs.sum() + 0.002 * len(new)
