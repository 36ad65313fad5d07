"""Workers that die or freeze in the middle of a fit. Processes here are killed and frozen for real."""

import functools
import os
import threading

import numpy as np
import pytest
from cluster_fits import (
    N_ROUNDS,
    assert_same_fit,
    at_round,
    make_boosted_trees,
    make_stumps,
    problem,
    spread,
    until,
)
from cluster_support import (
    Processes,
    Troubled,
    TroubledTrees,
    assert_same_rounds,
    cut,
    ensemble_of,
    set_of_parts,
)
from support import assert_same_ensemble, make_tree_method, noisy_problem, row_weights, training_set

from marginboost import (
    AdaBoostECCClassifier,
    AdaBoostMHClassifier,
    JointBoostClassifier,
)
from marginboost.data.row_view import RowView
from marginboost.engine import NativeStumpEngine, NativeTreeEngine
from marginboost.engine.cluster import (
    ClusterError,
    ClusterStumpEngine,
    ClusterTreeEngine,
)


@pytest.mark.parametrize("make", [make_stumps, make_boosted_trees])
def test_a_worker_dies_between_rounds(client, processes, make):
    engine = ClusterStumpEngine() if make is make_stumps else ClusterTreeEngine()
    assert_same_fit(engine, spread(client), make, at_round(2, lambda: processes.kill(1)))


@pytest.mark.parametrize(
    ("method", "calls"),
    [("load", 1), ("histograms", 3), ("place_stump", 3), ("sums", 2)],
)
def test_a_worker_dies_at_work(client, tmp_path, method, calls):
    engine = ClusterStumpEngine(functools.partial(Troubled, tmp_path, method, calls, "kill"))
    assert_same_fit(engine, spread(client))
    assert len(os.listdir(tmp_path)) == 1  # it did die


@pytest.mark.usefixtures("tree_sums")
@pytest.mark.parametrize("ahead", [False, True])
@pytest.mark.parametrize(
    ("method", "calls"),
    [("node_histograms", 1), ("node_histograms", 7), ("move_rows", 6), ("finish_tree", 3)],
)
def test_a_worker_dies_while_a_tree_grows(client, tmp_path, method, calls, ahead):
    make = functools.partial(TroubledTrees, tmp_path, method, calls, "kill")
    assert_same_fit(ClusterTreeEngine(make), spread(client), make_boosted_trees, ahead=ahead)
    assert len(os.listdir(tmp_path)) == 1


def _cut_connections(dask_worker):
    for opening in dask_worker.plugins["marginboost"]._streams._comms.values():
        opening.result().abort()


def test_connections_between_workers_break_between_rounds(client):
    cut_all = at_round(2, lambda: client.run(_cut_connections))
    assert_same_fit(ClusterTreeEngine(), spread(client), make_boosted_trees, cut_all)


@pytest.mark.parametrize("calls", [2, 7])
def test_connections_between_workers_break_while_a_tree_grows(client, tmp_path, calls):
    """The others wait for what one of them has not sent yet."""

    def cut_all():
        until(lambda: os.listdir(tmp_path))
        client.run(_cut_connections)
        (tmp_path / "over").touch()

    thread = threading.Thread(target=cut_all)
    thread.start()
    make = functools.partial(TroubledTrees, tmp_path, "node_histograms", calls, "wait")
    assert_same_fit(ClusterTreeEngine(make), spread(client), make_boosted_trees)
    thread.join()


@pytest.mark.parametrize("kind", ["plain", "weights", "multiplicities"])
def test_a_shard_that_is_made_again_numbers_its_copies_as_before(client, processes, tmp_path, kind):
    """Copies lie in all shards: which of them are left out, held out and drawn depends on all."""
    X, y = noisy_problem(240, 2, 3, n_values=3)
    whole = training_set(X, y, weight=row_weights(kind, 240, np.random.default_rng(0)))
    data = set_of_parts(client, cut(whole, 3), whole, scatter=False, deadline=20.0)
    view = RowView(5, whole.hash_bounds(5, 0.2))
    np.testing.assert_array_equal(data.hash_bounds(5, 0.2), view.hash_bounds)
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
    "mh": AdaBoostMHClassifier(),  # advances by a table
    "ecc": AdaBoostECCClassifier(random_state=0),  # projects
    "jointboost": JointBoostClassifier(),  # asks for the histograms
}


@pytest.mark.parametrize("name", METHODS)
def test_a_worker_dies_in_other_methods(client, processes, name):
    whole, make = problem(), METHODS[name]._make_method
    METHODS[name]._draw_seed(anew=True)
    data = set_of_parts(client, cut(whole, "blocks"), whole, scatter=False)
    ours = ensemble_of(make(NativeStumpEngine(), whole), whole, N_ROUNDS)
    theirs = ensemble_of(
        make(ClusterStumpEngine(), data), data, N_ROUNDS, at_round(3, lambda: processes.kill(1))
    )
    assert len(ours[1]) == N_ROUNDS
    assert_same_ensemble(ours[0], theirs[0])
    assert_same_rounds(ours[1], theirs[1])


@pytest.mark.parametrize("make", [make_stumps, make_boosted_trees])
def test_two_of_three_workers_die(client, processes, make):
    engine = ClusterStumpEngine() if make is make_stumps else ClusterTreeEngine()
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
    method = make_stumps(engine, data)

    def kill_all():
        data.connection.deadline = 1.0  # not before: a busy machine may let workers wait for longer
        processes.kill(3)

    with pytest.raises(ClusterError, match=r"no worker left.* for 1 seconds\. Start workers"):
        ensemble_of(method, data, N_ROUNDS, at_round(2, kill_all))


@pytest.mark.parametrize("make", [make_stumps, make_boosted_trees])
def test_a_worker_freezes(client, processes, make):
    engine = ClusterStumpEngine() if make is make_stumps else ClusterTreeEngine()
    data = spread(client)

    def freeze(finished):
        if finished.number == 2:
            processes.freeze(1)
        # The round after has to wait.
        data.connection.deadline = 6.0 if finished.number == 2 else 120.0

    assert_same_fit(engine, data, make, freeze)


def test_a_worker_is_frozen_from_the_start():
    with Processes() as processes, processes.connect(2) as client:
        data = spread(client, deadline=1.0)
        processes.freeze(1)
        with pytest.raises(ClusterError, match=r"All workers .* within 1 seconds"):
            make_stumps(ClusterStumpEngine(), data).start()


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
