"""A shard of the rows in one fit: an engine, and its position in the log."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from marginboost.engine.cluster.copy_agreement import set_independence
from marginboost.engine.cluster.copy_numbers import shift_copies
from marginboost.engine.trees.growth import divisions

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from marginboost.data.training_set import TrainingSet
    from marginboost.engine.cluster.message import Command
    from marginboost.engine.trees.base import RowSample
    from marginboost.engine.trees.growth import GrownTree

# Commands about the copies of rows, before an engine is there.
_ON_ROWS: dict[str, Callable[..., None]] = {
    "set_independence": set_independence,
    "shift_copies": shift_copies,
}


class ShardState:
    """An engine that replays the fit's log of commands.

    Its state is a function of its rows and the commands, so a lost one is rebuilt from both.

    Parameters
    ----------
    number : int
        Number of the shard.
    data : TrainingSet
        Its rows.
    n_threads : int
        Threads that its engine may use.
    """

    engine: Any

    def __init__(self, number: int, data: TrainingSet, n_threads: int) -> None:
        self.number = number
        self.data = data
        self.position = 0
        self.result: Any = None  # of the last command
        self._n_threads = n_threads

    def replay(self, start: int, commands: list[Command | None]) -> None:
        """Apply the commands not applied yet; `start` is the position of the first in the log."""
        for command in commands[self.position - start :]:
            if command is not None:
                self.result = self._apply(command)
            self.position += 1

    def _apply(self, command: Command) -> Any:
        args = [command.args[0][self.number]] if command.by_shard else list(command.args)
        if command.name == "leave_out":
            self.data = self.data.without(*args)
            return None
        if command.name == "with_orders":
            self.data = self.data.with_orders(*args)
            return None
        if command.name in _ON_ROWS:
            return _ON_ROWS[command.name](self.data, *args)
        if command.name == "load":
            make, *args = args
            self.engine = make(self._n_threads)
            return self.engine.load(self.data, *args)
        if command.name == "divide_rows":
            return self._divide_rows(*args)
        return getattr(self.engine, command.name)(*args)

    def _divide_rows(self, tree: GrownTree, features: NDArray[np.int32], sample: RowSample) -> None:
        """Divide the rows by a tree that was grown before."""
        self.engine.begin_tree(features, sample)
        for division in divisions(tree):
            self.engine.move_rows(*division)
