"""Random states, threads and forks: what a fit of MarginBoostClassifier draws."""

import os
import signal
import time

import numpy as np
import pytest
from sklearn.base import clone
from support import assert_same_margin_boost as assert_same
from support import noisy_problem, random_problem
from support import small_margin_boost as small


@pytest.fixture(scope="module")
def noisy():
    """Three classes that no tree tells apart, values shared by several rows."""
    return noisy_problem(150, 4, 3, n_values=30)


@pytest.mark.parametrize("settings", [{}, {"subsample": 1.0}, {"max_features": 1.0}])
def test_random_state(noisy, settings):
    first = small(random_state=1, **settings).fit(*noisy)
    assert_same(first, small(random_state=1, **settings).fit(*noisy))
    assert_same(first, clone(first).fit(*noisy))
    other = small(random_state=2, **settings).fit(*noisy)
    assert not np.array_equal(first.decision_function(noisy[0]), other.decision_function(noisy[0]))


def test_the_state_of_the_generator_is_not_used_up(noisy):
    """An instance gives another fit each time, a number the same one."""
    state = np.random.RandomState(0)
    one, two = small(random_state=state).fit(*noisy), small(random_state=state).fit(*noisy)
    assert not np.array_equal(one.ensemble_.feature, two.ensemble_.feature)


@pytest.mark.parametrize("n_jobs", [None, 2, 5, -1])
@pytest.mark.parametrize("n_classes", [4, 20])
def test_n_jobs_does_not_change_the_model(n_jobs, n_classes):
    X, y = random_problem(6000, 8, n_classes)
    assert_same(small(3, n_jobs=1).fit(X, y), small(3, n_jobs=n_jobs).fit(X, y))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_forked_child_can_fit_again():
    X, y = random_problem(6000, 8, 4)
    before = small(3, n_jobs=3).fit(X, y)
    child = os.fork()
    if child == 0:  # nothing of pytest may run here
        try:
            assert_same(small(3, n_jobs=3).fit(X, y), before)
            os._exit(0)
        finally:
            os._exit(2)
    deadline = time.monotonic() + 300
    pid = status = 0
    while not pid and time.monotonic() < deadline:
        pid, status = os.waitpid(child, os.WNOHANG)
        time.sleep(0.01)
    if not pid:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    assert pid, "the child hangs"
    assert os.waitstatus_to_exitcode(status) == 0
    assert_same(small(3, n_jobs=3).fit(X, y), before)  # and the parent goes on
