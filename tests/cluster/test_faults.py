"""What may befall a cluster in the middle of a fit. Processes here are killed and frozen for real."""

import asyncio
import functools
import gc
import os
import signal
import threading
import time

import numpy as np
import pytest
from cluster_support import (
    Processes,
    Troubled,
    TroubledTrees,
    assert_same_rounds,
    cut,
    ensemble_of,
)
from distributed import Client, LocalCluster
from support import (
    assert_same_ensemble,
    make_method,
    make_tree_method,
    noisy_problem,
    row_weights,
    training_set,
)

from marginboost import (
    AdaBoostMOClassifier,
    JointBoostClassifier,
    MultiBoostClassifier,
    SAMMEClassifier,
)
from marginboost.boosting.loop import INTERRUPTED, MAX_ROUNDS
from marginboost.data.row_view import RowView
from marginboost.engine import NativeStumpEngine, NativeTreeEngine
from marginboost.engine.cluster import (
    ClusterError,
    ClusterStumpEngine,
    ClusterTrainingSet,
    ClusterTreeEngine,
)

N_ROUNDS = 6


@pytest.fixture(scope="module")
def processes():
    with Processes() as processes:
        yield processes


@pytest.fixture
def client(processes):
    """Return the client of a cluster with three workers, whatever has become of them before."""
    with processes.connect(3) as client:
        yield client


@functools.cache
def problem():
    return training_set(*noisy_problem(240, 6, 4, n_values=30))


def make_trees(engine, data):
    return make_method(data, "exponential", engine=engine, depth=3, eta=0.5)


def make_boosted_trees(engine, data):
    return make_tree_method(data, "exponential", engine=engine, max_leaf_nodes=12)


@functools.cache
def expected(make):
    """Return what a fit gives that nothing befalls."""
    engine = NativeStumpEngine() if make is make_trees else NativeTreeEngine()
    return ensemble_of(make(engine, problem()), problem(), N_ROUNDS)


def spread(client, n_parts=3, *, scatter=False, deadline=120.0):
    parts = cut(problem(), n_parts)
    return ClusterTrainingSet.from_parts(
        client, parts, problem(), scatter=scatter, deadline=deadline
    )


def assert_same_fit(engine, data, make=make_trees, callback=lambda finished: None):
    ensemble, rounds, reason = ensemble_of(make(engine, data), data, N_ROUNDS, callback)
    assert reason == MAX_ROUNDS
    assert_same_ensemble(ensemble, expected(make)[0])
    assert_same_rounds(rounds, expected(make)[1])


def at_round(number, action):
    return lambda finished: action() if finished.number == number + 1 else None


