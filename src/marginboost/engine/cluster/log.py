"""The commands of a fit, from which the state of a lost shard is rebuilt."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from marginboost.engine.cluster.message import Command


class CommandLog:
    """All commands in order; those that no state depends on any more are dropped.

    So a rebuilt shard repeats the advances of all rounds and the placements of rows that they use, but
    no placement that was never used.
    """

    def __init__(self) -> None:
        self._commands: list[Command | None] = []
        # Positions of the commands that made
        self._sides: list[int] = []  # the sides (or leaves) of the rows,
        self._tree: list[int] = []  # their nodes in the tree that has grown since the last advance,
        self._projections: list[int] = []  # the output that searches see,
        self._weights: list[int] = []  # and the exponentials, with the sides that they used.
        self._is_used = False  # whether the exponentials have used the sides
        self._has_direction = False

    def __len__(self) -> int:
        return len(self._commands)

    def append(self, name: str, args: tuple[Any, ...], *, by_shard: bool = False) -> None:
        """Append a command, with copies of its arrays."""
        own = tuple(arg.copy() if isinstance(arg, np.ndarray) else arg for arg in args)
        position = len(self._commands)
        self._commands.append(Command(name, own, by_shard))
        if name in ("advance", "advance_table"):
            self._append_weights(position)
        elif name in ("place_stump", "place_tree", "finish_tree"):
            self._leave_sides()
            self._sides = [*self._tree, position] if name == "finish_tree" else [position]
        elif name in ("begin_tree", "divide_rows"):
            self._forget(set(self._tree) - set(self._sides))
            self._tree = [position]
        elif name == "move_rows":
            self._tree.append(position)
        elif name == "project":
            self._forget(self._projections)
            self._projections = [position]

    def since(self, start: int, shards: list[int]) -> list[Command | None]:
        """Return the commands from a position on, for some shards."""
        return [
            None if command is None else command.of_shards(shards)
            for command in self._commands[start:]
        ]

    def _leave_sides(self) -> None:
        """Drop the commands of the old sides, unless the exponentials have used them."""
        if self._is_used:
            self._weights += self._sides
        else:
            self._forget(set(self._sides) - set(self._tree))
        self._is_used = False

    def _append_weights(self, position: int) -> None:
        self._is_used = True
        self._tree = []
        # The old direction is gone, and with it everything that only it depended on.
        self._forget(self._projections)
        self._projections = []
        if self._has_direction:
            self._weights.append(position)
        # The first advance stays: a tree needs some direction to start with.
        self._has_direction = True

    def _forget(self, positions: Iterable[int]) -> None:
        for position in positions:
            self._commands[position] = None
