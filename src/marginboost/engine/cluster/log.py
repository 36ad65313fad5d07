"""The commands of a fit, which make a lost shard's state anew."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from marginboost.engine.cluster.message import Command


class CommandLog:
    """All commands in order; those that no state depends on any more are let go.

    So a shard that is made again does the advances of all rounds and the placing of rows for them, and
    nothing that was placed in vain or replaced as a whole.
    """

    def __init__(self) -> None:
        self._commands: list[Command | None] = []
        # Places of the commands that have made
        self._sides: list[int] = []  # the sides (or leaves) of the rows,
        self._tree: list[int] = []  # their nodes in the tree that has grown since the last advance,
        self._projections: list[int] = []  # the column that searches see,
        self._weights: list[int] = []  # and the exponentials, with the sides that had a part in it.
        self._replaced: list[int] = []  # Of the last: what has none any more, at the next advance.
        self._is_used = False  # whether the sides have had a part in the exponentials
        self._has_direction = False

    def __len__(self) -> int:
        return len(self._commands)

    def append(self, name: str, args: tuple[Any, ...], *, by_shard: bool = False) -> None:
        """Note a command, with copies of its arrays."""
        own = tuple(arg.copy() if isinstance(arg, np.ndarray) else arg for arg in args)
        place = len(self._commands)
        self._commands.append(Command(name, own, by_shard))
        if name in ("advance", "advance_table", "advance_column", "set_exponentials"):
            self._note_weights(name, place)
        elif name in ("place_stump", "place_tree", "finish_tree"):
            self._leave_sides()
            self._sides = [*self._tree, place] if name == "finish_tree" else [place]
        elif name in ("start_tree", "begin_tree"):
            self._forget(set(self._tree) - set(self._sides))
            self._tree = [place]
        elif name == "move_rows":
            self._tree.append(place)
        elif name == "project":
            self._forget(self._projections)
            self._projections = [place]

    def since(self, start: int, shards: list[int]) -> list[Command | None]:
        """Return what shards need from a place on."""
        return [
            None if command is None else command.of_shards(shards)
            for command in self._commands[start:]
        ]

    def _leave_sides(self) -> None:
        """Rows get other sides: what has made the old ones counts only where it was used."""
        if self._is_used:
            self._weights += self._sides
        else:
            self._forget(set(self._sides) - set(self._tree))
        self._is_used = False

    def _note_weights(self, name: str, place: int) -> None:
        if name == "set_exponentials":
            self._replaced += self._weights
            self._weights = [place]
            return
        self._is_used = True
        self._tree = []
        if name == "advance_column":
            self._weights.append(place)
            return
        # The old direction is gone, and with it all that only it was made of.
        self._forget(self._projections + self._replaced)
        self._projections, self._replaced = [], []
        if self._has_direction:
            self._weights.append(place)
        self._has_direction = (
            True  # the first one stays: a tree starts with some direction or other
        )

    def _forget(self, places: Iterable[int]) -> None:
        for place in places:
            self._commands[place] = None
