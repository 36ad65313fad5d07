"""Requests to the shards: how a worker evaluates one, and how the workers' values are joined."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from marginboost.engine.cluster.peers import Peers
    from marginboost.engine.cluster.shard_state import ShardState


class Request(ABC):
    """A computation over the shards."""

    @abstractmethod
    def join(self, values: list[Any], bounds: list[int]) -> Any:
        """Join the values of all workers, which come in the order of the owners."""


class LocalRequest(Request):
    """A request that a worker evaluates without the other workers."""

    @abstractmethod
    def evaluate(self, states: Sequence[ShardState]) -> Any:
        """Evaluate the request on a worker's shards."""


class SharedRequest(Request):
    """A request that all workers evaluate together: each does the same, and they exchange parts."""

    # Whether it starts from what all commands before it left, also where a try of it came to an end.
    starts_anew = False

    @abstractmethod
    def evaluate(self, states: Sequence[ShardState], peers: Peers, bounds: list[int]) -> Any:
        """Evaluate the request on a worker's shards, in the thread that computes.

        Parameters
        ----------
        states : sequence of ShardState
            The worker's shards.
        peers : Peers
            All workers.
        bounds : list of int
            See `Message`.
        """


@dataclass(frozen=True)
class Sum(LocalRequest):
    """A sum over the rows: a number, an array, or a tuple of arrays."""

    name: str
    args: tuple[Any, ...] = ()

    def evaluate(self, states: Sequence[ShardState]) -> Any:
        """Add up the shards' sums."""
        return total([getattr(state.engine, self.name)(*self.args) for state in states])

    def join(self, values: list[Any], bounds: list[int]) -> Any:
        """Add up the workers' sums."""
        return total(values)


@dataclass(frozen=True)
class Collect(LocalRequest):
    """The return value of an engine's method for every shard."""

    name: str

    def evaluate(self, states: Sequence[ShardState]) -> dict[int, Any]:
        """Call the method for each of a worker's shards."""
        return {state.number: getattr(state.engine, self.name)() for state in states}

    def join(self, values: list[dict[int, Any]], bounds: list[int]) -> list[Any]:
        """List the values in the order of the shards."""
        return _in_order(values)


@dataclass(frozen=True)
class MapRows(LocalRequest):
    """The return value of a function of every shard's rows; needs no engine."""

    function: Callable[..., Any]
    args: tuple[Any, ...] = ()

    def evaluate(self, states: Sequence[ShardState]) -> dict[int, Any]:
        """Call the function for each of a worker's shards."""
        return {state.number: self.function(state.data, *self.args) for state in states}

    def join(self, values: list[dict[int, Any]], bounds: list[int]) -> list[Any]:
        """List the values in the order of the shards."""
        return _in_order(values)


def total(terms: Sequence[Any]) -> Any:
    """Add up numbers, arrays, or tuples of arrays; return None if the terms are None."""
    first = terms[0]
    if first is None:
        return None
    if isinstance(first, tuple):
        return tuple(total(same) for same in zip(*terms, strict=True))
    if isinstance(first, np.ndarray):
        added = first.copy()  # arrays from a message are read-only
        for term in terms[1:]:
            added += term
        return added
    return sum(terms)


def _in_order(values: list[dict[int, Any]]) -> list[Any]:
    by_shard = {number: value for of_worker in values for number, value in of_worker.items()}
    return [by_shard[number] for number in sorted(by_shard)]
