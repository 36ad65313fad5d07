"""n_jobs, nested parallel work, and what happens to the pool of threads after a fork."""

import multiprocessing
import os
import time

import joblib
import pytest
from support import assert_same_model, random_problem

from marginboost import MCBoostClassifier, _native
from marginboost.engine.threads import effective_threads

X, Y = random_problem(4000, 8, 5)
PATIENCE = 300  # seconds after which a child counts as hanging

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")


def fit(n_jobs=3):
    return MCBoostClassifier(8, n_jobs=n_jobs).fit(X, Y)


# --- effective_threads ----------------------------------------------------------------------------


@pytest.fixture
def cpus(monkeypatch):
    """Pretend that there are 8 CPUs and no OMP_NUM_THREADS."""
    monkeypatch.setattr(joblib, "cpu_count", lambda: 8)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    return monkeypatch


@pytest.mark.parametrize(
    ("n_jobs", "expected"),
    [(None, 8), (1, 1), (3, 3), (20, 20), (-1, 8), (-2, 7), (-8, 1), (-100, 1)],
)
def test_n_jobs_as_in_joblib(cpus, n_jobs, expected):
    assert effective_threads(n_jobs) == expected


@pytest.mark.parametrize(
    ("limit", "n_jobs", "expected"),
    [
        ("2", None, 2),
        ("2", -1, 2),
        ("2", -2, 1),
        ("2", 5, 5),  # asked for by name
        ("100", None, 8),
        ("", None, 8),
        ("0", None, 8),
        ("many", None, 8),
        ("-1", None, 8),
    ],
)
def test_omp_num_threads_is_a_limit(cpus, limit, n_jobs, expected):
    cpus.setenv("OMP_NUM_THREADS", limit)
    assert effective_threads(n_jobs) == expected


def test_no_more_threads_than_the_pool_can_hold(cpus):
    assert effective_threads(10**6) == _native.MAX_THREADS
    cpus.setattr(joblib, "cpu_count", lambda: 10**6)
    assert effective_threads(None) == _native.MAX_THREADS


@pytest.mark.parametrize("limit", [None, "4"])
def test_one_thread_inside_a_joblib_thread(cpus, limit):
    if limit is not None:
        cpus.setenv("OMP_NUM_THREADS", limit)
    inside = joblib.Parallel(n_jobs=2, backend="threading")(
        joblib.delayed(effective_threads)(n) for n in (None, -1, 4)
    )
    assert inside == [1, 1, 4]


def test_joblib_processes_share_the_cpus_and_fit_equal_models(monkeypatch):
    if joblib.cpu_count() < 2:
        pytest.skip("needs two CPUs")
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    # Not its default: other limits would be another pair of processes, which import all anew.
    with joblib.parallel_config("loky", inner_max_num_threads=3):
        inside = joblib.Parallel(n_jobs=2)(
            joblib.delayed(effective_threads)(n) for n in (None, None, 7)
        )
        models = joblib.Parallel(n_jobs=2)(
            joblib.delayed(MCBoostClassifier.fit)(MCBoostClassifier(8, n_jobs=n_jobs), X, Y)
            for n_jobs in (None, 2, None, 2)  # a worker cannot import this file
        )
    assert inside == [3, 3, 7]
    for model in models:
        assert_same_model(model, fit())


# --- the pool -------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_joblib_threads_fit_equal_models(n_jobs):
    models = joblib.Parallel(n_jobs=2, backend="threading")(
        joblib.delayed(fit)(n_jobs) for _ in range(4)
    )
    for model in models:
        assert_same_model(model, fit())


def test_more_threads_than_cpus():
    assert_same_model(fit(5), fit(1))
    assert_same_model(fit(64), fit(1))


def exit_code_of(child):
    """Wait for a child of os.fork; kill it where it hangs."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.01)
    os.kill(child, 9)
    os.waitpid(child, 0)
    return "hangs"


@needs_fork
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
@pytest.mark.parametrize("generations", [1, 2])
def test_a_forked_child_can_fit_again(generations):
    before = fit()
    child = os.fork()
    if child == 0:  # nothing of pytest may run here
        try:
            if generations == 2:
                fit()
                grandchild = os.fork()
                if grandchild:
                    os._exit(0 if exit_code_of(grandchild) == 0 else 1)
            assert_same_model(fit(), before)
            assert (fit().predict(X) == before.predict(X)).all()
            os._exit(0)
        finally:
            os._exit(2)
    assert exit_code_of(child) == 0
    assert_same_model(fit(), before)  # and the parent goes on


@needs_fork
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_pool_of_forked_processes():
    before = fit()
    with multiprocessing.get_context("fork").Pool(2) as pool:
        models = pool.map_async(fit, [1, 2, 3, 5]).get(PATIENCE)
    for model in models:
        assert_same_model(model, before)


def test_a_spawned_process_can_fit():
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        model = pool.apply_async(MCBoostClassifier(8, n_jobs=2).fit, (X, Y)).get(PATIENCE)
    assert_same_model(model, fit())
