"""The placement of a training set's shards on workers, and the rebuilding of lost ones."""

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
    from distributed import Future

    from marginboost.engine.cluster.connection import Connection

# Seconds between two checks while waiting for workers, or for shards that are being built.
_CHECK = 0.1


class Recipe(NamedTuple):
    """How to build, and later rebuild, a shard.

    Attributes
    ----------
    build : callable
        Builds a TrainingSet from `args`, on a worker.
    args : sequence
        May hold Dask futures, delayed objects and collections; `build` receives their values.
    worker : str or None
        Address of the preferred worker. None: the one that holds most of the `args`.
    """

    build: Callable[..., Any]
    args: Sequence[Any] = ()
    worker: str | None = None


class ShardLocation(NamedTuple):
    """The worker that holds a shard, the task that keeps it there, and its generation.

    Each build of a shard gets a generation of its own, larger than all before.
    """

    address: str
    generation: int
    task: Future


class Placement:
    """The locations of the shards; its coroutines run on the client's loop.

    Parameters
    ----------
    name : str
        Name of the training set.
    connection : Connection
        Connection to the workers.
    recipes : sequence of Recipe
        One per shard.
    """

    def __init__(self, name: str, connection: Connection, recipes: Sequence[Recipe]) -> None:
        self._name = name
        self._connection = connection
        self.recipes = list(recipes)
        self._locations: dict[int, ShardLocation] = {}
        self._lost: set[str] = set()
        self._generation = 0
        self._registered = False
        self._lock = asyncio.Lock()  # two fits of the same rows may both notice a loss

    async def locations(self) -> dict[int, ShardLocation]:
        """Return the location of every shard, after building the missing ones."""
        async with self._lock:
            if not self._registered:
                await self._register()
            while missing := [n for n in range(len(self.recipes)) if n not in self._locations]:
                await self._build(missing)
            return dict(self._locations)

    @property
    def n_workers(self) -> int:
        """Number of workers that hold shards."""
        return len({location.address for location in self._locations.values()})

    def mark_lost(self, address: str) -> None:
        """Mark a worker and all its shards as lost."""
        self._lost.add(address)
        self.forget({n: place for n, place in self._locations.items() if place.address == address})

    def forget(self, locations: dict[int, ShardLocation]) -> None:
        """Forget the locations of shards, unless they have been rebuilt since."""
        for number, location in locations.items():
            if self._locations.get(number) is location:
                del self._locations[number]
                location.task.release()

    def close(self) -> None:
        """Release all shards."""
        self.forget(dict(self._locations))

    async def _register(self) -> None:
        await self._connection.workers()  # raises if the scheduler is gone
        registering = self._connection.client.register_plugin(ShardPlugin())
        try:
            await asyncio.wait_for(registering, self._connection.deadline)
        except TimeoutError as failure:
            raise ClusterError(
                f"All workers of the cluster must answer within {self._connection.deadline:g} seconds; "
                "some did not. Remove them from the cluster and fit again."
            ) from failure
        self._registered = True

    async def _build(self, numbers: list[int]) -> None:
        """Build shards, each on the best worker available; some may be lost again meanwhile."""
        living, unresponsive = await self._living()
        load = dict.fromkeys(living, 0)
        for location in self._locations.values():
            load[location.address] = load.get(location.address, 0) + 1
        tasks = []
        for number in numbers:
            preferred = self.recipes[number].worker
            if preferred not in living and self._generation:  # not the first time: spread them
                preferred = min(living, key=load.__getitem__)
            if preferred in living:
                load[preferred] += 1
            # Dask may choose another worker, but not one that is marked as lost.
            among = [preferred] if preferred in living and not unresponsive else living
            build = dask.delayed(build_shard, pure=False)
            task = self._connection.client.compute(
                build(self._name, number, self.recipes[number].build, self.recipes[number].args),
                workers=among,
                allow_other_workers=not unresponsive,
            )
            tasks.append((number, task))
        for number, task in tasks:
            await self._wait_for_shard(number, task, living, unresponsive)

    async def _living(self) -> tuple[list[str], list[str]]:
        """Wait for a live worker; return the live workers and those that do not answer."""
        until = time.monotonic() + self._connection.deadline
        while True:
            known = await self._connection.workers()
            self._lost.intersection_update(known)  # after that, the address is a new worker's
            living = [worker for worker in known if worker not in self._lost]
            if living:
                return living, [worker for worker in known if worker in self._lost]
            if time.monotonic() > until:
                raise no_worker_left(self._connection.deadline)
            await asyncio.sleep(_CHECK)

    async def _wait_for_shard(
        self, number: int, task: Future, living: list[str], unresponsive: list[str]
    ) -> None:
        """Wait for a shard as long as a worker that may be building it is alive."""
        result = asyncio.ensure_future(outcome(self._connection, task))
        try:
            await self._watch(result, living, unresponsive)
            built = result.done()
        finally:
            result.cancel()
        if not built or result.result() in self._lost:
            task.release()
            return
        self._generation += 1
        self._locations[number] = ShardLocation(result.result(), self._generation, task)

    async def _watch(
        self, result: asyncio.Future[Any], living: list[str], unresponsive: list[str]
    ) -> None:
        """Wait for a result, or until no worker is left that could compute it."""
        start = time.monotonic()
        patience = _CHECK
        while not (await asyncio.wait({result}, timeout=patience))[0]:
            patience = min(2 * patience, self._connection.deadline / 2)
            for worker in living:
                try:
                    await self._connection.check_alive(worker)
                except LostWorkerError:
                    self.mark_lost(worker)
            if all(worker in self._lost for worker in living):
                return
            if unresponsive and time.monotonic() - start > self._connection.deadline:
                raise ClusterError(
                    f"The worker at {unresponsive[0]} does not answer, and the shards to rebuild may "
                    "need data that only this worker holds. Remove it from the cluster and fit again."
                )
