"""What can go wrong between machines."""

from __future__ import annotations


class ClusterError(RuntimeError):
    """The cluster cannot go on with a fit; the message says why, and what to do."""


class LostWorkerError(Exception):
    """A worker is gone, or does not answer any more."""

    def __init__(self, address: str) -> None:
        super().__init__(address)
        self.address = address
