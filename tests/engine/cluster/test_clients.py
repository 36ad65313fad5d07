"""Clients of every kind: several at once, asynchronous, in the workers' process, and gone."""

import asyncio
import gc
import threading

import pytest
from cluster_fits import (
    assert_same_fit,
    at_round,
    make_boosted_trees,
    make_stumps,
    nothing_is_left,
    problem,
    spread,
    until,
    what_is_left,
)
from distributed import Client, LocalCluster

from marginboost.engine.cluster import (
    ClusterError,
    ClusterStumpEngine,
    ClusterTrainingSet,
    ClusterTreeEngine,
)


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
        make_stumps(engine, data).start()
        assert max(client.run(what_is_left).values()) == (1, 1, 1, 1)
    until(lambda: nothing_is_left(client))
    with pytest.raises(ClusterError):
        engine.edges()


def test_a_cluster_is_not_idle_while_it_fits(client):
    """A scheduler with an idle timeout looks at what its tasks do."""

    def n_transitions():
        return client.run_on_scheduler(lambda dask_scheduler: dask_scheduler.transition_counter)

    engine, data = ClusterStumpEngine(), spread(client)
    make_stumps(engine, data).start()
    before = n_transitions()
    engine.edges()
    assert n_transitions() == before
    data.connection._last_use -= 60.0
    engine.edges()
    until(lambda: n_transitions() > before)


@pytest.mark.parametrize("make", [make_stumps, make_boosted_trees])
def test_a_client_that_reaches_workers_through_the_scheduler_alone(client, processes, make):
    engine = ClusterStumpEngine() if make is make_stumps else ClusterTreeEngine()
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
            make_stumps(ClusterStumpEngine(), data).start()

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
