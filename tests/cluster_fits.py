"""Fits on a cluster, and what they give where nothing befalls them."""

import functools
import threading
import time

from cluster_support import assert_same_rounds, cut, ensemble_of, set_of_parts
from support import assert_same_ensemble, make_method, make_tree_method, noisy_problem, training_set

from marginboost.boosting.loop import MAX_ROUNDS
from marginboost.engine import NativeStumpEngine, NativeTreeEngine

N_ROUNDS = 6


@functools.cache
def problem():
    return training_set(*noisy_problem(240, 6, 4, n_values=30))


def make_stumps(engine, data):
    return make_method(data, "exponential", engine=engine, eta=0.5)


def make_boosted_trees(engine, data):
    return make_tree_method(data, "exponential", engine=engine, max_leaf_nodes=7)


@functools.cache
def expected(make):
    """Return what a fit gives that nothing befalls."""
    engine = NativeStumpEngine() if make is make_stumps else NativeTreeEngine()
    return ensemble_of(make(engine, problem()), problem(), N_ROUNDS)


def spread(client, n_parts=3, *, scatter=False, deadline=120.0):
    parts = cut(problem(), n_parts)
    return set_of_parts(client, parts, problem(), scatter=scatter, deadline=deadline)


def assert_same_fit(engine, data, make=make_stumps, callback=lambda finished: None, *, ahead=False):
    method = make(engine, data)
    ensemble, rounds, reason = ensemble_of(method, data, N_ROUNDS, callback, ahead=ahead)
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


def what_is_left(dask_worker):
    plugin = dask_worker.plugins["marginboost"]
    threads = [t for t in threading.enumerate() if t.name.startswith("marginboost")]
    return len(plugin._shards), len(plugin._fits), len(plugin._keys), len(threads)


def nothing_is_left(client):
    return set(client.run(what_is_left).values()) == {(0, 0, 0, 0)}
