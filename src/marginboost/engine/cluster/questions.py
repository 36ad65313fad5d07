"""What a client asks of the shards: how a worker answers, and how the answers of all become one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from marginboost.engine.cluster.replica import Replica


class Question(ABC):
    """Something that shards answer without changing their state."""

    @abstractmethod
    def join(self, answers: list[Any], bounds: list[int]) -> Any:
        """Make one answer of all the workers'; they come in the order of the owners."""


class LocalQuestion(Question):
    """A question that a worker answers by itself."""

    @abstractmethod
    def answer(self, replicas: Sequence[Replica]) -> Any:
        """Answer for a worker's shards."""


@dataclass(frozen=True)
class Sum(LocalQuestion):
    """A sum over the rows: a number, an array, or a tuple of arrays."""

    name: str
    args: tuple[Any, ...] = ()

    def answer(self, replicas: Sequence[Replica]) -> Any:
        """Add up the shards' sums."""
        return total([getattr(replica.engine, self.name)(*self.args) for replica in replicas])

    def join(self, answers: list[Any], bounds: list[int]) -> Any:
        """Add up the workers' sums."""
        return total(answers)


@dataclass(frozen=True)
class Histograms(LocalQuestion):
    """`StumpEngine.histogram` of a run of features, one after the other."""

    begin: int
    end: int
    own: bool

    def answer(self, replicas: Sequence[Replica]) -> Any:
        """Add up the shards' histograms."""
        return total([self._of(replica.engine) for replica in replicas])

    def _of(self, engine: Any) -> Any:
        every = [engine.histogram(feature, self.own) for feature in range(self.begin, self.end)]
        return np.concatenate(every)

    def join(self, answers: list[Any], bounds: list[int]) -> Any:
        """Add up the workers' histograms."""
        return total(answers)


@dataclass(frozen=True)
class Collect(LocalQuestion):
    """What every shard says, by its number."""

    name: str

    def answer(self, replicas: Sequence[Replica]) -> dict[int, Any]:
        """Ask all of a worker's shards."""
        return {replica.number: getattr(replica.engine, self.name)() for replica in replicas}

    def join(self, answers: list[dict[int, Any]], bounds: list[int]) -> list[Any]:
        """Put them in the order of the shards."""
        return _in_order(answers)


@dataclass(frozen=True)
class OfRows(LocalQuestion):
    """What a function says of every shard's rows, by its number; needs no engine."""

    function: Callable[..., Any]
    args: tuple[Any, ...] = ()

    def answer(self, replicas: Sequence[Replica]) -> dict[int, Any]:
        """Ask all of a worker's shards."""
        return {replica.number: self.function(replica.data, *self.args) for replica in replicas}

    def join(self, answers: list[dict[int, Any]], bounds: list[int]) -> list[Any]:
        """Put them in the order of the shards."""
        return _in_order(answers)


def total(terms: Sequence[Any]) -> Any:
    """Add up numbers, arrays, or tuples of arrays; None where there is nothing to add up."""
    first = terms[0]
    if first is None:
        return None
    if isinstance(first, tuple):
        return tuple(total(same) for same in zip(*terms, strict=True))
    if isinstance(first, np.ndarray):
        added = first.copy()  # what came in a message cannot be written to
        for term in terms[1:]:
            added += term
        return added
    return sum(terms)


def _in_order(answers: list[dict[int, Any]]) -> list[Any]:
    by_shard = {number: said for answer in answers for number, said in answer.items()}
    return [by_shard[number] for number in sorted(by_shard)]
