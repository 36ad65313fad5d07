"""A worker's part in one fit."""

from __future__ import annotations

import asyncio
import functools
import pickle
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from marginboost.engine.cluster.message import Answer, Ask, Slice, Status
from marginboost.engine.cluster.questions import LocalQuestion, total
from marginboost.engine.cluster.ranges import bin_slices
from marginboost.engine.cluster.replica import Replica
from marginboost.engine.cluster.stumps.searches import Kept, Search, UnkeptError

if TYPE_CHECKING:
    from marginboost.data.training_set import TrainingSet

# Sends a slice to the worker at an address.
Send = Callable[[str, int, Slice], Awaitable[None]]


class _UnreachableError(Exception):
    """Another worker does not take what it is sent."""


class HostedFit:
    """The replicas of a worker's shards, a thread for their work, and the slices that peers send.

    Parameters
    ----------
    address : str
        Of the worker.
    n_threads : int
        Threads that an engine may use.
    send : callable
        Sends a slice to a peer, by its address and the number of the step.
    """

    def __init__(self, address: str, n_threads: int, send: Send) -> None:
        self._address = address
        self._n_threads = n_threads
        self._send = send
        self._replicas: dict[int, Replica] = {}
        # One thread, so that work of a step that was abandoned ends before that of the next begins.
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="marginboost")
        self._kept = Kept()
        self._last_step = -1  # that is over
        self._slices: dict[int, dict[str, Slice]] = {}
        self._arrival = asyncio.Event()
        self._running: dict[int, asyncio.Task[Answer]] = {}

    async def ask(self, ask: Ask, shards: dict[int, TrainingSet]) -> Answer:
        """Apply commands, then answer a question."""
        missing = [number for number in ask.shards if number not in shards]
        if missing:
            return Answer(Status.MISSING, found=missing)
        if ask.step <= self._last_step:
            return Answer(Status.ABANDONED)
        task = asyncio.ensure_future(self._answer(ask, shards))
        self._running[ask.step] = task
        try:
            return await task
        except asyncio.CancelledError:
            if ask.step > self._last_step:
                raise
            return Answer(Status.ABANDONED)
        finally:
            self._running.pop(ask.step, None)

    def take(self, sender: str, step: int, part: Slice) -> None:
        """Take what a peer has summed, which may come before the client's message."""
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
            self._replicas.pop(number, None)

    @property
    def empty(self) -> bool:
        """Whether there is no shard here."""
        return not self._replicas

    def close(self) -> None:
        """Forget everything."""
        self.abandon(max([self._last_step, *self._running]))
        self._replicas = {}
        self._thread.shutdown(wait=False)

    def _end(self, step: int) -> None:
        self._last_step = max(self._last_step, step)
        self._slices = {number: s for number, s in self._slices.items() if number > step}

    async def _answer(self, ask: Ask, shards: dict[int, TrainingSet]) -> Answer:
        try:
            answer: Answer = await self._work(self._follow, ask, shards)
            if isinstance(ask.question, Search) and answer.status == Status.DONE:
                answer.found = await self._reduce(ask, ask.question, answer.found)
        except UnkeptError:
            return Answer(Status.UNKEPT)
        except _UnreachableError as failure:
            return Answer(Status.NO_PEER, found=failure.args[0])
        except Exception as failure:
            return Answer(Status.FAILED, found=_portable(failure))
        self._end(ask.step)
        return answer

    async def _work(self, function: Callable[..., Any], *args: Any) -> Any:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._thread, functools.partial(function, *args))

    def _follow(self, ask: Ask, shards: dict[int, TrainingSet]) -> Answer:
        """Bring the replicas up to date and let them answer; in the thread."""
        for number in ask.shards:
            if number not in self._replicas:
                self._replicas[number] = Replica(number, shards[number], self._n_threads)
        self.drop(set(self._replicas) - set(ask.shards))
        replicas = [self._replicas[number] for number in ask.shards]
        behind = [replica.number for replica in replicas if replica.position < ask.start]
        if behind:
            return Answer(Status.BEHIND, found=behind)
        for replica in replicas:
            replica.follow(ask.start, ask.commands)
        answer = total([replica.answer for replica in replicas]) if ask.wants_answer else None
        question = ask.question
        if isinstance(question, LocalQuestion):
            return Answer(Status.DONE, answer, question.answer(replicas))
        return Answer(
            Status.DONE, answer, question.fill(replicas) if isinstance(question, Search) else None
        )

    async def _reduce(self, ask: Ask, search: Search, sums: Any) -> Any:
        """Send every owner its slice; scan the slices that all have sent of our own."""
        n_bins = search.n_bins(next(iter(self._replicas.values())).data.binned.n_bins)
        slices = bin_slices(n_bins, ask.bounds)
        me = ask.owners.index(self._address)
        if len(ask.owners) == 1:
            return await self._work(search.scan, sums, n_bins, self._kept)
        sending = [
            asyncio.ensure_future(self._push(ask, peer, Slice(search.cut(sums, bins))))
            for peer, bins in zip(ask.owners, slices, strict=True)
            if peer != self._address and bins.stop > bins.start
        ]
        try:
            ours = slices[me]
            parts = [Slice(search.cut(sums, ours))]
            if ours.stop > ours.start:
                parts += await self._gather(ask, sending)
            await asyncio.gather(*sending)
        finally:
            for task in sending:
                task.cancel()
        if ours.stop == ours.start:
            return None
        return await self._work(
            self._scan, search, parts, n_bins[ask.bounds[me] : ask.bounds[me + 1]]
        )

    def _scan(self, search: Search, parts: list[Slice], n_bins: Any) -> Any:
        sums = [total(same) for same in zip(*[part.arrays for part in parts], strict=True)]
        return search.scan(sums, n_bins, self._kept)

    async def _push(self, ask: Ask, peer: str, part: Slice) -> None:
        try:
            await asyncio.wait_for(self._send(peer, ask.step, part), ask.deadline)
        except OSError as failure:
            raise _UnreachableError(peer) from failure

    async def _gather(self, ask: Ask, sending: list[asyncio.Task[None]]) -> list[Slice]:
        """Wait for the slices of all peers; for a peer that is gone until the client abandons."""
        peers = [owner for owner in ask.owners if owner != self._address]
        while True:
            here = self._slices.get(ask.step, {})
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
                    task.result()  # raises where a peer cannot be reached


def _portable(failure: Exception) -> Exception:
    """Return an exception that can be sent: itself, or its words."""
    try:
        pickle.dumps(failure)
    except Exception:
        return RuntimeError(f"{type(failure).__name__}: {failure}")
    return failure
