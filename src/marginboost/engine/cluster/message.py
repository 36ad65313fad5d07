"""What the client and the workers of a fit send each other."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from marginboost.engine.cluster.questions import Question

# Names of the handlers that the plugin gives a worker.
ASK = "marginboost_ask"
TAKE = "marginboost_take"
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
        What it is called with.
    by_shard : bool
        Whether `args` is one dictionary with the argument of each shard, by number.
    """

    name: str
    args: tuple[Any, ...]
    by_shard: bool = False

    def of_shards(self, shards: list[int]) -> Command:
        """Leave out what is meant for other shards."""
        if not self.by_shard:
            return self
        return self._replace(args=({shard: self.args[0][shard] for shard in shards},))


class Status(IntEnum):
    """How a worker fared with a message."""

    DONE = 0
    FAILED = 1  # an exception in an engine
    ABANDONED = 2  # as the client said
    MISSING = 3  # shards that are not there
    BEHIND = 4  # shards that lack earlier commands
    NO_PEER = 5  # a worker cannot be reached by another
    UNKEPT = 6  # histograms that were to be subtracted from are not there


# Plain classes, not tuples or dictionaries: Dask would take those apart, while it pickles these as one,
# with the buffers of arrays beside the pickle.
@dataclass(slots=True)
class Ask:
    """A message of the client to a worker: commands, then a question.

    Attributes
    ----------
    fit, data : str
        Names of the fit, and of the training set whose shards it is about.
    step : int
        Number of the message, the same for all workers; a later one has a larger number.
    shards : list of int
        Those that the worker should hold.
    start : int
        Place of the first of the commands in the fit's log.
    commands : list of Command or None
        None in the place of those that no shard needs any more.
    wants_answer : bool
        Whether the answer of the last command is wanted.
    question : Question or None
        What to ask after the commands.
    owners : list of str
        Addresses of all the workers that this step is sent to.
    bounds : list of int
        Owner j scans the features from bounds[j] to bounds[j + 1], of those that are searched.
    deadline : float
        Seconds after which a worker that does not take a message counts as lost.
    """

    fit: str
    data: str
    step: int
    shards: list[int]
    start: int
    commands: list[Command | None]
    wants_answer: bool
    question: Question | None
    owners: list[str]
    bounds: list[int]
    deadline: float


@dataclass(slots=True)
class Answer:
    """What a worker says to an `Ask`.

    Attributes
    ----------
    status : Status
        Whether the rest means anything.
    answer : object
        Of the last command, added up over the worker's shards.
    found : object
        The answer to the question. By a status that is not DONE: the exception, the numbers of the
        missing shards, or the address of the peer.
    """

    status: Status
    answer: Any = None
    found: Any = None


@dataclass(slots=True)
class Slice:
    """What a worker sends the owner of some features: its sums over their bins."""

    arrays: list[NDArray[np.generic] | None] = field(default_factory=list)
