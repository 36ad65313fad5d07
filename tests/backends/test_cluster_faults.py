"""What may befall a classifier on Dask collections: rows are made again from the collection's graph."""

import signal
import threading
import time

import dask
import numpy as np
import pytest
from cluster_fits import at_round
from cluster_support import Processes
from distributed import Client
from sklearn.base import clone
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
    with Client(processes.scheduler, timeout=300) as client:
        client.wait_for_workers(3, timeout=300)
        yield client


def problem():
    X, y = noisy_problem(600, 6, 4, n_values=40)
    return X, y, da.from_array(X, chunks=(150, -1)), da.from_array(y, chunks=150)


def fits(dask_worker):
    plugin = dask_worker.plugins.get("marginboost")
    return 0 if plugin is None else len(plugin._fits)


def once_it_runs(model, action):
    """Do something while a fit is in its rounds; return the thread that does it."""
    is_under_way = threading.Event()

    def wait():
        is_under_way.wait()
        action()

    model.set_params(callbacks=[lambda done: is_under_way.set() if done.number >= 2 else None])
    thread = threading.Thread(target=wait, daemon=True)
    thread.start()
    return thread


@pytest.mark.parametrize(
    "model",
    [MCBoostClassifier(60), MarginBoostClassifier(12, random_state=0, max_leaf_nodes=6)],
    ids=["stumps", "trees"],
)
def test_a_worker_dies(client, processes, model):
    X, y, rows, labels = problem()
    here = clone(model).fit(X, y)
    # Between two rounds of this fit, and at any moment of the one beside it, for calibration.
    callback = at_round(2, lambda: processes.kill(1))
    model.set_params(callbacks=[callback]).fit(rows, labels)
    assert len(processes.living()) == 2
    assert_same_ensemble(model.ensemble_, here.ensemble_)
    np.testing.assert_array_equal(model.predict_proba(X), here.predict_proba(X))


def test_an_interrupt_leaves_a_model_and_no_tasks(client):
    X, y, rows, labels = problem()
    main = threading.main_thread().ident
    model = MarginBoostClassifier(5_000, max_leaf_nodes=6, random_state=0)
    thread = once_it_runs(model, lambda: signal.pthread_kill(main, signal.SIGINT))
    with pytest.warns(UserWarning, match="the model keeps the"):
        model.fit(rows, labels)
    thread.join()
    assert model.stop_reason_ == "interrupted"
    assert 0 < model.n_iter_ < 5_000
    assert model.score(X, y) > 0.5
    end = time.monotonic() + 300
    while any(client.run(fits).values()) or any(client.processing().values()):
        assert time.monotonic() < end
        time.sleep(0.05)


def wait_for(path):
    """Wait for a file, for five minutes at most."""
    end = time.monotonic() + 300
    while not path.exists() and time.monotonic() < end:
        time.sleep(0.05)


def held_up(rows, folder):
    """Return rows once somebody has died."""
    (folder / "begun").touch()
    wait_for(folder / "over")
    return rows


@pytest.mark.parametrize("who", ["a worker", "all workers", "the scheduler"])
def test_somebody_dies_while_rows_are_taken_in(who, tmp_path):
    X, y, _, labels = problem()
    rows = da.from_array(X, chunks=(150, -1))
    rows = rows.map_blocks(held_up, tmp_path, dtype=X.dtype, meta=X[:0])
    with Processes() as processes:
        processes.restore(2)
        with (
            Client(processes.scheduler, timeout=300) as client,
            dask.config.set({"marginboost.deadline": 120.0 if who == "a worker" else 5.0}),
        ):
            client.wait_for_workers(2, timeout=300)
            kill = {
                "a worker": lambda: processes.kill(1), "all workers": lambda: processes.kill(2),
                "the scheduler": processes.kill_scheduler,
            }[who]  # fmt: skip

            def act():
                wait_for(tmp_path / "begun")
                kill()
                (tmp_path / "over").touch()

            threading.Thread(target=act, daemon=True).start()
            model = MCBoostClassifier(5)
            if who == "a worker":
                model.fit(rows, labels)
                assert_same_ensemble(model.ensemble_, MCBoostClassifier(5).fit(X, y).ensemble_)
            else:
                with pytest.raises(ClusterError, match=r"no worker left|Dask scheduler"):
                    model.fit(rows, labels)


def test_the_scheduler_dies():
    with Processes() as processes:
        processes.restore(2)
        with Client(processes.scheduler, timeout=300) as client:
            client.wait_for_workers(2, timeout=300)
            _, _, rows, labels = problem()
            model = MCBoostClassifier(10_000)
            with dask.config.set({"marginboost.deadline": 10.0}):
                thread = once_it_runs(model, processes.kill_scheduler)
                with pytest.raises(ClusterError, match="scheduler"):
                    model.fit(rows, labels)
                thread.join()
