"""Dask tasks that a fit waits for, as long as there are workers to run them."""

from __future__ import annotations

import asyncio
import concurrent.futures
import time
from typing import TYPE_CHECKING, Any

from distributed import KilledWorker

from marginboost.engine.cluster.connection import Connection, wait_for
from marginboost.engine.cluster.errors import ClusterError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Sequence

    from distributed import Future

__all__ = ["gather", "no_worker_left", "outcome", "present_workers"]

# Seconds until the workers are checked for the first time; the wait doubles after each check.
_FIRST_CHECK = 0.25


def gather(connection: Connection, futures: Sequence[Future]) -> list[Any]:
    """Return the results of tasks.

    Raises
    ------
    ClusterError
        If they cannot be computed: no scheduler, no worker before the deadline, or lost rows.
    """
    return wait_for(connection.client, _gather(connection, futures))


async def _gather(connection: Connection, futures: Sequence[Future]) -> list[Any]:
    results = asyncio.ensure_future(
        outcome(connection, connection.client.gather(list(futures), asynchronous=True))
    )
    patience = _FIRST_CHECK
    seen = time.monotonic()
    try:
        while not (await asyncio.wait({results}, timeout=patience))[0]:
            patience = min(2 * patience, connection.deadline / 4)
            if await connection.workers():
                seen = time.monotonic()
            elif time.monotonic() - seen > connection.deadline:
                raise no_worker_left(connection.deadline)
        return list(results.result())
    finally:
        results.cancel()


def present_workers(connection: Connection) -> list[str]:
    """Return the addresses of the workers, sorted, once there is one.

    The client's own list may be empty: it is refreshed now and then without the workers.

    Raises
    ------
    ClusterError
        If there is no scheduler, or no worker before the deadline.
    """
    return wait_for(connection.client, _present(connection))


async def _present(connection: Connection) -> list[str]:
    until = time.monotonic() + connection.deadline
    while not (found := await connection.workers()):
        if time.monotonic() > until:
            raise no_worker_left(connection.deadline)
        await asyncio.sleep(_FIRST_CHECK)
    return sorted(found)


def no_worker_left(deadline: float) -> ClusterError:
    """Return the error for a cluster without workers."""
    return ClusterError(
        f"The fit has no worker left, and none has joined the cluster for {deadline:g} seconds. Start "
        "workers and fit again."
    )


async def outcome(connection: Connection, task: Awaitable[Any]) -> Any:
    """Wait for a task; turn Dask's failures into a `ClusterError`."""
    try:
        return await task
    except (asyncio.CancelledError, concurrent.futures.CancelledError) as failure:
        here = asyncio.current_task()
        if here is not None and here.cancelling():  # nobody waits for the result any more
            raise
        await connection.workers()  # raises another error if the scheduler is gone
        raise ClusterError(
            "Rows of the fit were lost with a worker and cannot be recovered, because the cluster does "
            "not know how to compute them (for example, they were scattered, or their futures were "
            "cancelled). Use data that the workers load or compute, or fit again."
        ) from failure
    except KilledWorker as failure:
        raise ClusterError(
            "Workers died repeatedly while they prepared a part of the rows. They may need more memory: "
            "use larger workers or smaller partitions."
        ) from failure
