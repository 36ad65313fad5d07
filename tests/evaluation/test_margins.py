"""Margins, divided by the largest they could be."""

import numpy as np

from marginboost import MCBoostClassifier
from marginboost.evaluation.margins import normalised_margins


def test_normalised_margins_reach_one():
    """One stump, two classes: every row is as sure as it can be."""
    rows, y = np.array([[0.0], [0.0], [1.0], [1.0], [1.0]]), np.array([0, 0, 1, 1, 1])
    model = MCBoostClassifier(1).fit(rows, y)
    found = normalised_margins(model.ensemble_, model.explain(rows).scores, y)
    np.testing.assert_allclose(found, 1.0, rtol=1e-15)
