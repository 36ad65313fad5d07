"""What the workers of a step tell each other while they compute.

A step runs in a thread of each worker. All threads do the same in the same order, so the parts that they
exchange are numbered, and a part needs no other name.
"""

from __future__ import annotations

import math
import pickle
import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["AbandonedError", "Inbox", "Peers", "Scratch", "UnreachableError"]

# A pickle, and the buffers of its arrays.
Frames = list[Any]
# Send a part to the worker at an address: of a step, and with its number among the step's exchanges.
Post = Callable[[str, int, int, Frames], None]


class AbandonedError(Exception):
    """The client has given up the step."""


class UnreachableError(Exception):
    """The connection to another worker, whose address it holds, is broken."""


class Inbox:
    """Parts from other workers, which may arrive before the client's message."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._parts: dict[int, dict[tuple[int, str], Frames]] = {}  # by step; number and sender
        self._broken: dict[int, str] = {}  # steps that cannot go on, and the peer that is the cause
        self._last_step = -1  # the last one that is over

    def is_over(self, step: int) -> bool:
        """Return whether a step has ended here, one way or another."""
        return step <= self._last_step

    def put(self, sender: str, step: int, number: int, part: Frames) -> None:
        """Add a part."""
        with self._changed:
            if not self.is_over(step):
                self._parts.setdefault(step, {})[number, sender] = part
                self._changed.notify_all()

    def end(self, step: int) -> None:
        """End this step, and those before it; who waits for their parts need not any more."""
        with self._changed:
            self._last_step = max(self._last_step, step)
            self._parts = {number: p for number, p in self._parts.items() if number > step}
            self._broken = {number: p for number, p in self._broken.items() if number > step}
            self._changed.notify_all()

    def break_step(self, step: int, peer: str) -> None:
        """Let a step fail, because a peer cannot be reached."""
        with self._changed:
            if not self.is_over(step):
                self._broken[step] = peer
                self._changed.notify_all()

    def take(self, step: int, number: int, senders: Sequence[str]) -> list[Frames]:
        """Wait for a part from each sender.

        Raises
        ------
        AbandonedError
            If the step ends before they are there.
        UnreachableError
            If a peer cannot be reached.
        """
        keys = [(number, sender) for sender in senders]
        with self._changed:
            while True:
                if self.is_over(step):
                    raise AbandonedError
                if step in self._broken:
                    raise UnreachableError(self._broken[step])
                here = self._parts.get(step, {})
                if all(key in here for key in keys):
                    return [here.pop(key) for key in keys]
                self._changed.wait()


class Scratch:
    """Arrays that last from step to step.

    The allocator of a Dask worker returns memory to the system at once, and new memory has to be cleared
    by the system page by page: that takes longer than to add up what is stored in it.
    """

    def __init__(self) -> None:
        self._buffers: dict[str, NDArray[np.int32]] = {}

    def array(self, name: str, shape: tuple[int, ...]) -> NDArray[np.int32]:
        """Return an array; what it holds is what the last one of this name held, if that was as large."""
        size = math.prod(shape)
        buffer = self._buffers.get(name)
        if buffer is None or len(buffer) < size:
            buffer = self._buffers[name] = np.empty(size + size // 2, dtype=np.int32)
        return buffer[:size].reshape(shape)


class Peers:
    """All workers of a step, as the thread that computes on one of them sees them.

    Parameters
    ----------
    step : int
        Number of the step.
    addresses : list of str
        Addresses of the workers.
    address : str
        Address of this one.
    inbox : Inbox
        Receives the parts of the others.
    post : callable
        Sends a part.
    scratch : Scratch
        The thread's own.
    """

    def __init__(
        self,
        step: int,
        addresses: list[str],
        address: str,
        inbox: Inbox,
        post: Post,
        scratch: Scratch,
    ) -> None:
        self._step, self._addresses, self._inbox, self._post = step, addresses, inbox, post
        self._n_exchanges = 0
        self.scratch = scratch
        self.rank = addresses.index(address)

    @property
    def count(self) -> int:
        """Number of workers."""
        return len(self._addresses)

    def exchange(self, parts: Sequence[Any]) -> list[Any]:
        """Give every worker its part; return the parts that all workers have for this one.

        Parts may be on their way for longer than this takes, so their arrays must not change.
        """
        packed = [_pack(part) if j != self.rank else [] for j, part in enumerate(parts)]
        return self._exchange(packed, parts[self.rank])

    def share(self, part: Any) -> list[Any]:
        """Give all workers the same part, as `exchange` does; return the parts of all."""
        packed = _pack(part) if self.count > 1 else []
        return self._exchange([packed] * self.count, part)

    def _exchange(self, packed: list[Frames], own: Any) -> list[Any]:
        number, self._n_exchanges = self._n_exchanges, self._n_exchanges + 1
        others = [j for j in range(self.count) if j != self.rank]
        for j in others:
            self._post(self._addresses[j], self._step, number, packed[j])
        theirs = self._inbox.take(self._step, number, [self._addresses[j] for j in others])
        parts = [pickle.loads(part[0], buffers=part[1:]) for part in theirs]
        parts.insert(self.rank, own)
        return parts


def _pack(part: Any) -> Frames:
    buffers: list[pickle.PickleBuffer] = []
    # Not bytes: Dask reads these and what follows into one buffer, where arrays would not be aligned.
    head = bytearray(pickle.dumps(part, 5, buffer_callback=buffers.append))
    return [head, *[buffer.raw() for buffer in buffers]]
