"""What a boosting method may know about the rows: small values, wherever the rows are stored."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol, Self

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from marginboost.data.category_codes import LearnedOrders
    from marginboost.data.row_view import RowView
    from marginboost.data.sampled_rows import SampledRows

Floats = NDArray[np.float64]


class Bins(Protocol):
    """The features: their thresholds, and so their bins."""

    @property
    def thresholds(self) -> Sequence[Floats]:
        """The thresholds between the bins of each feature."""
        ...

    @property
    def n_bins(self) -> NDArray[np.int32]:
        """Number of bins of each feature."""
        ...

    @property
    def n_features(self) -> int:
        """Number of features."""
        ...


class Rows(Protocol):
    """Rows of a fit: on this machine (`TrainingSet`), on a GPU, or on the workers of a cluster."""

    @property
    def binned(self) -> Bins:
        """The features."""
        ...

    @property
    def n_classes(self) -> int:
        """Number of classes, including those without rows."""
        ...

    @property
    def n_rows(self) -> int:
        """Number of rows of positive weight."""
        ...

    @property
    def n_counted(self) -> int:
        """Number of rows, each as often as it counts."""
        ...

    @property
    def class_counts(self) -> Floats:
        """Number of rows of each class, each as often as it counts."""
        ...

    @property
    def class_mass(self) -> Floats:
        """Sum of weight * multiplicity over the rows of each class."""
        ...

    @property
    def largest_weight(self) -> float | None:
        """The largest weight of a row; None if all weights are 1."""
        ...

    @property
    def orders(self) -> LearnedOrders | None:
        """Orders of categories that were learned again; None: those of the encoding."""
        ...

    def hash_bounds(self, seed: int, share: float) -> NDArray[np.uint64]:
        """Find a bound per class, below which the hashes of about a share of its rows lie.

        See `marginboost.data.hash_bounds.hash_bounds`.
        """
        ...

    def class_mass_seen(self, view: RowView) -> Floats:
        """Sum weight * multiplicity per class, over the rows that a view does not hold out."""
        ...

    def sample_rows(self, view: RowView) -> SampledRows:
        """Copy the rows that a view holds out to the host, in an order that all engines share."""
        ...

    def relearned(self, view: RowView) -> Self:
        """Return the same rows, with orders of categories from those that a view does not hold out."""
        ...

    def cross_fitted(self) -> Self:
        """Return the same rows; where a column has many categories, without their own labels in it."""
        ...

    def without(self, view: RowView) -> Self:
        """Return the rows that a view does not hold out, with the thresholds and classes of all rows."""
        ...
