"""The rows of a fit on a cluster."""

from __future__ import annotations

import uuid
import weakref
from collections.abc import Callable, Sequence
from contextlib import closing
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from marginboost.data.row_view import RowView
from marginboost.data.sampled_rows import SampledRows
from marginboost.data.training_set import TrainingSet
from marginboost.engine.cluster.connection import Connection, wait_for
from marginboost.engine.cluster.copy_agreement import find_independence
from marginboost.engine.cluster.copy_numbers import Shift, find_shifts
from marginboost.engine.cluster.placement import Placement, Recipe
from marginboost.engine.cluster.requests import MapRows
from marginboost.engine.cluster.row_sums import find_hash_bounds, sum_seen_masses
from marginboost.engine.cluster.session import Session

if TYPE_CHECKING:
    from distributed import Client

    from marginboost.data.category_codes import CategoryColumns, LearnedOrders


DEADLINE = 60.0


@dataclass(frozen=True, eq=False)
class ClusterBins:
    """The thresholds of binned features whose bins are on the workers; see `BinnedMatrix`."""

    thresholds: tuple[NDArray[np.float64], ...]

    @property
    def n_features(self) -> int:
        """Number of features."""
        return len(self.thresholds)

    @cached_property
    def n_bins(self) -> NDArray[np.int32]:
        """Number of bins of each feature."""
        return np.array([len(t) + 1 for t in self.thresholds], dtype=np.int32)


class _Copies(NamedTuple):
    """Copies of rows in all shards; None: the shards' own numbers are right, or there are no copies."""

    shifts: dict[int, Shift | None] | None
    independent: NDArray[np.bool_] | None


