"""The client's connection to the workers, which notices when one of them is gone."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any, TypeVar

from marginboost.engine.cluster.errors import ClusterError, LostWorkerError
from marginboost.engine.cluster.message import PING

if TYPE_CHECKING:
    from distributed import Client

T = TypeVar("T")

# Seconds until a silent worker is checked for the first time; the wait doubles after each check.
_FIRST_CHECK = 0.25
# Seconds to connect to a worker directly before going through the scheduler.
_CONNECT = 5.0
# Seconds between two tasks that show the scheduler that its cluster is in use.
_KEEP_ALIVE = 15.0

_ASYNCHRONOUS = (
    "A fit waits for its cluster, so it cannot run on the event loop of an asynchronous client. Use a "
    "Client that is not asynchronous."
)
_CLOSED = "The client of the fit is closed. Fit again with a client that stays open."


class Connection:
    """Call handlers of workers, directly or, where that fails, through the scheduler.

    Parameters
    ----------
    client : distributed.Client
        Client of the cluster.
    deadline : float
        Seconds of silence after which a worker or the scheduler counts as lost.
    """

    def __init__(self, client: Client, deadline: float) -> None:
        self.client = client
        self.deadline = deadline
        self._direct: bool | None = None  # not known yet
        self._background: set[asyncio.Task[Any]] = set()
        self._last_use = time.monotonic()

    def keep_alive(self) -> None:
        """Submit an empty task now and then: a cluster without tasks may shut down as idle."""
        if time.monotonic() - self._last_use > _KEEP_ALIVE:
            self._last_use = time.monotonic()
            self._task = self.client.submit(_do_nothing, pure=False)

    async def call(self, address: str, handler: str, **arguments: Any) -> Any:
        """Call a handler; an OSError means that the worker could not be reached."""
        if self._direct is None:
            self._direct = await self._can_connect(address)
        if self._direct:
            return await getattr(self.client.rpc(address), handler)(**arguments)
        return await self.client.scheduler.proxy(worker=address, msg={"op": handler, **arguments})

    async def call_and_watch(self, address: str, handler: str, **arguments: Any) -> Any:
        """Call a handler, and wait as long as the worker is alive.

        Raises
        ------
        LostWorkerError
            If the worker no longer responds.
        """
        call = asyncio.ensure_future(self.call(address, handler, **arguments))
        patience = min(_FIRST_CHECK, self.deadline / 2)
        try:
            while True:
                done, _ = await asyncio.wait({call}, timeout=patience)
                if done:
                    return call.result()
                await self.check_alive(address)
                patience = min(2 * patience, self.deadline / 2)
        except OSError as failure:
            raise LostWorkerError(address) from failure
        finally:
            call.cancel()

    async def workers(self) -> list[str]:
        """Return the addresses of the workers that the scheduler knows.

        Raises
        ------
        ClusterError
            If the scheduler is gone.
        """
        try:
            ncores = await asyncio.wait_for(self.client.scheduler.ncores(), self.deadline)
        except (OSError, AttributeError) as failure:
            # A closed client has no scheduler any more.
            raise ClusterError(
                "The fit needs the Dask scheduler, which does not answer any more. Start the cluster "
                "again, connect a new client to it, and fit again."
            ) from failure
        return list(ncores)

    def notify(self, addresses: list[str], handler: str, **arguments: Any) -> None:
        """Call a handler of workers that may be gone, without waiting; runs on the client's loop."""

        async def call(address: str) -> None:
            try:
                await asyncio.wait_for(self.call(address, handler, **arguments), self.deadline)
            except Exception:  # a worker that is gone needs no notification
                return

        for address in addresses:
            task = asyncio.ensure_future(call(address))
            self._background.add(task)
            task.add_done_callback(self._background.discard)

    async def _can_connect(self, address: str) -> bool:
        try:
            await asyncio.wait_for(getattr(self.client.rpc(address), PING)(), _CONNECT)
        except OSError:
            if address not in await self.workers():
                raise LostWorkerError(address) from None
            return False
        return True

    async def check_alive(self, address: str) -> None:
        """Raise LostWorkerError if a worker does not answer, or if the scheduler has lost it."""
        if address not in await self.workers():
            raise LostWorkerError(address)
        try:
            reply = await asyncio.wait_for(self.call(address, PING), self.deadline / 2)
        except OSError as failure:
            raise LostWorkerError(address) from failure
        if reply is None:  # the worker is closing, and its handlers are already gone
            raise LostWorkerError(address)


def wait_for(client: Client, coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine on the client's loop; an interrupt cancels it and is raised at once."""
    loop = client.loop.asyncio_loop
    try:
        here = asyncio.get_running_loop()
    except RuntimeError:
        here = None
    trouble = _ASYNCHRONOUS if here is loop else _CLOSED if _is_closed(client) else None
    if trouble is not None:
        coroutine.close()
        raise ClusterError(trouble)
    future = asyncio.run_coroutine_threadsafe(coroutine, loop)
    done = threading.Event()
    future.add_done_callback(lambda _: done.set())
    try:
        while not done.wait(0.5):  # in steps, so that Ctrl-C gets through on every system
            if _is_closed(client):
                raise ClusterError(_CLOSED)
        return future.result()
    finally:
        future.cancel()


def _is_closed(client: Client) -> bool:
    return client.status in ("closing", "closed")


def _do_nothing() -> None:
    """Run as a task that does nothing."""
