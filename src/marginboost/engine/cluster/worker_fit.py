"""A worker's part in one fit."""

from __future__ import annotations

import asyncio
import functools
import pickle
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from marginboost.engine.cluster.message import Message, Reply, Status
from marginboost.engine.cluster.peers import AbandonedError, Inbox, Peers, Scratch, UnreachableError
from marginboost.engine.cluster.requests import LocalRequest, SharedRequest, total
from marginboost.engine.cluster.shard_state import ShardState

if TYPE_CHECKING:
    from marginboost.data.training_set import TrainingSet
    from marginboost.engine.cluster.peers import Frames, Post


class WorkerFit:
    """The states of a worker's shards, a thread to compute in, and the parts from peers.

    Parameters
    ----------
    address : str
        Address of the worker.
    n_threads : int
        Threads that an engine may use.
    post : callable
        Sends a part to a peer; called in the thread.
    """

    def __init__(self, address: str, n_threads: int, post: Post) -> None:
        self._address = address
        self._n_threads = n_threads
        self._post = post
        self._states: dict[int, ShardState] = {}
        # One thread, so that the work of an abandoned step ends before the next step begins.
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="marginboost")
        self._inbox = Inbox()
        self._scratch = Scratch()
        self._running: dict[int, tuple[Message, asyncio.Task[Reply]]] = {}

    async def run(self, message: Message, shards: dict[int, TrainingSet]) -> Reply:
        """Apply the commands, then evaluate the request."""
        missing = [number for number in message.shards if number not in shards]
        if missing:
            return Reply(Status.MISSING, value=missing)
        if self._inbox.is_over(message.step):
            return Reply(Status.ABANDONED)
        task = asyncio.ensure_future(self._run(message, shards))
        self._running[message.step] = message, task
        try:
            return await task
        except asyncio.CancelledError:
            if not self._inbox.is_over(message.step):
                raise
            return Reply(Status.ABANDONED)
        finally:
            self._running.pop(message.step, None)

    def receive(self, sender: str, step: int, number: int, part: Frames) -> None:
        """Receive a part from a peer."""
        self._inbox.put(sender, step, number, part)

    def lose(self, peer: str) -> None:
        """Let the steps fail that need a peer, because parts for it may be lost."""
        for step, (message, _) in self._running.items():
            if peer in message.owners:
                self._inbox.break_step(step, peer)

    def abandon(self, step: int) -> None:
        """End this step, and those before it."""
        self._inbox.end(step)
        for number, (_, task) in list(self._running.items()):
            if number <= step:
                task.cancel()

    def drop(self, numbers: set[int]) -> None:
        """Forget shards."""
        for number in numbers:
            self._states.pop(number, None)

    def close(self) -> None:
        """Forget everything."""
        self.abandon(max([-1, *self._running]))
        self._states = {}
        self._thread.shutdown(wait=False)

    async def _run(self, message: Message, shards: dict[int, TrainingSet]) -> Reply:
        loop = asyncio.get_running_loop()
        work = functools.partial(self._evaluate, message, shards)
        try:
            reply: Reply = await loop.run_in_executor(self._thread, work)
        except AbandonedError:
            return Reply(Status.ABANDONED)
        except UnreachableError as failure:
            return Reply(Status.NO_PEER, value=failure.args[0])
        except Exception as failure:
            return Reply(Status.FAILED, value=_portable(failure))
        self._inbox.end(message.step)
        return reply

    def _evaluate(self, message: Message, shards: dict[int, TrainingSet]) -> Reply:
        """Bring the shards up to date and evaluate the request; runs in the thread."""
        for number in message.shards:
            if number not in self._states:
                self._states[number] = ShardState(number, shards[number], self._n_threads)
        self.drop(set(self._states) - set(message.shards))
        states = [self._states[number] for number in message.shards]
        request = message.request
        end = message.start + len(message.commands)
        if isinstance(request, SharedRequest) and request.starts_anew:
            for state in states:
                state.position = min(state.position, end)
        lost = [s.number for s in states if not message.start <= s.position <= end]
        if lost:
            self.drop(set(lost))
            return Reply(Status.BEHIND, value=lost)
        for state in states:
            state.replay(message.start, message.commands)
        result = total([state.result for state in states]) if message.wants_result else None
        value = None
        if isinstance(request, LocalRequest):
            value = request.evaluate(states)
        elif isinstance(request, SharedRequest):
            peers = Peers(
                message.step,
                message.owners,
                self._address,
                self._inbox,
                self._post,
                self._scratch,
            )
            value = request.evaluate(states, peers, message.bounds)
        return Reply(Status.DONE, result, value)


def _portable(failure: Exception) -> Exception:
    """Return an exception that can be pickled: itself, or its text."""
    try:
        pickle.dumps(failure)
    except Exception:
        return RuntimeError(f"{type(failure).__name__}: {failure}")
    return failure
