"""The plugin of every worker: shards of training sets, and handlers for a fit's messages."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from distributed import WorkerPlugin, get_worker
from distributed.protocol import Serialized, to_serialize

from marginboost.engine.cluster.message import (
    ABANDON,
    CLOSE,
    PING,
    STEP,
    STREAM,
    Message,
    Reply,
)
from marginboost.engine.cluster.streams import Streams
from marginboost.engine.cluster.worker_fit import WorkerFit

if TYPE_CHECKING:
    from collections.abc import Callable

    from distributed import Worker
    from distributed.comm import Comm

    from marginboost.data.training_set import TrainingSet

# Number of closed fits to remember: a part that arrives late must not reopen one.
_CLOSED = 256


class ShardPlugin(WorkerPlugin):  # type: ignore[misc]
    """Hold shards of training sets, and the fits that use them."""

    name = "marginboost"
    idempotent = True

    def setup(self, worker: Worker) -> None:
        """Add the handlers of our messages to the worker."""
        self._worker = worker
        self._streams = Streams(worker, self._lose)
        self._shards: dict[str, dict[int, TrainingSet]] = {}
        self._keys: dict[str, tuple[str, int]] = {}  # Dask keeps a shard as long as its task
        self._fits: dict[str, WorkerFit] = {}
        self._data_of: dict[str, str] = {}
        self._closed: dict[str, None] = {}
        self._handlers: dict[str, Callable[..., Any]] = {
            STEP: self._run,
            STREAM: self._receive,
            ABANDON: self._abandon,
            CLOSE: self._close,
            PING: self._ping,
        }
        worker.handlers.update(self._handlers)

    def teardown(self, worker: Worker) -> None:
        """Forget everything."""
        for name in self._handlers:
            worker.handlers.pop(name, None)
        for fit in list(self._fits):
            self._close(fit)
        self._shards = {}

    def transition(self, key: Any, start: str, finish: str, **kwargs: Any) -> None:
        """Forget a shard when Dask forgets its task: nobody needs it, or the client is gone."""
        if finish in ("released", "forgotten") and key in self._keys:
            data, number = self._keys.pop(key)
            if (data, number) not in self._keys.values():
                self._forget(data, number)

    def store(self, data: str, number: int, key: str, shard: TrainingSet) -> str:
        """Keep a shard as long as Dask keeps the task `key`; return this worker's address."""
        self._shards.setdefault(data, {})[number] = shard
        self._keys[key] = (data, number)
        return str(self._worker.address)

    def _forget(self, data: str, number: int) -> None:
        self._shards.get(data, {}).pop(number, None)
        if not self._shards.get(data):
            self._shards.pop(data, None)
        for name in [name for name, of in self._data_of.items() if of == data]:
            self._fits[name].drop({number})
            if data not in self._shards:
                self._discard(name)  # but shards may be built here again

    def _fit(self, name: str) -> WorkerFit | None:
        if name in self._closed:
            return None
        if name not in self._fits:
            loop = asyncio.get_running_loop()

            def post(peer: str, step: int, number: int, part: list[Any]) -> None:
                packed = Serialized({}, part)
                message = {"fit": name, "step": step, "number": number, "part": packed}
                loop.call_soon_threadsafe(self._streams.post, peer, message)

            threads = self._worker.state.nthreads
            self._fits[name] = WorkerFit(str(self._worker.address), threads, post)
        return self._fits[name]

    async def _run(self, message: Message) -> dict[str, Any]:
        fit = self._fit(message.fit)
        if fit is None:
            raise RuntimeError("The fit is closed.")
        self._data_of[message.fit] = message.data
        reply: Reply = await fit.run(message, self._shards.get(message.data, {}))
        return {"reply": to_serialize(reply)}

    async def _receive(self, comm: Comm, sender: str) -> str:
        """Receive the parts of a peer, as long as its connection lasts."""
        comm.allow_offload = False
        comm.deserialize = False  # the thread that computes does that
        while True:
            try:
                message = await comm.read()
            except OSError:
                return "dont-reply"
            fit = self._fit(message.pop("fit"))
            if fit is not None:
                fit.receive(sender, message["step"], message["number"], message["part"].frames)

    def _lose(self, peer: str) -> None:
        for fit in self._fits.values():
            fit.lose(peer)

    def _abandon(self, fit: str, step: int) -> str:
        worker_fit = self._fit(fit)  # a new one if the step's message comes later
        if worker_fit is not None:
            worker_fit.abandon(step)
        return "OK"

    def _close(self, fit: str) -> str:
        self._closed[fit] = None
        if len(self._closed) > _CLOSED:
            del self._closed[next(iter(self._closed))]
        self._discard(fit)
        return "OK"

    def _discard(self, fit: str) -> None:
        self._data_of.pop(fit, None)
        worker_fit = self._fits.pop(fit, None)
        if worker_fit is not None:
            worker_fit.close()
        if not self._fits:
            self._streams.close()

    def _ping(self) -> str:
        return "OK"


def build_shard(data: str, number: int, build: Callable[..., Any], args: list[Any]) -> str:
    """Build a shard on the worker that runs this task, keep it there, and return its address."""
    worker = get_worker()
    plugin: ShardPlugin = worker.plugins[ShardPlugin.name]
    key = worker.get_current_task()
    return plugin.store(data, number, key, build(*args))
