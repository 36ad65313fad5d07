"""Parameters that are words, or may be: their types, so that type checkers find misspelt ones."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

__all__ = ["Auto", "ClassWeight", "Code", "Device", "Engine", "LossName"]

Auto: TypeAlias = Literal["auto"]
LossName: TypeAlias = Literal["exponential", "logistic"]
Engine: TypeAlias = Literal["native", "reference"]
Device: TypeAlias = Literal["cpu", "cuda"]
Code: TypeAlias = Literal["random-half", "max-cut"]
ClassWeight: TypeAlias = dict[Any, float] | Literal["balanced"] | None
