"""How a client reaches workers, and how it notices that they are gone."""

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

# Seconds until a silent worker is asked after for the first time; then twice as long, and so on.
_FIRST_LOOK = 0.25
# Seconds to connect to a worker before trying by way of the scheduler.
_DIRECT = 5.0
# Seconds between two tasks that show the scheduler that its cluster is in use.
_STIR = 15.0

_ASYNCHRONOUS = (
    "A fit waits for its cluster, so it cannot run on the event loop of an asynchronous client. Use a "
    "Client that is not asynchronous."
)
_CLOSED = "The client of the fit is closed. Fit again with one that stays open."


class Line:
    """Messages of a client to workers: straight, or through the scheduler where that is the only way.

    Parameters
    ----------
    client : distributed.Client
        Knows the cluster.
    deadline : float
        Seconds of silence after which somebody counts as gone.
    """

    def __init__(self, client: Client, deadline: float) -> None:
        self.client = client
        self.deadline = deadline
        self._straight: bool | None = None  # not known yet
        self._background: set[asyncio.Task[Any]] = set()
        self._stirred = time.monotonic()

    def stir(self) -> None:
        """Do a task now and then: a cluster that sees none for long may take itself for idle."""
        if time.monotonic() - self._stirred > _STIR:
            self._stirred = time.monotonic()
            self._task = self.client.submit(_do_nothing, pure=False)

    async def call(self, address: str, handler: str, **message: Any) -> Any:
        """Call a handler; an OSError means that the worker could not be reached."""
        if self._straight is None:
            self._straight = await self._can_connect(address)
        if self._straight:
            return await getattr(self.client.rpc(address), handler)(**message)
        return await self.client.scheduler.proxy(worker=address, msg={"op": handler, **message})

    async def ask(self, address: str, handler: str, **message: Any) -> Any:
        """Call a handler, however long it takes, while the worker shows signs of life.

        Raises
        ------
        LostWorkerError
            Where it shows none.
        """
        call = asyncio.ensure_future(self.call(address, handler, **message))
        patience = min(_FIRST_LOOK, self.deadline / 2)
        try:
            while True:
                done, _ = await asyncio.wait({call}, timeout=patience)
                if done:
                    return call.result()
                await self.look_after(address)
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
            Where the scheduler is gone.
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

    def tell(self, addresses: list[str], handler: str, **message: Any) -> None:
        """Call a handler of workers that may be gone, and wait for nothing; on the client's loop."""

        async def call(address: str) -> None:
            try:
                await asyncio.wait_for(self.call(address, handler, **message), self.deadline)
            except Exception:  # who is gone need not be told
                return

        for address in addresses:
            task = asyncio.ensure_future(call(address))
            self._background.add(task)
            task.add_done_callback(self._background.discard)

    async def _can_connect(self, address: str) -> bool:
        try:
            await asyncio.wait_for(getattr(self.client.rpc(address), PING)(), _DIRECT)
        except OSError:
            if address not in await self.workers():
                raise LostWorkerError(address) from None
            return False
        return True

    async def look_after(self, address: str) -> None:
        """Raise where a worker does not answer, or the scheduler has lost it."""
        if address not in await self.workers():
            raise LostWorkerError(address)
        try:
            reply = await asyncio.wait_for(self.call(address, PING), self.deadline / 2)
        except OSError as failure:
            raise LostWorkerError(address) from failure
        if reply is None:  # it is closing, and has no handler for that any more
            raise LostWorkerError(address)


def wait_for(client: Client, coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine on the client's loop; an interrupt ends it and comes through at once."""
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
    """Be a task."""
