"""Where the big arrays live. Every engine gives the same bits."""

from __future__ import annotations

from marginboost.engine.base import Engine
from marginboost.engine.native import NativeEngine
from marginboost.engine.partial import PartialEngine, PartialVectorEngine
from marginboost.engine.reference import ReferenceEngine
from marginboost.engine.vector_base import VectorEngine
from marginboost.engine.vector_native import NativeVectorEngine
from marginboost.engine.vector_reference import ReferenceVectorEngine

__all__ = [
    "DEVICES",
    "ENGINES",
    "Engine",
    "NativeEngine",
    "NativeVectorEngine",
    "PartialEngine",
    "PartialVectorEngine",
    "ReferenceEngine",
    "ReferenceVectorEngine",
    "VectorEngine",
    "make_engine",
    "make_vector_engine",
]

ENGINES = ("native", "reference")
DEVICES = ("cpu", "cuda")


def make_engine(name: str, n_threads: int) -> Engine:
    """Make the engine called `name`, one of `ENGINES`."""
    return NativeEngine(n_threads) if name == "native" else ReferenceEngine()


def make_vector_engine(name: str, n_threads: int) -> VectorEngine:
    """Make the engine for vector-leaf trees called `name`, one of `ENGINES`."""
    return NativeVectorEngine(n_threads) if name == "native" else ReferenceVectorEngine()
