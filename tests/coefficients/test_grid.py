"""Scores do not depend on the order of their terms: against exact sums of fractions."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import embedded

from marginboost import MarginBoostClassifier, MCBoostClassifier, MultiBoostClassifier
from marginboost.coefficients.grid import on_grid

NUMBERS = st.lists(st.floats(-20, 20), min_size=1, max_size=50)


@given(NUMBERS)
def test_numbers_on_the_grid_are_near(numbers):
    found = on_grid(np.array(numbers))
    assert (np.abs(found - numbers) <= 2.0**-41).all()
    assert all(Fraction(value) * 2**40 == round(Fraction(value) * 2**40) for value in found)
    assert not np.signbit(found[found == 0]).any()
    np.testing.assert_array_equal(on_grid(found), found)


@pytest.mark.parametrize(
    "model",
    [
        MarginBoostClassifier(30, random_state=0),
        MCBoostClassifier(100),
        MCBoostClassifier(30, loss="logistic", learning_rate=0.137, max_depth=2),
        MultiBoostClassifier(15),
    ],
    ids=["margin", "stumps", "trees", "multiboost"],
)
def test_scores_are_the_sums_of_fractions(model):
    X, y = embedded("wine")
    ensemble = model.fit(X, y).ensemble_
    leaves = np.array([ensemble.tree_outputs(X[:8], j) for j in range(ensemble.n_trees)]).T
    scores = ensemble.decision_function(X[:8])
    for row, of_row in zip(leaves, scores, strict=True):
        for label, score in enumerate(of_row):
            terms = ensemble.leaf_value[row] * ensemble.vectors[ensemble.leaf_vector[row], label]
            assert sum(map(Fraction, terms.tolist())) == Fraction(score)
