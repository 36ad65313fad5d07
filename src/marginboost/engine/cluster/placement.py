"""Where the shards of a training set are, and how lost ones are made again."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import dask

from marginboost.engine.cluster.errors import ClusterError, LostWorkerError
from marginboost.engine.cluster.plugin import ShardPlugin, build_shard
from marginboost.engine.cluster.tasks import no_worker_left, outcome

if TYPE_CHECKING:
    import numpy as np
    from distributed import Future
    from numpy.typing import NDArray

    from marginboost.engine.cluster.line import Line

# Seconds between two looks at workers that are to come, or at shards that are being made.
_LOOK = 0.1


class Recipe(NamedTuple):
    """How to make a shard, now or again.

    Attributes
    ----------
    build : callable
        Makes a TrainingSet of `args`, on a worker.
    args : sequence
        May hold Dask futures, delayed objects and collections, which `build` gets as their values.
    worker : str or None
        Address of the worker that would do best. None: one that holds most of the `args`.
    """

    build: Callable[..., Any]
    args: Sequence[Any] = ()
    worker: str | None = None


class Backend(NamedTuple):
    """Where a shard lives, and how often it has been made."""

    address: str
    tenancy: int
    task: Future


class Placement:
    """The homes of the shards; all its coroutines run on the client's loop.

    Parameters
    ----------
    name : str
        Of the training set.
    line : Line
        To the workers.
    recipes : sequence of Recipe
        One a shard.
    """

    def __init__(self, name: str, line: Line, recipes: Sequence[Recipe]) -> None:
        self._name = name
        self._line = line
        self.recipes = list(recipes)
        self._homes: dict[int, Backend] = {}
        self._buried: set[str] = set()
        self._tenancy = 0
        self._registered = False
        self._lock = asyncio.Lock()  # two fits of the same rows may both find out that one is lost
        self.class_counts: dict[int, NDArray[np.int64]] = {}

    async def homes(self) -> dict[int, Backend]:
        """Return where every shard is, after making those that are nowhere."""
        async with self._lock:
            if not self._registered:
                await self._register()
            while homeless := [n for n in range(len(self.recipes)) if n not in self._homes]:
                await self._settle(homeless)
            return dict(self._homes)

    def bury(self, address: str) -> None:
        """Take a worker for lost, with all its shards."""
        self._buried.add(address)
        self.evict({n: home for n, home in self._homes.items() if home.address == address})

    def evict(self, homes: dict[int, Backend]) -> None:
        """Take shards for lost that are still where they were."""
        for number, home in homes.items():
            if self._homes.get(number) is home:
                del self._homes[number]
                home.task.release()

    def close(self) -> None:
        """Let go of all shards."""
        self.evict(dict(self._homes))

    async def _register(self) -> None:
        await self._line.workers()  # says so where the scheduler is gone
        registering = self._line.client.register_plugin(ShardPlugin())
        try:
            await asyncio.wait_for(registering, self._line.deadline)
        except TimeoutError as failure:
            raise ClusterError(
                f"Not all workers of the cluster have answered within {self._line.deadline:g} "
                "seconds. Remove those that do not answer from the cluster and fit again."
            ) from failure
        self._registered = True

    async def _settle(self, numbers: list[int]) -> None:
        """Make shards, each on the best worker there is; some may be lost again meanwhile."""
        living, frozen = await self._living()
        load = dict.fromkeys(living, 0)
        for home in self._homes.values():
            load[home.address] = load.get(home.address, 0) + 1
        tasks = []
        for number in numbers:
            wish = self.recipes[number].worker
            if wish not in living and self.class_counts:  # not the first time: spread them
                wish = min(living, key=load.__getitem__)
            if wish in living:
                load[wish] += 1
            # Dask may choose another worker, but not one that we take for lost.
            among = [wish] if wish in living and not frozen else living
            build = dask.delayed(build_shard, pure=False)
            task = self._line.client.compute(
                build(self._name, number, self.recipes[number].build, self.recipes[number].args),
                workers=among,
                allow_other_workers=not frozen,
            )
            tasks.append((number, task))
        for number, task in tasks:
            await self._move_in(number, task, living, frozen)

    async def _living(self) -> tuple[list[str], list[str]]:
        """Return the workers there are, after waiting for one, and those that do not answer."""
        until = time.monotonic() + self._line.deadline
        while True:
            known = await self._line.workers()
            self._buried.intersection_update(known)  # who comes back after that is somebody else
            living = [worker for worker in known if worker not in self._buried]
            if living:
                return living, [worker for worker in known if worker in self._buried]
            if time.monotonic() > until:
                raise no_worker_left(self._line.deadline)
            await asyncio.sleep(_LOOK)

    async def _move_in(
        self, number: int, task: Future, living: list[str], frozen: list[str]
    ) -> None:
        """Wait for a shard, however long it takes, while there is somebody who makes it."""
        result = asyncio.ensure_future(outcome(self._line, task))
        try:
            await self._watch(result, living, frozen)
            made = result.done()
        finally:
            result.cancel()
        if not made or result.result()[0] in self._buried:
            task.release()
            return
        address, self.class_counts[number] = result.result()
        self._tenancy += 1
        self._homes[number] = Backend(address, self._tenancy, task)

    async def _watch(
        self, result: asyncio.Future[Any], living: list[str], frozen: list[str]
    ) -> None:
        """Wait for a result, or until nobody lives who could make it."""
        start = time.monotonic()
        patience = _LOOK
        while not (await asyncio.wait({result}, timeout=patience))[0]:
            patience = min(2 * patience, self._line.deadline / 2)
            for worker in living:
                try:
                    await self._line.look_after(worker)
                except LostWorkerError:
                    self.bury(worker)
            if all(worker in self._buried for worker in living):
                return
            if frozen and time.monotonic() - start > self._line.deadline:
                raise ClusterError(
                    f"The worker at {frozen[0]} does not answer, and what is to be made again may be "
                    "waiting for data that only it holds. Remove that worker from the cluster and fit "
                    "again."
                )
