"""A worker's connections to other workers, on which parts of sums go out without being answered."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from distributed.comm import connect

from marginboost.engine.cluster.message import STREAM

if TYPE_CHECKING:
    from distributed import Worker
    from distributed.comm import Comm

__all__ = ["Streams"]


class Streams:
    """One connection to each peer, opened when it is needed; used on the worker's loop.

    A call with an answer for each part would take several times as long. So nobody confirms a part: that
    a connection breaks is noticed by waiting for what never comes on it.

    Parameters
    ----------
    worker : distributed.Worker
        The worker.
    lost : callable
        Gets the address of a peer whose connection broke.
    """

    def __init__(self, worker: Worker, lost: Callable[[str], None]) -> None:
        self._worker = worker
        self._lost = lost
        self._comms: dict[str, asyncio.Task[Comm]] = {}
        self._tasks: set[asyncio.Task[Any]] = set()

    def post(self, peer: str, message: dict[str, Any]) -> None:
        """Send a message to a peer, without waiting."""
        opening = self._comms.get(peer)
        if opening is None:
            opening = self._comms[peer] = self._start(self._open(peer))
        self._start(self._write(peer, opening, message))

    def close(self) -> None:
        """Close all connections."""
        for opening in self._comms.values():
            if opening.done() and not opening.cancelled() and opening.exception() is None:
                opening.result().abort()
        self._comms = {}
        for task in self._tasks:
            task.cancel()

    def _start(self, coroutine: Any) -> asyncio.Task[Any]:
        task: asyncio.Task[Any] = asyncio.ensure_future(coroutine)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _open(self, peer: str) -> Comm:
        comm = await connect(peer, **self._worker.connection_args)
        comm.allow_offload = False  # else large parts would pass through another thread
        await comm.write({"op": STREAM, "sender": self._worker.address, "reply": False})
        self._start(self._watch(peer, comm))
        return comm

    async def _write(self, peer: str, opening: asyncio.Task[Comm], message: dict[str, Any]) -> None:
        try:
            comm = opening.result() if opening.done() else await asyncio.shield(opening)
            await comm.write(message)
        except Exception:  # whatever it is, the peer will not get the message
            self._break(peer, opening)

    async def _watch(self, peer: str, comm: Comm) -> None:
        try:
            await comm.read()  # a peer never writes here
        except OSError:
            opening = self._comms.get(peer)
            if opening is not None and opening.done() and opening.result() is comm:
                self._break(peer, opening)

    def _break(self, peer: str, opening: asyncio.Task[Comm]) -> None:
        """Forget a connection, so that the next message opens another."""
        if self._comms.get(peer) is opening:
            del self._comms[peer]
            self._lost(peer)
