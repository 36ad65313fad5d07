"""The client's side of a fit: it sends commands and requests, and recovers from lost workers."""

from __future__ import annotations

import asyncio
import uuid
import weakref
from typing import TYPE_CHECKING, Any

from distributed.protocol import to_serialize

from marginboost.engine.cluster.connection import Connection, wait_for
from marginboost.engine.cluster.errors import ClusterError, LostWorkerError
from marginboost.engine.cluster.log import CommandLog
from marginboost.engine.cluster.message import ABANDON, CLOSE, STEP, Message, Reply, Status
from marginboost.engine.cluster.ranges import balanced_bounds
from marginboost.engine.cluster.requests import Request, total
from marginboost.engine.cluster.search import Search

if TYPE_CHECKING:
    from distributed import Client

    from marginboost.engine.cluster.placement import ShardLocation
    from marginboost.engine.cluster.training_set import ClusterTrainingSet

# Number of times a step is tried if no worker was lost but not all could do it.
_MAX_TRIES = 3


class Session:
    """One fit on the workers that hold a training set's shards.

    A command is appended to a log and sent with the next request, so it costs no message. Losing a
    worker costs time but changes no result: its shards are rebuilt elsewhere and replay the log.

    Parameters
    ----------
    data : ClusterTrainingSet
        The rows.
    """

    def __init__(self, data: ClusterTrainingSet) -> None:
        self._name = f"fit-{uuid.uuid4().hex}"
        self._data = data
        self._log = CommandLog()
        self._positions: dict[int, int] = {}  # in the log, by the shard's generation
        self._step = 0
        self._contacted: set[str] = set()  # all workers that may know of this fit
        self._finalizer = weakref.finalize(
            self, _close, data.client, data.connection, self._name, self._contacted
        )
        # If the client ends without closing, Dask frees the shards, and with them their fits.
        self._finalizer.atexit = False

    @property
    def length(self) -> int:
        """Number of commands so far."""
        return len(self._log)

    def command(self, name: str, *args: Any, by_shard: bool = False) -> None:
        """Log a call that changes the state of the shards."""
        self._log.append(name, args, by_shard=by_shard)

    def send(self, request: Request) -> Any:
        """Return the value of a request, after all commands so far."""
        return self._run_step(request, wants_result=False)[1]

    def result(self, request: Request | None = None) -> tuple[Any, Any]:
        """Return the result of the last command and, in the same message, the value of a request."""
        return self._run_step(request, wants_result=True)

    def record(self, *commands: tuple[str, tuple[Any, ...]]) -> None:
        """Log what the last request has done to the shards, for those that will be rebuilt."""
        for name, args in commands:
            self._log.append(name, args)
        self._positions = dict.fromkeys(self._positions, len(self._log))

    def close(self) -> None:
        """Let the workers forget the fit."""
        self._finalizer()

    def _run_step(self, request: Request | None, *, wants_result: bool) -> tuple[Any, Any]:
        if not self._finalizer.alive or self._data.closed:
            raise ClusterError("The fit, or its training set, is closed. Fit again.")
        bounds, replies = wait_for(self._data.client, self._send_until_done(request, wants_result))
        return self._joined(request, bounds, replies)

    async def _send_until_done(
        self, request: Request | None, wants_result: bool
    ) -> tuple[list[int], list[Reply]]:
        """Send a step, and send it again after workers were lost.

        Returns
        -------
        The bounds of the owners' features, and the replies of all workers.
        """
        self._data.connection.keep_alive()
        tries = 0
        while tries < _MAX_TRIES:
            locations = await self._data.placement.locations()
            messages = self._messages(locations, request, wants_result)
            replies = await self._send_all(messages)
            done = [r for r in replies.values() if r is not None and r.status == Status.DONE]
            if len(done) == len(messages):
                self._positions = {
                    location.generation: len(self._log) for location in locations.values()
                }
                return next(iter(messages.values())).bounds, done
            tries += 0 if self._recover(locations, replies) else 1
        unreachable = [r.value for r in replies.values() if r and r.status == Status.NO_PEER]
        raise ClusterError(
            f"The worker at {unreachable[0] if unreachable else next(iter(messages))} answers the "
            "client, but not the other workers of the fit. Workers must be able to connect to each "
            "other."
        )

    def _messages(
        self,
        locations: dict[int, ShardLocation],
        request: Request | None,
        wants_result: bool,
    ) -> dict[str, Message]:
        self._step += 1
        by_address = _by_address(locations)
        owners = list(by_address)
        self._contacted.update(owners)
        bounds: list[int] = []
        n_bins = self._data.binned.n_bins
        if isinstance(request, Search) and not request.suits_client(
            n_bins, self._data.n_classes, len(owners)
        ):
            bounds = balanced_bounds(n_bins, len(owners))
        messages = {}
        for address, shards in by_address.items():
            start = min(self._positions.get(locations[shard].generation, 0) for shard in shards)
            messages[address] = Message(
                self._name,
                self._data.name,
                self._step,
                shards,
                start,
                self._log.since(start, shards),
                wants_result,
                request,
                owners,
                bounds,
            )
        return messages

    async def _send_all(self, messages: dict[str, Message]) -> dict[str, Reply | None]:
        """Send a step to all workers; if one of them cannot do it, abandon it on the others."""
        connection = self._data.connection
        calls = {
            asyncio.ensure_future(
                connection.call_and_watch(address, STEP, message=to_serialize(message))
            ): address
            for address, message in messages.items()
        }
        replies: dict[str, Reply | None] = {}
        waiting = set(calls)
        abandoned = False
        try:
            while waiting:
                done, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
                for call in done:
                    replies[calls[call]] = _reply_of(call)
                failed = any(r is None or r.status != Status.DONE for r in replies.values())
                if failed and waiting and not abandoned:
                    abandoned = True
                    self._abandon([calls[call] for call in waiting])
        except BaseException:  # for example an interrupt
            self._abandon(list(messages))
            raise
        finally:
            for call in calls:
                call.cancel()
        return {address: replies[address] for address in messages}

    def _abandon(self, addresses: list[str]) -> None:
        self._data.connection.notify(addresses, ABANDON, fit=self._name, step=self._step)

    def _recover(
        self, locations: dict[int, ShardLocation], replies: dict[str, Reply | None]
    ) -> bool:
        """Forget what is lost, so that it is rebuilt; return False if nothing is lost."""
        recovered = False
        for address, reply in replies.items():
            if reply is None:
                self._data.placement.mark_lost(address)
            elif reply.status == Status.FAILED:
                raise reply.value
            elif reply.status == Status.MISSING:
                self._data.placement.forget({number: locations[number] for number in reply.value})
            elif reply.status == Status.BEHIND:
                for number in reply.value:
                    self._positions.pop(locations[number].generation, None)
            else:
                continue
            recovered = True
        return recovered

    def _joined(
        self, request: Request | None, bounds: list[int], replies: list[Reply]
    ) -> tuple[Any, Any]:
        """Join the replies of all workers."""
        result = total([reply.result for reply in replies])
        if request is None:
            return result, None
        values = [reply.value for reply in replies]
        if isinstance(request, Search) and not bounds:
            n_bins = self._data.binned.n_bins
            values, bounds = [request.scan(total(values), n_bins)], [0, len(n_bins)]
        return result, request.join(values, bounds)


def _by_address(locations: dict[int, ShardLocation]) -> dict[str, list[int]]:
    """Return the shards of each worker, in the order of the workers' first shards."""
    shards: dict[str, list[int]] = {}
    for number in sorted(locations):
        shards.setdefault(locations[number].address, []).append(number)
    return shards


def _reply_of(call: asyncio.Task[dict[str, Reply] | None]) -> Reply | None:
    """Return a worker's reply; None if the worker is lost."""
    try:
        reply = call.result()
    except LostWorkerError:
        return None
    # None: the worker is closing, and its handlers are already gone.
    return None if reply is None else reply["reply"]


def _close(client: Client, connection: Connection, name: str, contacted: set[str]) -> None:
    """Let workers forget a fit, on the client's loop."""
    if client.status == "running":
        client.loop.add_callback(connection.notify, list(contacted), CLOSE, fit=name)