def until(condition, seconds=300.0):
    """Wait for something that should come true soon."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


# --- lost workers ---------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [make_trees, make_boosted_trees])
def test_a_worker_dies_between_rounds(client, processes, make):
    engine = ClusterStumpEngine() if make is make_trees else ClusterTreeEngine()
    assert_same_fit(engine, spread(client), make, at_round(2, lambda: processes.kill(1)))


@pytest.mark.parametrize(
    ("method", "calls"),
    [("load", 1), ("histograms", 3), ("tree_histograms", 8), ("move_rows", 5), ("sums", 2)],
)
def test_a_worker_dies_at_work(client, tmp_path, method, calls):
    engine = ClusterStumpEngine(functools.partial(Troubled, tmp_path, method, calls, "kill"))
    assert_same_fit(engine, spread(client))
    assert len(os.listdir(tmp_path)) == 1  # it did die


@pytest.mark.parametrize(
    ("method", "calls"), [("node_histograms", 1), ("node_histograms", 7), ("finish_tree", 3)]
)
def test_a_worker_dies_while_a_tree_grows(client, tmp_path, method, calls):
    make = functools.partial(TroubledTrees, tmp_path, method, calls, "kill")
    assert_same_fit(ClusterTreeEngine(make), spread(client), make_boosted_trees)
    assert len(os.listdir(tmp_path)) == 1


@pytest.mark.parametrize("kind", ["plain", "weights", "multiplicities"])
def test_a_shard_that_is_made_again_numbers_its_copies_as_before(
    client, processes, tmp_path, kind
):
    """Copies lie in all shards: which of them are left out, held out and drawn depends on all."""
    X, y = noisy_problem(240, 2, 3, n_values=3)
    whole = training_set(X, y, weight=row_weights(kind, 240, np.random.default_rng(0)))
    data = ClusterTrainingSet.from_parts(client, cut(whole, 3), whole, scatter=False, deadline=20.0)
    view = RowView(5, whole.hash_bounds(5, 0.2))
    np.testing.assert_array_equal(data.hash_bounds(5, 0.2), view.held_out)
    processes.kill(1)
    rest, left = whole.without(view), data.without(view)
    bounds = rest.hash_bounds(0, 0.3)
    np.testing.assert_array_equal(left.hash_bounds(0, 0.3), bounds)
    troubled = functools.partial(TroubledTrees, tmp_path, "finish_tree", 2, "kill")
    found = []
    for engine, rows in ((NativeTreeEngine(), rest), (ClusterTreeEngine(troubled), left)):
        method = make_tree_method(
            rows, "exponential", engine=engine, subsample=0.4, held_out=bounds
        )
        found.append((*ensemble_of(method, rows, 4), engine.held_out().in_order()))
    assert len(os.listdir(tmp_path)) == 1
    assert_same_ensemble(found[0][0], found[1][0])
    for ours, theirs in zip(found[0][3], found[1][3], strict=True):
        np.testing.assert_array_equal(ours, theirs)


METHODS = {
    "mo": AdaBoostMOClassifier(max_depth=2),  # advances by the column
    "multiboost": MultiBoostClassifier(max_depth=2),  # sets the exponentials
    "jointboost": JointBoostClassifier(max_depth=2),  # projects
    "samme": SAMMEClassifier(max_depth=2),  # trees of classes
}


@pytest.mark.parametrize("name", METHODS)
def test_a_worker_dies_in_other_methods(client, processes, name):
    whole, make = problem(), METHODS[name]._make_method
    data = ClusterTrainingSet.from_parts(client, cut(whole, "blocks"), whole, scatter=False)
    ours = ensemble_of(make(NativeStumpEngine(), whole), whole, N_ROUNDS)
    theirs = ensemble_of(
        make(ClusterStumpEngine(), data), data, N_ROUNDS, at_round(3, lambda: processes.kill(1))
    )
    assert len(ours[1]) == N_ROUNDS
    assert_same_ensemble(ours[0], theirs[0])
    assert_same_rounds(ours[1], theirs[1])


@pytest.mark.parametrize("make", [make_trees, make_boosted_trees])
def test_two_of_three_workers_die(client, processes, make):
    engine = ClusterStumpEngine() if make is make_trees else ClusterTreeEngine()
    assert_same_fit(engine, spread(client, 5), make, at_round(1, lambda: processes.kill(2)))


def test_a_worker_that_joins_takes_over(client, processes):
    def replace_all():
        old = processes.living()
        processes.add(1)
        client.wait_for_workers(4, timeout=300)
        for process in old:
            processes.kill_process(process)

    assert_same_fit(ClusterStumpEngine(), spread(client), callback=at_round(2, replace_all))


def test_all_workers_die_and_one_comes_late(client, processes):
    def replace_all():
        processes.kill(3)
        threading.Timer(1.0, processes.add, (1,)).start()

    assert_same_fit(ClusterStumpEngine(), spread(client), callback=at_round(2, replace_all))


def test_all_workers_die(client, processes):
    engine, data = ClusterStumpEngine(), spread(client)
    method = make_trees(engine, data)

    def kill_all():
        data.connection.deadline = 1.0  # not before: a busy machine may let workers wait for longer
        processes.kill(3)

    with pytest.raises(ClusterError, match=r"no worker left.* for 1 seconds\. Start workers"):
        ensemble_of(method, data, N_ROUNDS, at_round(2, kill_all))


def test_a_worker_freezes(client, processes):
    data = spread(client)

    def freeze(finished):
        if finished.number == 2:
            processes.freeze(1)
        data.connection.deadline = 6.0 if finished.number == 2 else 120.0  # the round after has to wait

    assert_same_fit(ClusterStumpEngine(), data, callback=freeze)


def test_a_worker_is_frozen_from_the_start():
    with Processes() as processes, processes.connect(2) as client:
        data = spread(client, deadline=1.0)
        processes.freeze(1)
        with pytest.raises(ClusterError, match=r"All workers .* within 1 seconds"):
            make_trees(ClusterStumpEngine(), data).start()


def test_rows_that_cannot_be_made_again(client, processes):
    engine, data = ClusterStumpEngine(), spread(client, scatter=True)
    method = make_trees(engine, data)
    with pytest.raises(ClusterError, match="were lost with a worker and cannot be recovered"):
        ensemble_of(method, data, N_ROUNDS, at_round(2, lambda: processes.kill(1)))


def test_the_scheduler_dies():
    with Processes() as processes, processes.connect(2) as client:
        engine, data = ClusterStumpEngine(), spread(client)
        method = make_trees(engine, data)

        def kill():
            data.connection.deadline = 2.0
            processes.kill_scheduler()

        with pytest.raises(ClusterError, match="scheduler, which does not answer"):
            ensemble_of(method, data, 10**6, at_round(2, kill))


# --- errors and interrupts ------------------------------------------------------------------------


def test_an_exception_in_an_engine_comes_back_as_itself(client, tmp_path):
    engine = ClusterStumpEngine(functools.partial(Troubled, tmp_path, "histograms", 3, "raise"))
    data = spread(client)
    with pytest.raises(ZeroDivisionError, match="in an engine"):
        ensemble_of(make_trees(engine, data), data, N_ROUNDS)
    assert len(client.nthreads()) == 3


def test_an_exception_in_a_recipe_comes_back_as_itself(client):
    data = spread(client)
    data.placement.recipes[1] = data.placement.recipes[1]._replace(build=len)
    with pytest.raises(TypeError, match="has no len"):
        make_trees(ClusterStumpEngine(), data).start()


def what_is_left(dask_worker):
    plugin = dask_worker.plugins["marginboost"]
    threads = [t for t in threading.enumerate() if t.name.startswith("marginboost")]
    return len(plugin._shards), len(plugin._fits), len(plugin._keys), len(threads)


def nothing_is_left(client):
    return set(client.run(what_is_left).values()) == {(0, 0, 0, 0)}


def test_an_interrupt_ends_a_fit_with_the_rounds_so_far(client, tmp_path):
    engine = ClusterStumpEngine(functools.partial(Troubled, tmp_path, "histograms", 4, "wait"))
    data = spread(client)
    main = threading.main_thread().ident

    def interrupt():
        until(lambda: os.listdir(tmp_path))
        signal.pthread_kill(main, signal.SIGINT)

    threading.Thread(target=interrupt).start()
    _, rounds, reason = ensemble_of(make_trees(engine, data), data, N_ROUNDS)
    assert os.listdir(tmp_path) == ["trouble"]  # a worker still waits
    (tmp_path / "over").touch()
    assert reason == INTERRUPTED
    assert 0 < len(rounds) < N_ROUNDS
    assert_same_rounds(rounds, expected(make_trees)[1][: len(rounds)])
    engine.close()
    data.close()
    until(lambda: nothing_is_left(client))
    with pytest.raises(ClusterError, match="closed"):
        engine.edges()


def test_fits_that_are_dropped_free_the_workers(client):
    engine, data = ClusterStumpEngine(), spread(client)
    other = ClusterTreeEngine()
    assert_same_fit(engine, data)
    assert_same_fit(other, data, make_boosted_trees)  # two fits of the same rows
    assert max(client.run(what_is_left).values()) == (1, 2, 1, 2)
    del engine, data, other
    gc.collect()
    until(lambda: nothing_is_left(client))


def test_a_client_that_goes_frees_the_workers(client, processes):
    with Client(processes.scheduler, set_as_default=False) as another:
        engine, data = ClusterStumpEngine(), spread(another)
        make_trees(engine, data).start()
        assert max(client.run(what_is_left).values()) == (1, 1, 1, 1)
    until(lambda: nothing_is_left(client))
    with pytest.raises(ClusterError):
        engine.edges()


def test_a_cluster_is_not_idle_while_it_fits(client):
    """A scheduler with an idle timeout looks at what its tasks do."""

    def n_transitions():
        return client.run_on_scheduler(lambda dask_scheduler: dask_scheduler.transition_counter)

    engine, data = ClusterStumpEngine(), spread(client)
    make_trees(engine, data).start()
    before = n_transitions()
    engine.edges()
    assert n_transitions() == before
    data.connection._last_use -= 60.0
    engine.edges()
    until(lambda: n_transitions() > before)


# --- other roads ----------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [make_trees, make_boosted_trees])
def test_a_client_that_reaches_workers_through_the_scheduler_alone(client, processes, make):
    engine = ClusterStumpEngine() if make is make_trees else ClusterTreeEngine()
    data = spread(client)
    data.connection._direct = False
    assert_same_fit(engine, data, make, at_round(2, lambda: processes.kill(1)))


def test_workers_in_the_process_of_the_client():
    with (
        LocalCluster(n_workers=2, processes=False, dashboard_address=":0") as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        data = spread(client)
        assert_same_fit(ClusterStumpEngine(), data)
        assert_same_fit(ClusterTreeEngine(), data, make_boosted_trees)


def test_an_asynchronous_client(client, processes):
    async def fit():
        async with Client(processes.scheduler, asynchronous=True, set_as_default=False) as another:
            data = ClusterTrainingSet(
                another,
                [],
                thresholds=problem().binned.thresholds,
                class_mass=problem().class_mass,
                class_counts=problem().class_counts,
                n_rows=problem().n_rows,
            )
            make_trees(ClusterStumpEngine(), data).start()

    with pytest.raises(ClusterError, match="a Client that is not asynchronous"):
        asyncio.run(fit())


def test_two_fits_side_by_side(client, processes):
    """In two threads, as calibration does; a worker dies under both."""
    data = spread(client)
    failures = []

    def fit_trees():
        try:
            assert_same_fit(ClusterStumpEngine(), data)
        except BaseException as failure:
            failures.append(failure)

    thread = threading.Thread(target=fit_trees)
    thread.start()
    assert_same_fit(
        ClusterTreeEngine(), data, make_boosted_trees, at_round(1, lambda: processes.kill(1))
    )
    thread.join()
    assert not failures


def test_a_worker_that_forgets_its_shard(client):
    """As one does that was restarted at the same address."""

    def forget(dask_worker):
        plugin = dask_worker.plugins["marginboost"]
        for name in list(plugin._fits):
            plugin._fits.pop(name).close()
        plugin._shards.clear()

    assert_same_fit(
        ClusterStumpEngine(), spread(client), callback=at_round(2, lambda: client.run(forget))
    )


def test_engine_state_is_made_again_alone(client):
    """The rows are still there, but the fit is not."""

    def forget(dask_worker):
        plugin = dask_worker.plugins["marginboost"]
        for name in list(plugin._fits):
            plugin._fits.pop(name).close()

    assert_same_fit(
        ClusterTreeEngine(),
        spread(client),
        make_boosted_trees,
        at_round(2, lambda: client.run(forget)),
    )
