"""Successive halving: which fits it asks for, by their losses and by the time that they take."""

import numpy as np
import pytest

from marginboost.estimators import time_limit
from marginboost.estimators.halving import Halving
from marginboost.estimators.time_limit import TimeLimit


@pytest.fixture
def clock(monkeypatch):
    """Return a list of one number, the time of day."""
    now = [100.0]
    monkeypatch.setattr(time_limit, "clock", lambda: now[0])
    return now


def run(clock, seconds, losses, costs, n_folds=5):
    """Run a search in which fits have known losses and take a known time; return it, and its fits."""
    search = Halving(len(losses), n_folds, TimeLimit(seconds))
    fits = []
    for setting, fold in search:
        fits.append((setting, fold))
        clock[0] += costs[setting]
        search.record(setting, fold, losses[setting], costs[setting])
    return search, fits


def test_with_time_enough_everything_is_fitted_once(clock):
    search, fits = run(clock, 1e6, [3, 1, 2, 5, 4, 0, 6, 7], [1.0] * 8)
    assert search.is_done.all()
    assert len(fits) == len(set(fits)) == 40
    assert fits[:8] == [(setting, 0) for setting in range(8)]
    assert fits[8:16] == [(setting, fold) for setting in (5, 1, 2, 0) for fold in (1, 2)]
    # The best few are three, and then come the others, the best first.
    assert fits[16:22] == [(setting, fold) for setting in (5, 1, 2) for fold in (3, 4)]
    assert [setting for setting, fold in fits[22:] if fold == 4] == [0, 4, 3, 6, 7]


def test_one_setting_is_finished_whatever_the_time(clock):
    search, fits = run(clock, 1e-9, [1, 0, 0], [10.0] * 3)
    assert fits == [(0, fold) for fold in range(5)]
    assert not search.is_done[1:].any()


def test_no_fit_is_begun_that_would_end_too_late(clock):
    began = clock[0]
    search, _ = run(clock, 30.0, [3, 1, 2, 5, 4, 0, 6, 7], [1.0] * 8)
    assert clock[0] - began == 22.0  # the other settings end after three quarters of the time
    assert search.is_done[[5, 1, 2]].all()  # the best are there, with all of their folds
    assert not search.is_done.all()


def test_time_is_kept_for_all_folds_of_the_best(clock):
    began = clock[0]
    search, fits = run(clock, 8.0, [2, 0, 1, 3, 3, 3], [1.0] * 6)
    # Six settings would do in the first rung's time, had the best not four more folds to come.
    assert fits == [(0, 0), (1, 0), (2, 0), *((1, fold) for fold in range(1, 5))]
    assert clock[0] - began <= 8.0
    assert search.is_done.sum(axis=1).tolist() == [1, 5, 1, 0, 0, 0]


def test_a_setting_that_takes_long_does_not_end_the_others(clock):
    search, _ = run(clock, 60.0, [3, 0, 1, 2], [1.0, 20.0, 1.0, 1.0])
    assert search.is_done[[0, 2, 3]].all()
    assert search.is_done[1].sum() == 1


def test_two_folds_and_one_setting_are_enough(clock):
    search, fits = run(clock, 100.0, [1.0], [1.0], n_folds=2)
    assert fits == [(0, 0), (0, 1)]
    assert search.is_done.all()


def test_a_loss_that_is_not_known_comes_last(clock):
    _, fits = run(clock, 1e6, [np.nan, 1.0, np.nan, 2.0], [1.0] * 4)
    assert [setting for setting, fold in fits if fold == 4] == [1, 3, 0, 2]


def test_added_settings_are_fitted_on_all_folds_or_on_none(clock):
    search, _ = run(clock, 100.0, [1.0, 0.0], [1.0] * 2)
    assert search.best(5) == [1, 0]
    assert search.best(1) == [1]
    fits = []
    for setting, fold in search.add([3.0, 14.0, 3.0]):  # 65 seconds are left for them, and 5 folds
        fits.append((setting, fold))
        clock[0] += 3.0
        search.record(setting, fold, -1.0, 3.0)
    assert fits == [(setting, fold) for setting in (2, 4) for fold in range(5)]
    assert search.losses.shape == (5, 5)
    assert search.seconds_of(3) == 14.0
    assert search.best(5) == [2, 4, 1, 0]
    assert search.usable() == ([0, 1, 2, 4], [0, 1, 2, 3, 4])
