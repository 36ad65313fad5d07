"""The rows of a fit on a cluster."""

from __future__ import annotations

import uuid
import weakref
from collections.abc import Callable, Sequence
from contextlib import closing
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from marginboost.data.sampled_rows import SampledRows
from marginboost.data.training_set import TrainingSet
from marginboost.engine.cluster.conversation import Conversation
from marginboost.engine.cluster.copy_numbers import Shift, find_shifts
from marginboost.engine.cluster.line import Line, wait_for
from marginboost.engine.cluster.placement import Placement, Recipe
from marginboost.engine.cluster.questions import OfRows
from marginboost.engine.cluster.row_sums import find_hash_bounds, sum_seen_masses

if TYPE_CHECKING:
    from distributed import Client

    from marginboost.data.row_view import RowView

DEADLINE = 60.0


@dataclass(frozen=True, eq=False)
class ClusterBins:
    """The thresholds of binned features whose bins are elsewhere; see `BinnedMatrix`."""

    thresholds: tuple[NDArray[np.float64], ...]

    @property
    def n_features(self) -> int:
        """Number of features."""
        return len(self.thresholds)

    @cached_property
    def n_bins(self) -> NDArray[np.int32]:
        """Number of bins of each feature."""
        return np.array([len(t) + 1 for t in self.thresholds], dtype=np.int32)


