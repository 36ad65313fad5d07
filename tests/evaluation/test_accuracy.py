"""The interval of an accuracy."""

import pytest

from marginboost.evaluation.accuracy import accuracy_interval


def test_wilsons_interval():
    """Against statsmodels' proportion_confint(9, 10, method="wilson")."""
    assert accuracy_interval(9, 10) == pytest.approx((0.5958499, 0.9821238), abs=1e-6)
    low, high = accuracy_interval(5, 5)
    assert 0 < low < high == 1.0
    assert accuracy_interval(0, 1)[0] == 0.0
