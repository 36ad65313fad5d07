"""Tasks that a fit waits for, while there is somebody to do them."""

from __future__ import annotations

import asyncio
import concurrent.futures
import time
from typing import TYPE_CHECKING, Any

from distributed import KilledWorker

from marginboost.engine.cluster.errors import ClusterError
from marginboost.engine.cluster.line import Line, wait_for

if TYPE_CHECKING:
    from collections.abc import Awaitable, Sequence

    from distributed import Future

__all__ = ["gather", "no_worker_left", "outcome"]

# Seconds until the workers are asked after for the first time; then twice as long, and so on.
_FIRST_LOOK = 0.25


def gather(line: Line, futures: Sequence[Future]) -> list[Any]:
    """Return the results of tasks.

    Raises
    ------
    ClusterError
        Where they will never come: no scheduler, no worker before the deadline, rows that are lost.
    """
    return wait_for(line.client, _gather(line, futures))


async def _gather(line: Line, futures: Sequence[Future]) -> list[Any]:
    results = asyncio.ensure_future(outcome(line, line.client.gather(list(futures), asynchronous=True)))
    patience = _FIRST_LOOK
    seen = time.monotonic()
    try:
        while not (await asyncio.wait({results}, timeout=patience))[0]:
            patience = min(2 * patience, line.deadline / 4)
            if await line.workers():
                seen = time.monotonic()
            elif time.monotonic() - seen > line.deadline:
                raise no_worker_left(line.deadline)
        return list(results.result())
    finally:
        results.cancel()


def no_worker_left(deadline: float) -> ClusterError:
    """Say that nobody is there."""
    return ClusterError(
        f"The fit has no worker left, and none has joined the cluster for {deadline:g} seconds. Start "
        "workers and fit again."
    )


async def outcome(line: Line, task: Awaitable[Any]) -> Any:
    """Wait for a task; what Dask could not do is said in a sentence."""
    try:
        return await task
    except (asyncio.CancelledError, concurrent.futures.CancelledError) as failure:
        here = asyncio.current_task()
        if here is not None and here.cancelling():  # nobody waits for it any more
            raise
        await line.workers()  # has a sentence of its own where the scheduler is gone
        raise ClusterError(
            "Rows of the fit were lost with a worker, and cannot be made again, because the cluster "
            "does not know where they came from (they were scattered, say, or their futures were "
            "cancelled). Use data that the workers load or compute, or fit again."
        ) from failure
    except KilledWorker as failure:
        raise ClusterError(
            "Workers have died again and again while they made a part of the rows; they may need "
            "more memory."
        ) from failure