class ClusterTrainingSet:
    """What a client knows of rows that lie on workers, in shards; as `Rows` tells it.

    A shard is a `TrainingSet` of some of the rows, with the thresholds, the class numbers and the
    least leaf weight of the whole; it may lack classes, or have no rows. Nothing is made before a fit
    asks for it.

    Parameters
    ----------
    client : distributed.Client
        Knows the cluster; not an asynchronous one.
    recipes : sequence of Recipe
        How each shard is made; at best one a worker. A shard that is lost with its worker is made
        again by its recipe.
    thresholds : sequence of float64 arrays
        The thresholds between the bins of each feature.
    class_mass, class_counts : float64 array of n_classes
        Sums over all rows, as in `TrainingSet`.
    n_rows : int
        Number of rows of positive weight in all shards.
    largest_weight : float or None
        The largest weight of a row; None where all are 1.
    least_leaf_weight : float
        What `TrainingSet.leaf_weight` says, for shards that have one.
    deadline : float
        Seconds of silence after which a worker counts as lost, and after which a fit gives up that
        waits for the scheduler, or for a worker where none is left.
    """

    def __init__(
        self,
        client: Client,
        recipes: Sequence[Recipe],
        *,
        thresholds: Sequence[NDArray[np.float64]],
        class_mass: NDArray[np.float64],
        class_counts: NDArray[np.float64],
        n_rows: int,
        largest_weight: float | None = None,
        least_leaf_weight: float = 0.0,
        deadline: float = DEADLINE,
    ) -> None:
        self.name = f"marginboost-{uuid.uuid4().hex}"
        self.client = client
        self.line = Line(client, deadline)
        self.placement = Placement(self.name, self.line, recipes)
        self.binned = ClusterBins(tuple(thresholds))
        self.class_mass = class_mass
        self.class_counts = class_counts
        self.n_rows = n_rows
        self.largest_weight = largest_weight
        self.least_leaf_weight = least_leaf_weight
        self._finalizer = weakref.finalize(self, _release, client, self.placement)
        self._finalizer.atexit = False
        self.left_out: RowView | None = None  # what the fits of these rows do without
        self._whole: ClusterTrainingSet = self
        self._shifts: tuple[dict[int, Shift | None] | None] | None = None  # once they are known

    @classmethod
    def from_parts(
        cls,
        client: Client,
        parts: Sequence[TrainingSet],
        whole: TrainingSet,
        *,
        scatter: bool = True,
        deadline: float = DEADLINE,
    ) -> ClusterTrainingSet:
        """Spread parts of a training set over the workers, one after the other.

        Parameters
        ----------
        client : distributed.Client
            Knows the cluster.
        parts : sequence of TrainingSet
            Together they hold the rows of `whole`.
        whole : TrainingSet
            What the client is to know of all rows.
        scatter : bool
            Whether only the workers keep the parts. Otherwise the client can send them anew after a
            loss.
        deadline : float
            See the class.
        """
        workers = list(client.nthreads())
        recipes = []
        for number, part in enumerate(parts):
            worker = workers[number % len(workers)]
            rows = client.scatter(part, workers=[worker], hash=False) if scatter else part
            recipes.append(Recipe(_same, (rows,), worker))
        leaf_weight = whole.leaf_weight
        return cls(
            client,
            recipes,
            thresholds=whole.binned.thresholds,
            class_mass=whole.class_mass,
            class_counts=whole.class_counts,
            n_rows=whole.n_rows,
            largest_weight=whole.largest_weight,
            least_leaf_weight=0.0 if leaf_weight is None else leaf_weight.least,
            deadline=deadline,
        )

    @property
    def n_classes(self) -> int:
        """Number of classes, those without rows included."""
        return len(self.class_mass)

    @property
    def n_counted(self) -> int:
        """Number of rows, each as often as it counts."""
        return int(self.class_counts.sum())

    @property
    def labels(self) -> NDArray[np.int64]:
        """Class number of every row: by class, then by shard, then as in the shard."""
        return np.repeat(np.arange(self.n_classes), self._shard_counts.sum(axis=0))

    def row_weight(self) -> NDArray[np.float64]:
        """Return weight * multiplicity of every row, in the order of `labels`."""
        return self.join(self._of_rows(TrainingSet.row_weight))

    def hash_bounds(self, seed: int, share: float) -> NDArray[np.uint64]:
        """Find a bound for each class, below which the hashes of about a share of its rows lie."""
        with closing(self.talk(seed)) as talk:
            return find_hash_bounds(talk, seed, share * self.class_counts)

    def class_mass_seen(self, view: RowView) -> NDArray[np.float64]:
        """Sum weight * multiplicity by class, over the copies of rows that are not held out."""
        with closing(self.talk(view.seed)) as talk:
            return sum_seen_masses(talk, view, self.n_counted)

    def sample_rows(self, view: RowView) -> SampledRows:
        """Bring the rows of which a view holds out copies to the client, as numbers."""
        found = self._of_rows(TrainingSet.sample_rows, view, seed=view.seed)
        by_shard = zip(*found, strict=True)
        X, *rest = ([part for part in parts if part.shape[0]] or [parts[0]] for parts in by_shard)
        stack = sparse.vstack if sparse.issparse(X[0]) else np.concatenate
        return SampledRows(stack(X), *map(np.concatenate, rest)).in_order()

    def without(self, view: RowView) -> ClusterTrainingSet:
        """Return the rows without the copies that a view holds out; the shards stay as they are.

        A worker leaves them out when a conversation begins.
        """
        if self.left_out is not None:
            raise ValueError("Rows can be left out of the whole training set alone.")
        rest = copy(self)
        # While the rest is in use the whole must be: with it the shards go.
        rest._whole, rest.left_out, rest._shifts = self, view, None
        for name in ("_shard_counts", "_order"):
            rest.__dict__.pop(name, None)
        described = rest._of_rows(_describe)
        largest = [weight for _, weight, _ in described if weight is not None]
        rest.n_rows = sum(n_rows for n_rows, _, _ in described)
        rest.largest_weight = max(largest) if largest else None
        rest.class_counts = np.sum([counts for _, _, counts in described], axis=0)
        rest.class_mass = self.class_mass_seen(view)
        return rest

    def talk(self, seed: int | None = None) -> Conversation:
        """Open a conversation with the shards; one about hashes where a seed is given."""
        talk = Conversation(self)
        self._open(talk, seed)
        return talk

    def _open(self, talk: Conversation, seed: int | None) -> None:
        """Bring the shards to where these rows are: in the log, so that lost ones follow."""
        if self.left_out is not None:
            self._whole._open(talk, self.left_out.seed)
            talk.command("leave_out", self.left_out)
        if seed is None:
            return
        if self._shifts is None:
            with closing(self.talk()) as other:
                self._shifts = (find_shifts(other, self.name, seed, self.n_rows),)
        if self._shifts[0] is not None:
            talk.command("shift_copies", self._shifts[0], by_shard=True)

    def join(self, by_shard: Sequence[NDArray[Any]]) -> NDArray[Any]:
        """Bring arrays of the shards' rows into the order of `labels`."""
        return np.concatenate(by_shard)[self._order]

    def divide(self, values: NDArray[Any]) -> dict[int, NDArray[Any]]:
        """Give every shard its rows of an array in the order of `labels`."""
        by_shard = np.empty_like(values)
        by_shard[self._order] = values
        ends = np.cumsum(self._shard_counts.sum(axis=1))
        return dict(enumerate(np.split(by_shard, ends[:-1])))

    def settle(self, later: Sequence[Recipe]) -> None:
        """Make all shards now; those that are lost later are made by other recipes."""
        wait_for(self.client, self.placement.homes())
        self.placement.recipes = list(later)

    def close(self) -> None:
        """Free the shards on the workers; fits of them end."""
        self._finalizer()

    @property
    def closed(self) -> bool:
        """Whether the shards are free."""
        return not self._finalizer.alive

    @cached_property
    def _shard_counts(self) -> NDArray[np.int64]:
        """Rows by shard and class."""
        if self.left_out is not None:
            return np.array(self._of_rows(_count_rows))
        wait_for(self.client, self.placement.homes())
        counts = self.placement.class_counts
        return np.array([counts[number] for number in range(len(counts))])

    @cached_property
    def _order(self) -> NDArray[np.int64]:
        """Places of the rows in a list of shard after shard."""
        classes = np.tile(np.arange(self.n_classes), len(self._shard_counts))
        return np.argsort(np.repeat(classes, self._shard_counts.ravel()), kind="stable")

    def _of_rows(
        self, function: Callable[..., Any], *args: Any, seed: int | None = None
    ) -> list[Any]:
        with closing(self.talk(seed)) as talk:
            found: list[Any] = talk.ask(OfRows(function, args))
        return found


def _describe(part: TrainingSet) -> tuple[int, float | None, NDArray[np.float64]]:
    return part.n_rows, part.largest_weight, part.class_counts


def _count_rows(part: TrainingSet) -> NDArray[np.int64]:
    return np.diff(part.class_offsets)


def _same(part: TrainingSet) -> TrainingSet:
    """Take a part as it comes."""
    return part


def _release(client: Client, placement: Placement) -> None:
    """Let go of the shards, on the client's loop."""
    if client.status == "running":
        client.loop.add_callback(placement.close)
