"""The client's side of a fit: commands, questions, and what it takes to get them answered."""

from __future__ import annotations

import asyncio
import uuid
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from distributed.protocol import to_serialize

from marginboost.engine.cluster.errors import ClusterError, LostWorkerError
from marginboost.engine.cluster.line import Line, wait_for
from marginboost.engine.cluster.log import CommandLog
from marginboost.engine.cluster.message import ABANDON, ASK, CLOSE, Answer, Ask, Status
from marginboost.engine.cluster.questions import Question, total
from marginboost.engine.cluster.ranges import balanced_bounds
from marginboost.engine.cluster.stumps.searches import Search

if TYPE_CHECKING:
    from distributed import Client

    from marginboost.engine.cluster.placement import Backend
    from marginboost.engine.cluster.training_set import ClusterTrainingSet

# So often a step is tried again where no worker was lost but not all could do it.
_MOST_TRIALS = 3


class Homes(NamedTuple):
    """The workers of a step, and what tells them from those of another."""

    shards: dict[str, list[int]]  # by address, in the order of the addresses' first shards
    key: tuple[int, ...]  # grows where anything moves


# Makes the question of a step, which may depend on what its workers still know of the last one.
Make = Callable[[Homes], Question]


class Conversation:
    """Talks to the workers that hold a training set's shards.

    A command is noted in a log and sent with the next question, so it costs no message. A worker that
    is lost costs time, but changes no answer: its shards are made again elsewhere and follow the log.

    Parameters
    ----------
    data : ClusterTrainingSet
        The rows.
    """

    def __init__(self, data: ClusterTrainingSet) -> None:
        self._name = f"fit-{uuid.uuid4().hex}"
        self._data = data
        self._log = CommandLog()
        self._positions: dict[int, int] = {}  # in the log, by tenancy
        self._step = 0
        self._met: set[str] = set()  # all workers that may know of this fit
        self._finalizer = weakref.finalize(
            self, _close, data.client, data.line, self._name, self._met
        )
        # Where the client ends without a word, Dask frees the shards, and they the fits.
        self._finalizer.atexit = False

    @property
    def length(self) -> int:
        """Number of commands so far."""
        return len(self._log)

    def command(self, name: str, *args: Any, by_shard: bool = False) -> None:
        """Note a call that changes the state of the shards."""
        self._log.append(name, args, by_shard=by_shard)

    def ask(self, question: Question | Make) -> Any:
        """Ask a question, after all commands so far."""
        return self._ask(question, wants_answer=False)[1]

    def answer(self, foreseen: Question | None = None) -> tuple[Any, Any]:
        """Return the answer of the last command, and that to a question which is likely to follow."""
        return self._ask(foreseen, wants_answer=True)

    def close(self) -> None:
        """Let the workers forget the fit."""
        self._finalizer()

    def _ask(self, question: Question | Make | None, *, wants_answer: bool) -> tuple[Any, Any]:
        if not self._finalizer.alive or self._data.closed:
            raise ClusterError("The fit, or its training set, is closed.")
        return wait_for(self._data.client, self._persist(question, wants_answer))

    async def _persist(
        self, question: Question | Make | None, wants_answer: bool
    ) -> tuple[Any, Any]:
        """Send a step, again and again where workers are lost."""
        self._data.line.stir()
        trials = 0
        while trials < _MOST_TRIALS:
            homes = await self._data.placement.homes()
            met = _by_address(homes)
            made = question if question is None or isinstance(question, Question) else question(met)
            asks = self._messages(homes, met, made, wants_answer)
            answers = await self._send(asks)
            done = [a for a in answers.values() if a is not None and a.status == Status.DONE]
            if len(done) == len(asks):
                self._positions = {home.tenancy: len(self._log) for home in homes.values()}
                return _joined(made, asks, done)
            trials += 0 if self._mend(homes, answers) else 1
        unreachable = [a.found for a in answers.values() if a and a.status == Status.NO_PEER]
        raise ClusterError(
            f"The worker at {unreachable[0] if unreachable else next(iter(asks))} answers the client, "
            "but not the other workers of the fit. Workers must be able to connect to each other."
        )

    def _messages(
        self,
        homes: dict[int, Backend],
        met: Homes,
        question: Question | None,
        wants_answer: bool,
    ) -> dict[str, Ask]:
        self._step += 1
        owners = list(met.shards)
        self._met.update(owners)
        bounds: list[int] = []
        if isinstance(question, Search):
            bounds = balanced_bounds(question.n_bins(self._data.binned.n_bins), len(owners))
        asks = {}
        for address, shards in met.shards.items():
            start = min(self._positions.get(homes[shard].tenancy, 0) for shard in shards)
            asks[address] = Ask(
                self._name,
                self._data.name,
                self._step,
                shards,
                start,
                self._log.since(start, shards),
                wants_answer,
                question,
                owners,
                bounds,
                self._data.line.deadline,
            )
        return asks

    async def _send(self, asks: dict[str, Ask]) -> dict[str, Answer | None]:
        """Send a step to all workers; where one cannot do it, nobody waits for it."""
        line = self._data.line
        calls = {
            asyncio.ensure_future(line.ask(address, ASK, ask=to_serialize(ask))): address
            for address, ask in asks.items()
        }
        answers: dict[str, Answer | None] = {}
        waiting = set(calls)
        abandoned = False
        try:
            while waiting:
                done, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
                for call in done:
                    answers[calls[call]] = _outcome(call)
                failed = any(a is None or a.status != Status.DONE for a in answers.values())
                if failed and waiting and not abandoned:
                    abandoned = True
                    self._abandon([calls[call] for call in waiting])
        except BaseException:  # an interrupt, say
            self._abandon(list(asks))
            raise
        finally:
            for call in calls:
                call.cancel()
        return {address: answers[address] for address in asks}

    def _abandon(self, addresses: list[str]) -> None:
        self._data.line.tell(addresses, ABANDON, fit=self._name, step=self._step)

    def _mend(self, homes: dict[int, Backend], answers: dict[str, Answer | None]) -> bool:
        """Forget what is lost, so that it is made again; False where nothing is."""
        mended = False
        for address, answer in answers.items():
            if answer is None:
                self._data.placement.bury(address)
            elif answer.status == Status.FAILED:
                raise answer.found
            elif answer.status == Status.MISSING:
                self._data.placement.evict({number: homes[number] for number in answer.found})
            elif answer.status == Status.BEHIND:
                for number in answer.found:
                    self._positions.pop(homes[number].tenancy, None)
            else:
                continue
            mended = True
        return mended


def _by_address(homes: dict[int, Backend]) -> Homes:
    shards: dict[str, list[int]] = {}
    for number in sorted(homes):
        shards.setdefault(homes[number].address, []).append(number)
    return Homes(shards, tuple(sorted(home.tenancy for home in homes.values())))


def _outcome(call: asyncio.Task[dict[str, Answer] | None]) -> Answer | None:
    """Return a worker's answer; None where the worker is lost."""
    try:
        reply = call.result()
    except LostWorkerError:
        return None
    return None if reply is None else reply["answer"]  # None: it is closing, without our handlers


def _joined(
    question: Question | None, asks: dict[str, Ask], answers: list[Answer]
) -> tuple[Any, Any]:
    """Make one answer of those of all workers."""
    answer = total([answer.answer for answer in answers])
    if question is None:
        return answer, None
    bounds = next(iter(asks.values())).bounds
    return answer, question.join([answer.found for answer in answers], bounds)


def _close(client: Client, line: Line, name: str, met: set[str]) -> None:
    """Let workers forget a fit, on the client's loop."""
    if client.status == "running":
        client.loop.add_callback(line.tell, list(met), CLOSE, fit=name)
