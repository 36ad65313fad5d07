"""Engines, which hold the big arrays. All of them give the same bits."""

from __future__ import annotations

from marginboost.engine.partial import PartialTreeEngine
from marginboost.engine.stumps.base import StumpEngine
from marginboost.engine.stumps.host import HostStumpEngine
from marginboost.engine.stumps.native import NativeStumpEngine
from marginboost.engine.stumps.reference import ReferenceStumpEngine
from marginboost.engine.trees.base import TreeEngine
from marginboost.engine.trees.native import NativeTreeEngine
from marginboost.engine.trees.reference import ReferenceTreeEngine

__all__ = [
    "DEVICES",
    "ENGINES",
    "HostStumpEngine",
    "NativeStumpEngine",
    "NativeTreeEngine",
    "PartialTreeEngine",
    "ReferenceStumpEngine",
    "ReferenceTreeEngine",
    "StumpEngine",
    "TreeEngine",
]

ENGINES = ("native", "reference")
DEVICES = ("cpu", "cuda")
