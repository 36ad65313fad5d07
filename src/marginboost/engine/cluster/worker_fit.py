"""A worker's part in one fit."""

from __future__ import annotations

import asyncio
import functools
import pickle
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from marginboost.engine.cluster.message import Message, Reply, Slice, Status
from marginboost.engine.cluster.ranges import bin_slices
from marginboost.engine.cluster.requests import LocalRequest, total
from marginboost.engine.cluster.search import HistogramCache, MissingHistogramError, Search
from marginboost.engine.cluster.shard_state import ShardState

if TYPE_CHECKING:
    from marginboost.data.training_set import TrainingSet

# Send a slice to the worker at an address.
Send = Callable[[str, int, Slice], Awaitable[None]]


class _UnreachableError(Exception):
    """Another worker does not accept a slice."""


class WorkerFit:
    """The states of a worker's shards, a thread to compute in, and the slices from peers.

    Parameters
    ----------
    address : str
        Address of the worker.
    n_threads : int
        Threads that an engine may use.
    send : callable
        Sends a slice to a peer, given its address and the number of the step.
    """

    def __init__(self, address: str, n_threads: int, send: Send) -> None:
        self._address = address
        self._n_threads = n_threads
        self._send = send
        self._states: dict[int, ShardState] = {}
        # One thread, so that the work of an abandoned step ends before the next step begins.
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="marginboost")
        self._cache = HistogramCache()
        self._last_step = -1  # the last one that is over
        self._slices: dict[int, dict[str, Slice]] = {}
        self._arrival = asyncio.Event()
        self._running: dict[int, asyncio.Task[Reply]] = {}

    async def run(self, message: Message, shards: dict[int, TrainingSet]) -> Reply:
        """Apply the commands, then evaluate the request."""
        missing = [number for number in message.shards if number not in shards]
        if missing:
            return Reply(Status.MISSING, value=missing)
        if message.step <= self._last_step:
            return Reply(Status.ABANDONED)
        task = asyncio.ensure_future(self._run(message, shards))
        self._running[message.step] = task
        try:
            return await task
        except asyncio.CancelledError:
            if message.step > self._last_step:
                raise
            return Reply(Status.ABANDONED)
        finally:
            self._running.pop(message.step, None)

    def receive(self, sender: str, step: int, part: Slice) -> None:
        """Receive a peer's sums, which may arrive before the client's message."""
        if step > self._last_step:
            self._slices.setdefault(step, {})[sender] = part
            self._arrival.set()

    def abandon(self, step: int) -> None:
        """End this step, and those before it."""
        self._end(step)
        for number, task in list(self._running.items()):
            if number <= step:
                task.cancel()

    def drop(self, numbers: set[int]) -> None:
        """Forget shards."""
        for number in numbers:
            self._states.pop(number, None)

    def close(self) -> None:
        """Forget everything."""
        self.abandon(max([self._last_step, *self._running]))
        self._states = {}
        self._thread.shutdown(wait=False)

    def _end(self, step: int) -> None:
        self._last_step = max(self._last_step, step)
        self._slices = {number: s for number, s in self._slices.items() if number > step}

    async def _run(self, message: Message, shards: dict[int, TrainingSet]) -> Reply:
        try:
            reply: Reply = await self._work(self._replay, message, shards)
            searches = isinstance(message.request, Search) and len(message.bounds) > 0
            if searches and reply.status == Status.DONE:
                reply.value = await self._reduce(message, message.request, reply.value)
        except MissingHistogramError:
            return Reply(Status.NO_HISTOGRAM)
        except _UnreachableError as failure:
            return Reply(Status.NO_PEER, value=failure.args[0])
        except Exception as failure:
            return Reply(Status.FAILED, value=_portable(failure))
        self._end(message.step)
        return reply

    async def _work(self, function: Callable[..., Any], *args: Any) -> Any:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._thread, functools.partial(function, *args))

    def _replay(self, message: Message, shards: dict[int, TrainingSet]) -> Reply:
        """Bring the shards up to date and evaluate the request; runs in the thread."""
        for number in message.shards:
            if number not in self._states:
                self._states[number] = ShardState(number, shards[number], self._n_threads)
        self.drop(set(self._states) - set(message.shards))
        states = [self._states[number] for number in message.shards]
        behind = [state.number for state in states if state.position < message.start]
        if behind:
            return Reply(Status.BEHIND, value=behind)
        for state in states:
            state.replay(message.start, message.commands)
        result = total([state.result for state in states]) if message.wants_result else None
        request = message.request
        if isinstance(request, LocalRequest):
            return Reply(Status.DONE, result, request.evaluate(states))
        sums = request.fill(states) if isinstance(request, Search) else None
        return Reply(Status.DONE, result, sums)

    async def _reduce(self, message: Message, search: Any, sums: Any) -> Any:
        """Send every owner its slice; scan our own features, with the slices of all peers."""
        n_bins = search.n_bins(next(iter(self._states.values())).data.binned.n_bins)
        slices = bin_slices(n_bins, message.bounds)
        me = message.owners.index(self._address)
        if len(message.owners) == 1:
            return await self._work(search.scan, sums, n_bins, self._cache)
        sending = [
            asyncio.ensure_future(self._push(message, peer, Slice(search.cut(sums, bins))))
            for peer, bins in zip(message.owners, slices, strict=True)
            if peer != self._address and bins.stop > bins.start
        ]
        found = None
        try:
            ours = slices[me]
            parts = [Slice(search.cut(sums, ours))]
            if ours.stop > ours.start:
                parts += await self._gather(message, sending)
                begin, end = message.bounds[me : me + 2]
                found = await self._work(self._scan, search, parts, n_bins[begin:end], begin)
            await asyncio.gather(*sending)  # peers have confirmed their slices while we scanned
        finally:
            for task in sending:
                task.cancel()
        return found

    def _scan(self, search: Search, parts: list[Slice], n_bins: Any, begin: int) -> Any:
        sums = [total(same) for same in zip(*[part.arrays for part in parts], strict=True)]
        return search.scan(sums, n_bins, self._cache, begin)

    async def _push(self, message: Message, peer: str, part: Slice) -> None:
        try:
            await asyncio.wait_for(self._send(peer, message.step, part), message.deadline)
        except OSError as failure:
            raise _UnreachableError(peer) from failure

    async def _gather(self, message: Message, sending: list[asyncio.Task[None]]) -> list[Slice]:
        """Wait for the slices of all peers; if one is gone, until the client abandons the step."""
        peers = [owner for owner in message.owners if owner != self._address]
        while True:
            here = self._slices.get(message.step, {})
            if all(peer in here for peer in peers):
                return [here[peer] for peer in peers]
            self._arrival.clear()
            arrival = asyncio.ensure_future(self._arrival.wait())
            watched = {arrival, *[task for task in sending if not task.done()]}
            try:
                await asyncio.wait(watched, return_when=asyncio.FIRST_COMPLETED)
            finally:
                arrival.cancel()
            for task in sending:
                if task.done():
                    task.result()  # raises if a peer cannot be reached


def _portable(failure: Exception) -> Exception:
    """Return an exception that can be pickled: itself, or its text."""
    try:
        pickle.dumps(failure)
    except Exception:
        return RuntimeError(f"{type(failure).__name__}: {failure}")
    return failure
