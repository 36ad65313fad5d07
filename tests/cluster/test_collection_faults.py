"""What may befall a classifier on Dask collections: rows are made again from the collection's graph."""

import signal
import threading
import time

import dask
import numpy as np
import pytest
from cluster_support import Processes
from distributed import Client
from support import assert_same_ensemble, noisy_problem

from marginboost import MarginBoostClassifier, MCBoostClassifier
from marginboost.engine.cluster import ClusterError

da = pytest.importorskip("dask.array")

pytestmark = pytest.mark.filterwarnings("ignore:Sending large graph:UserWarning")


@pytest.fixture(scope="module")
def processes():
    with Processes() as processes:
        yield processes


@pytest.fixture
def client(processes):
    processes.restore(3)
    with Client(processes.scheduler, timeout=60) as client:
        client.wait_for_workers(3, timeout=60)
        yield client


def problem():
    X, y = noisy_problem(600, 6, 4, n_values=40)
    return X, y, da.from_array(X, chunks=(150, -1)), da.from_array(y, chunks=150)


def fits(dask_worker):
    plugin = dask_worker.plugins.get("marginboost")
    return 0 if plugin is None else len(plugin._fits)


def once_it_runs(client, action):
    """Do something as soon as workers are at work for a fit, for a little while."""

    def wait():
        end = time.monotonic() + 30
        try:
            while not any(client.run(fits).values()) and time.monotonic() < end:
                time.sleep(0.02)
            time.sleep(0.3)
        finally:  # or the fit might never end
            action()

    thread = threading.Thread(target=wait)
    thread.start()
    return thread


@pytest.mark.parametrize(
    "model",
    [MCBoostClassifier(300), MarginBoostClassifier(40, random_state=0, max_leaf_nodes=12)],
    ids=["stumps", "trees"],
)
def test_a_worker_dies(client, processes, model):
    X, y, rows, labels = problem()
    thread = once_it_runs(client, lambda: processes.kill(1))
    start = time.monotonic()
    model.fit(rows, labels)
    assert time.monotonic() - start < 60
    thread.join()
    assert len(processes.living()) == 2
    here = type(model)(**model.get_params()).fit(X, y)
    assert_same_ensemble(model.ensemble_, here.ensemble_)
    np.testing.assert_array_equal(model.predict_proba(X), here.predict_proba(X))


def test_an_interrupt_leaves_a_model_and_no_tasks(client):
    X, y, rows, labels = problem()
    main = threading.main_thread().ident
    model = MarginBoostClassifier(5_000, random_state=0)
    thread = once_it_runs(client, lambda: signal.pthread_kill(main, signal.SIGINT))
    with pytest.warns(UserWarning, match="the model keeps the"):
        model.fit(rows, labels)
    thread.join()
    assert model.stop_reason_ == "interrupted"
    assert 0 < model.n_iter_ < 5_000
    assert model.score(X, y) > 0.5
    end = time.monotonic() + 20
    while any(client.run(fits).values()) or any(client.processing().values()):
        assert time.monotonic() < end
        time.sleep(0.05)


def slowly(rows):
    time.sleep(0.8)
    return rows


@pytest.mark.parametrize("who", ["a worker", "all workers", "the scheduler"])
def test_somebody_dies_while_rows_are_taken_in(who):
    X, y, _, labels = problem()
    rows = da.from_array(X, chunks=(150, -1)).map_blocks(slowly, dtype=X.dtype)
    with Processes() as processes:
        processes.restore(2)
        with (
            Client(processes.scheduler, timeout=60) as client,
            dask.config.set({"marginboost.deadline": 2.0}),
        ):
            client.wait_for_workers(2, timeout=60)
            kill = {
                "a worker": lambda: processes.kill(1), "all workers": lambda: processes.kill(2),
                "the scheduler": processes.kill_scheduler,
            }[who]  # fmt: skip
            threading.Timer(0.5, kill).start()
            model = MCBoostClassifier(5)
            start = time.monotonic()
            if who == "a worker":
                model.fit(rows, labels)
                assert_same_ensemble(model.ensemble_, MCBoostClassifier(5).fit(X, y).ensemble_)
            else:
                with pytest.raises(ClusterError, match=r"no worker left|Dask scheduler"):
                    model.fit(rows, labels)
                assert time.monotonic() - start < 20


def test_the_scheduler_dies():
    with Processes() as processes:
        processes.restore(2)
        with Client(processes.scheduler, timeout=60) as client:
            client.wait_for_workers(2, timeout=60)
            _, _, rows, labels = problem()
            with dask.config.set({"marginboost.deadline": 2.0}):
                thread = once_it_runs(client, processes.kill_scheduler)
                start = time.monotonic()
                with pytest.raises(ClusterError, match="scheduler"):
                    MCBoostClassifier(10_000).fit(rows, labels)
                assert time.monotonic() - start < 40
                thread.join()
