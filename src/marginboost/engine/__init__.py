"""Where the big arrays live. Every engine gives the same bits."""

from __future__ import annotations

from marginboost.engine.base import Engine
from marginboost.engine.native import NativeEngine
from marginboost.engine.reference import ReferenceEngine

__all__ = ["ENGINES", "Engine", "NativeEngine", "ReferenceEngine", "make_engine"]

ENGINES = ("native", "reference")


def make_engine(name: str, n_threads: int) -> Engine:
    """Make the engine called `name`, one of `ENGINES`."""
    return NativeEngine(n_threads) if name == "native" else ReferenceEngine()
