"""Engines, which hold the big arrays. All of them give the same bits."""

from __future__ import annotations

from marginboost.engine.partial import PartialStumpEngine, PartialTreeEngine
from marginboost.engine.stumps.base import StumpEngine
from marginboost.engine.stumps.native import NativeStumpEngine
from marginboost.engine.stumps.reference import ReferenceStumpEngine
from marginboost.engine.trees.base import TreeEngine
from marginboost.engine.trees.native import NativeTreeEngine
from marginboost.engine.trees.reference import ReferenceTreeEngine

__all__ = [
    "DEVICES",
    "ENGINES",
    "NativeStumpEngine",
    "NativeTreeEngine",
    "PartialStumpEngine",
    "PartialTreeEngine",
    "ReferenceStumpEngine",
    "ReferenceTreeEngine",
    "StumpEngine",
    "TreeEngine",
    "make_stump_engine",
    "make_tree_engine",
]

ENGINES = ("native", "reference")
DEVICES = ("cpu", "cuda")


def make_stump_engine(name: str, n_threads: int) -> StumpEngine:
    """Make the engine called `name`, one of `ENGINES`."""
    return NativeStumpEngine(n_threads) if name == "native" else ReferenceStumpEngine()


def make_tree_engine(name: str, n_threads: int) -> TreeEngine:
    """Make the engine for vector-leaf trees called `name`, one of `ENGINES`."""
    return NativeTreeEngine(n_threads) if name == "native" else ReferenceTreeEngine()
