"""Errors and interrupts on a cluster come back as themselves."""

import functools
import os
import signal
import threading

import pytest
from cluster_fits import (
    N_ROUNDS,
    at_round,
    expected,
    make_boosted_trees,
    make_stumps,
    nothing_is_left,
    spread,
    until,
)
from cluster_support import Processes, Troubled, TroubledTrees, assert_same_rounds, ensemble_of

from marginboost.boosting.loop import INTERRUPTED
from marginboost.engine.cluster import ClusterError, ClusterStumpEngine, ClusterTreeEngine


def test_rows_that_cannot_be_made_again(client, processes):
    engine, data = ClusterStumpEngine(), spread(client, scatter=True)
    method = make_stumps(engine, data)
    with pytest.raises(ClusterError, match="were lost with a worker and cannot be recovered"):
        ensemble_of(method, data, N_ROUNDS, at_round(2, lambda: processes.kill(1)))


def test_the_scheduler_dies():
    with Processes() as processes, processes.connect(2) as client:
        engine, data = ClusterStumpEngine(), spread(client)
        method = make_stumps(engine, data)

        def kill():
            data.connection.deadline = 2.0
            processes.kill_scheduler()

        with pytest.raises(ClusterError, match="scheduler, which does not answer"):
            ensemble_of(method, data, 10**6, at_round(2, kill))


def test_an_exception_in_an_engine_comes_back_as_itself(client, tmp_path):
    engine = ClusterStumpEngine(functools.partial(Troubled, tmp_path, "histograms", 3, "raise"))
    data = spread(client)
    with pytest.raises(ZeroDivisionError, match="in an engine"):
        ensemble_of(make_stumps(engine, data), data, N_ROUNDS)
    assert len(client.nthreads()) == 3


def test_an_exception_while_a_tree_grows(client, tmp_path):
    make = functools.partial(TroubledTrees, tmp_path, "node_histograms", 5, "raise")
    engine, data = ClusterTreeEngine(make), spread(client)
    with pytest.raises(ZeroDivisionError, match="in an engine"):
        ensemble_of(make_boosted_trees(engine, data), data, N_ROUNDS)
    engine.close()
    data.close()
    until(lambda: nothing_is_left(client))  # no worker waits for the one that failed


def test_an_exception_in_a_recipe_comes_back_as_itself(client):
    data = spread(client)
    data.placement.recipes[1] = data.placement.recipes[1]._replace(build=len)
    with pytest.raises(TypeError, match="has no len"):
        make_stumps(ClusterStumpEngine(), data).start()


@pytest.mark.parametrize("make", [make_stumps, make_boosted_trees])
def test_an_interrupt_ends_a_fit_with_the_rounds_so_far(client, tmp_path, make):
    """One worker is at work, and the others wait for its sums."""
    if make is make_stumps:
        trouble = functools.partial(Troubled, tmp_path, "histograms", 4, "wait")
        engine = ClusterStumpEngine(trouble)
    else:
        trouble = functools.partial(TroubledTrees, tmp_path, "node_histograms", 7, "wait")
        engine = ClusterTreeEngine(trouble)
    data = spread(client)
    main = threading.main_thread().ident

    def interrupt():
        until(lambda: os.listdir(tmp_path))
        signal.pthread_kill(main, signal.SIGINT)

    threading.Thread(target=interrupt).start()
    _, rounds, reason = ensemble_of(make(engine, data), data, N_ROUNDS)
    assert os.listdir(tmp_path) == ["trouble"]  # a worker still waits
    (tmp_path / "over").touch()
    assert reason == INTERRUPTED
    assert 0 < len(rounds) < N_ROUNDS
    assert_same_rounds(rounds, expected(make)[1][: len(rounds)])
    engine.close()
    data.close()
    until(lambda: nothing_is_left(client))
    with pytest.raises(ClusterError, match="closed"):
        engine.edges() if make is make_stumps else engine.held_out()
