"""Patience with fits: a number of rounds, and half as many as there were before."""

from types import SimpleNamespace

import pytest

from marginboost.estimators.patience import Patience


def ends_after(losses, n_rounds):
    patience = Patience(n_rounds)
    for number, loss in enumerate(losses, 1):
        if patience(SimpleNamespace(number=number, validation_loss=loss)):
            return number
    return None


@pytest.mark.parametrize(("best", "end"), [(1, 6), (10, 15), (12, 18), (100, 150)])
def test_when_a_fit_ends(best, end):
    losses = [1.0 - 0.001 * min(number, best) for number in range(1, 500)]
    assert ends_after(losses, 5) == end


def test_hardly_better_is_not_better():
    assert ends_after([1.0 - 1e-6 * number for number in range(100)], 10) == 11


def test_what_is_not_known_is_not_better():
    assert ends_after([float("nan")] * 100, 10) == 10
