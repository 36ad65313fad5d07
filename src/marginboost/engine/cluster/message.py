"""The messages between the client and the workers of a fit."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from marginboost.engine.cluster.requests import Request

# Names of the handlers that the plugin adds to a worker.
STEP = "marginboost_step"
STREAM = "marginboost_stream"
ABANDON = "marginboost_abandon"
CLOSE = "marginboost_close"
PING = "marginboost_ping"


class Command(NamedTuple):
    """A call that changes the state of an engine.

    Attributes
    ----------
    name : str
        The engine's method.
    args : tuple
        Its arguments.
    by_shard : bool
        Whether `args` is one dictionary with the argument of each shard, by number.
    """

    name: str
    args: tuple[Any, ...]
    by_shard: bool = False

    def of_shards(self, shards: list[int]) -> Command:
        """Return the command without the arguments of other shards."""
        if not self.by_shard:
            return self
        return self._replace(args=({shard: self.args[0][shard] for shard in shards},))


class Status(IntEnum):
    """The outcome of a message on a worker."""

    DONE = 0
    FAILED = 1  # an engine raised an exception
    ABANDONED = 2  # on the client's order
    MISSING = 3  # shards are not there
    BEHIND = 4  # shards lack earlier commands, or had one that the client does not know of
    NO_PEER = 5  # the worker cannot reach another one


# Plain classes, not tuples or dictionaries: Dask would take those apart, while it pickles these as one,
# with the buffers of arrays beside the pickle.
@dataclass(slots=True)
class Message:
    """A message from the client to a worker: commands, then a request.

    Attributes
    ----------
    fit, data : str
        Names of the fit and of its training set.
    step : int
        Number of the step, the same for all workers; it increases from step to step.
    shards : list of int
        The shards that the worker should hold.
    start : int
        Position of the first of the commands in the fit's log.
    commands : list of Command or None
        None in place of a command that no shard needs any more.
    wants_result : bool
        Whether to return the result of the last command.
    request : Request or None
        What to compute after the commands.
    owners : list of str
        Addresses of all workers that receive this step.
    bounds : list of int
        Owner j scans the searched features from bounds[j] to bounds[j + 1]. Empty where there is no
        search, or where the client scans.
    """

    fit: str
    data: str
    step: int
    shards: list[int]
    start: int
    commands: list[Command | None]
    wants_result: bool
    request: Request | None
    owners: list[str]
    bounds: list[int]


@dataclass(slots=True)
class Reply:
    """A worker's reply to a `Message`.

    Attributes
    ----------
    status : Status
        The outcome.
    result : object
        Result of the last command, added up over the worker's shards.
    value : object
        Value of the request. With a status other than DONE: the exception, the numbers of the
        missing shards, or the address of the peer.
    """

    status: Status
    result: Any = None
    value: Any = None
