"""What a fit puts on every worker: its shards, and handlers for its messages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from distributed import WorkerPlugin, get_worker
from distributed.protocol import to_serialize

from marginboost.engine.cluster.hosted_fit import HostedFit
from marginboost.engine.cluster.message import ABANDON, ASK, CLOSE, PING, TAKE, Answer, Ask, Slice

if TYPE_CHECKING:
    from collections.abc import Callable

    from distributed import Worker

    from marginboost.data.training_set import TrainingSet

# So many names of closed fits are remembered: a slice that comes late must not open one again.
_CLOSED = 256


class ShardPlugin(WorkerPlugin):  # type: ignore[misc]
    """Keeps shards of training sets, and the fits that use them."""

    name = "marginboost"
    idempotent = True

    def setup(self, worker: Worker) -> None:
        """Let the worker answer our messages."""
        self._worker = worker
        self._shards: dict[str, dict[int, TrainingSet]] = {}
        self._keys: dict[str, tuple[str, int]] = {}  # Dask keeps a shard as long as its task
        self._fits: dict[str, HostedFit] = {}
        self._data_of: dict[str, str] = {}
        self._closed: dict[str, None] = {}
        self._handlers: dict[str, Callable[..., Any]] = {
            ASK: self._ask,
            TAKE: self._take,
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
        """Forget a shard when Dask forgets its task: nobody wants it, or the client is gone."""
        if finish in ("released", "forgotten") and key in self._keys:
            data, number = self._keys.pop(key)
            if (data, number) not in self._keys.values():
                self._forget(data, number)

    def store(self, data: str, number: int, key: str, shard: TrainingSet) -> str:
        """Keep a shard for as long as the task `key`; return this worker's address."""
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
                self._discard(name)  # but shards may come here again

    def _fit(self, name: str) -> HostedFit | None:
        if name in self._closed:
            return None
        if name not in self._fits:

            async def send(peer: str, step: int, part: Slice) -> None:
                take = getattr(self._worker.rpc(peer), TAKE)
                sender = self._worker.address
                await take(fit=name, step=step, sender=sender, part=to_serialize(part))

            threads = self._worker.state.nthreads
            self._fits[name] = HostedFit(str(self._worker.address), threads, send)
        return self._fits[name]

    async def _ask(self, ask: Ask) -> dict[str, Any]:
        fit = self._fit(ask.fit)
        if fit is None:
            raise RuntimeError("The fit is closed.")
        self._data_of[ask.fit] = ask.data
        answer: Answer = await fit.ask(ask, self._shards.get(ask.data, {}))
        return {"answer": to_serialize(answer)}

    def _take(self, fit: str, step: int, sender: str, part: Slice) -> str:
        hosted = self._fit(fit)
        if hosted is not None:
            hosted.take(sender, step, part)
        return "OK"

    def _abandon(self, fit: str, step: int) -> str:
        hosted = self._fit(fit)  # new where the message that it is about comes later
        if hosted is not None:
            hosted.abandon(step)
        return "OK"

    def _close(self, fit: str) -> str:
        self._closed[fit] = None
        if len(self._closed) > _CLOSED:
            del self._closed[next(iter(self._closed))]
        self._discard(fit)
        return "OK"

    def _discard(self, fit: str) -> None:
        self._data_of.pop(fit, None)
        hosted = self._fits.pop(fit, None)
        if hosted is not None:
            hosted.close()

    def _ping(self) -> str:
        return "OK"


def build_shard(data: str, number: int, build: Callable[..., Any], args: list[Any]) -> Any:
    """Make a shard where this task runs, and keep it there.

    Returns
    -------
    address : str
        Of the worker that holds it.
    counts : int64 array
        Rows of each class.
    """
    worker = get_worker()
    plugin: ShardPlugin = worker.plugins[ShardPlugin.name]
    key = worker.get_current_task()
    shard: TrainingSet = build(*args)
    offsets = shard.class_offsets
    return plugin.store(data, number, key, shard), offsets[1:] - offsets[:-1]
