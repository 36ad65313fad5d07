"""The errors of a cluster."""

from __future__ import annotations


class ClusterError(RuntimeError):
    """The cluster cannot continue a fit; the message says why, and what to do."""


class LostWorkerError(Exception):
    """A worker is gone, or no longer answers."""

    def __init__(self, address: str) -> None:
        super().__init__(address)
        self.address = address