class ClusterTrainingSet:
    """Rows that lie on workers, in shards; the client's implementation of `Rows`.

    A shard is a `TrainingSet` of some of the rows, with the thresholds and the class numbers of the
    whole; it may lack classes, or have no rows. Nothing is built before a fit needs it.

    Parameters
    ----------
    client : distributed.Client
        Client of the cluster; not an asynchronous one.
    recipes : sequence of Recipe
        How to build each shard; ideally one per worker. A shard that is lost with its worker is
        rebuilt by its recipe.
    thresholds : sequence of float64 arrays
        The thresholds between the bins of each feature.
    class_mass, class_counts : float64 array of n_classes
        Sums over all rows, as in `TrainingSet`.
    n_rows : int
        Number of rows of positive weight in all shards.
    largest_weight : float or None
        The largest weight of a row; None if all are 1.
    categories : CategoryColumns or None
        What is known of the columns of categories; None if there are none.
    deadline : float
        Seconds of silence after which a worker counts as lost. A fit without a scheduler, or without
        any worker, gives up after the same time.
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
        categories: CategoryColumns | None = None,
        deadline: float = DEADLINE,
    ) -> None:
        self.name = f"marginboost-{uuid.uuid4().hex}"
        self.client = client
        self.connection = Connection(client, deadline)
        self.placement = Placement(self.name, self.connection, recipes)
        self.binned = ClusterBins(tuple(thresholds))
        self.class_mass = class_mass
        self.class_counts = class_counts
        self.n_rows = n_rows
        self.largest_weight = largest_weight
        self.categories = categories
        self.orders: LearnedOrders | None = None  # of categories, if they were learned again
        self._finalizer = weakref.finalize(self, _release, client, self.placement)
        self._finalizer.atexit = False
        self.left_out: RowView | None = None  # copies of rows that are no part of these rows
        self._whole: ClusterTrainingSet = self
        self._copies: _Copies | None = None  # once they are known

    @property
    def n_classes(self) -> int:
        """Number of classes, including those without rows."""
        return len(self.class_mass)

    @property
    def n_counted(self) -> int:
        """Number of rows, with their multiplicity."""
        return int(self.class_counts.sum())

    def hash_bounds(self, seed: int, share: float) -> NDArray[np.uint64]:
        """Find a bound per class, below which the hashes of about a share of its rows lie."""
        with closing(self.open_session(seed)) as session:
            return find_hash_bounds(session, seed, share * self.class_counts)

    def class_mass_seen(self, view: RowView) -> NDArray[np.float64]:
        """Sum weight * multiplicity by class, over the copies of rows that are not held out."""
        with closing(self.open_session(view.seed)) as session:
            return sum_seen_masses(session, view, self.n_counted)

    def sample_rows(self, view: RowView) -> SampledRows:
        """Bring the rows of which a view holds out copies to the client, in numeric form."""
        found = self._of_rows(TrainingSet.sample_rows, view, seed=view.seed)
        by_shard = zip(*found, strict=True)
        X, *rest = ([part for part in parts if part.shape[0]] or [parts[0]] for parts in by_shard)
        stack = sparse.vstack if sparse.issparse(X[0]) else np.concatenate
        return SampledRows(stack(X), *map(np.concatenate, rest)).in_order()

    def without(self, view: RowView) -> ClusterTrainingSet:
        """Return the rows without the copies that a view holds out; the shards stay as they are.

        A worker removes them at the start of a session.
        """
        if self.left_out is not None:
            raise ValueError(
                "Rows can be left out of a whole training set only; some are left out of this one."
            )
        rest = copy(self)
        # The rest must keep the whole alive, which owns the shards.
        rest._whole, rest.left_out, rest._copies = self, view, None
        described = rest._of_rows(_describe)
        largest = [weight for _, weight, _ in described if weight is not None]
        rest.n_rows = sum(n_rows for n_rows, _, _ in described)
        rest.largest_weight = max(largest) if largest else None
        rest.class_counts = np.sum([counts for _, _, counts in described], axis=0)
        rest.class_mass = self.class_mass_seen(view)
        return rest

    def relearned(self, view: RowView) -> ClusterTrainingSet:
        """Return the same rows, with orders of categories from those that a view does not hold out.

        A worker bins its rows anew at the start of a session.
        """
        if self.categories is None or view.hash_bounds is None:
            return self
        every = self._of_rows(TrainingSet.category_counts, view, seed=view.seed)
        return self._learned(every, self.categories)

    def cross_fitted(self) -> ClusterTrainingSet:
        """Return the same rows; where a column has many categories, without their own labels in it.

        See `marginboost.data.category_shares`.
        """
        if self.categories is None or not any(self.categories.many):
            return self
        return self._learned(self._of_rows(_counts_of_many), self.categories)

    def _learned(
        self, every: list[list[NDArray[np.int64] | None]], categories: CategoryColumns
    ) -> ClusterTrainingSet:
        """Return the same rows, with orders of categories from the counts of all shards."""
        counts = [
            None if tables[0] is None else np.sum(tables, axis=0)
            for tables in zip(*every, strict=True)
        ]
        data = copy(self)
        data.orders = categories.learn(counts)
        thresholds = list(self.binned.thresholds)
        for column, cuts in zip(data.orders.columns, data.orders.thresholds, strict=True):
            thresholds[column] = cuts
        data.binned = ClusterBins(tuple(thresholds))
        return data

    def open_session(self, seed: int | None = None) -> Session:
        """Open a session with the shards; requests about hashes need a seed."""
        session = Session(self)
        self._log_rows(session, seed)
        return session

    def _log_rows(self, session: Session, seed: int | None) -> None:
        """Log the commands that turn the shards into these rows, so that rebuilt ones replay them."""
        if self.left_out is not None:
            self._whole._log_rows(session, self.left_out.seed)
            session.command("leave_out", self.left_out)
        if seed is not None:
            if self._copies is None:
                self._copies = self._find_copies(seed)
            if self._copies.shifts is not None:
                session.command("shift_copies", self._copies.shifts, by_shard=True)
            if self._copies.independent is not None:
                session.command("set_independence", seed, self._copies.independent)
        logged = None if self.left_out is None else self._whole.orders
        if self.orders is not None and self.orders is not logged:
            session.command("with_orders", self.orders)

    def _find_copies(self, seed: int) -> _Copies:
        """Find the numbers of copies in all shards, and whether they are observations of their own."""
        with closing(self.open_session()) as session:
            shifts = find_shifts(session, self.name, seed, self.n_rows)
            if shifts is not None:
                session.command("shift_copies", shifts, by_shard=True)
            return _Copies(shifts, find_independence(session, seed, self.n_rows, self.class_counts))

    def build_shards(self, later: Sequence[Recipe]) -> None:
        """Build all shards now; use other recipes for those that are lost later."""
        wait_for(self.client, self.placement.locations())
        self.placement.recipes = list(later)

    def close(self) -> None:
        """Free the shards on the workers; this ends their fits."""
        self._finalizer()

    @property
    def closed(self) -> bool:
        """Whether the shards have been freed."""
        return not self._finalizer.alive

    def _of_rows(
        self, function: Callable[..., Any], *args: Any, seed: int | None = None
    ) -> list[Any]:
        with closing(self.open_session(seed)) as session:
            found: list[Any] = session.send(MapRows(function, args))
        return found


def _counts_of_many(part: TrainingSet) -> list[NDArray[np.int64] | None]:
    return part.category_counts(RowView(), many_alone=True)


def _describe(part: TrainingSet) -> tuple[int, float | None, NDArray[np.float64]]:
    return part.n_rows, part.largest_weight, part.class_counts


def _release(client: Client, placement: Placement) -> None:
    """Release the shards, on the client's loop."""
    if client.status == "running":
        client.loop.add_callback(placement.close)
