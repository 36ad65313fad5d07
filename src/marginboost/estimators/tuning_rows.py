"""The rows that a tuner splits into folds: read and checked once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.multiclass import check_classification_targets

from marginboost.backends.class_weights import ClassWeights
from marginboost.backends.input_columns import take_columns
from marginboost.backends.prepared import checked_weight
from marginboost.backends.requirements import check_weighted_classes
from marginboost.boosting.cross_fit import FoldRows
from marginboost.data.classes import check_two_classes
from marginboost.data.collection import is_collection
from marginboost.data.column_facts import ColumnFacts
from marginboost.data.columns import Columns
from marginboost.data.grouping import counted_times, weight_kind
from marginboost.data.lost_categories import warn_of_lost_categories
from marginboost.data.stored_rows import as_stored
from marginboost.engine.gpu.arrays import to_host

if TYPE_CHECKING:
    from marginboost.data.encoding import Encoding

__all__ = ["TuningRows", "read_rows"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class TuningRows:
    """Rows in memory, with codes for categories and for labels.

    Attributes
    ----------
    columns : Columns
        The columns of X.
    codes : int64 array
        Class number of each row.
    classes : array
        The labels, sorted.
    sample_weight : float64 array or None
        Weight of each row, as it was given.
    class_weight : dict or None
        Factor of each class, by its number.
    weight : float64 array
        Weight of each row with the factor of its class; the largest is near 1, or all count rows.
    times : float64 array
        How often each row counts.
    """

    columns: Columns
    codes: NDArray[np.int64]
    classes: NDArray[Any]
    sample_weight: Floats | None
    class_weight: dict[int, float] | None
    weight: Floats
    times: Floats

    @property
    def matrix(self) -> Any:
        """X as numbers: an array or a SciPy sparse matrix."""
        return self.columns.matrix

    @property
    def categorical(self) -> list[int] | None:
        """The numbers of the columns of categories; None where there are none."""
        found = [n for n, names in enumerate(self.columns.categories) if names is not None]
        return found or None

    @property
    def class_counts(self) -> Floats:
        """Number of rows of each class, each as often as it counts."""
        counts = np.bincount(self.codes, weights=self.times, minlength=len(self.classes))
        return counts.astype(np.float64)

    @property
    def frequencies(self) -> Floats:
        """The share of each class in the weight of all rows."""
        mass = np.bincount(self.codes, weights=self.weight, minlength=len(self.classes))
        shares: Floats = mass / mass.sum()
        return shares

    def weights_of(self, rows: NDArray[np.int64]) -> Floats | None:
        """Return the weights of some rows, as a fit takes them."""
        return None if self.sample_weight is None else self.sample_weight[rows]

    def scored(self, rows: NDArray[np.int64]) -> FoldRows:
        """Return what is known of rows that are scored."""
        return FoldRows(self.codes[rows], self.weight[rows], float(self.times[rows].sum()))

    def sample(self, n_rows: int, encoding: Encoding, seed: int) -> tuple[Any, Floats]:
        """Return at most so many rows of some weight, encoded, and their weights."""
        counted = np.flatnonzero(self.weight)
        some = np.sort(np.random.default_rng(seed).permutation(counted)[:n_rows])
        columns = Columns(self.matrix[some], self.columns.categories, self.columns.names)
        known = columns.recoded(encoding.categories, encoding.lost)
        return encoding.apply(known.matrix), self.weight[some]


def read_rows(classifier: Any, X: Any, y: Any, sample_weight: Any) -> TuningRows:
    """Read and check what `fit` was given; the classifier keeps number and names of the columns."""
    for name, given in (("X", X), ("y", y), ("sample_weight", sample_weight)):
        if is_collection(given):
            raise ValueError(
                f"{name} must be in memory for {type(classifier).__name__}, got a Dask collection; call "
                "its compute(), or use MarginBoostClassifier, which is fitted by the workers."
            )
    if as_stored(X) is not None:
        raise ValueError(
            f"X must be in memory for {type(classifier).__name__}, got rows in files; read them, or use "
            "MarginBoostClassifier, which reads a few columns at a time."
        )
    columns, y = take_columns(classifier, to_host(X), to_host(y), classifier._sparse_formats)
    if sparse.issparse(columns.matrix):
        columns = Columns(columns.matrix.tocsr(), columns.categories, columns.names)
    check_classification_targets(y)
    classes, codes = np.unique(y, return_inverse=True)
    check_two_classes(classes)
    given = None
    if sample_weight is not None:
        given = checked_weight(to_host(sample_weight), codes)
    factors = _factors(classifier, classes, codes)
    counted = np.ones(len(codes)) if given is None else given
    if factors is not None:
        counted = counted * (factors > 0)[codes]
    check_weighted_classes(len(np.unique(codes[counted > 0])))
    times = np.asarray(counted_times(counted, weight_kind(counted)), dtype=np.float64)
    rows = TuningRows(
        columns,
        codes.astype(np.int64),
        classes,
        given,
        None if factors is None else dict(enumerate(factors.tolist())),
        _scaled(counted, None if factors is None else factors[codes]),
        times,
    )
    if rows.categorical is not None:
        facts = ColumnFacts.of(columns, codes, len(classes), times)
        by_type = isinstance(classifier.categorical_features, str)
        warn_of_lost_categories(facts, columns.names, by_type=by_type, shares=True)
    return rows


def _factors(classifier: Any, classes: NDArray[Any], codes: NDArray[Any]) -> Floats | None:
    """Return the factor of each class; None where there is no `class_weight`."""
    weights = ClassWeights(classifier.class_weight)
    factors, counts = weights.factors(classes, np.bincount(codes)), weights.counted(classes)
    return factors if factors is None or counts is None else factors * counts


def _scaled(weight: Floats, factors: Floats | None) -> Floats:
    """Multiply weights by factors; a power of two keeps sums from overflowing, and changes no share."""
    product = weight if factors is None else _halved(weight) * _halved(factors)
    return _halved(product)


def _halved(weight: Floats) -> Floats:
    """Scale weights so that the largest is below 1, where it is large."""
    return np.ldexp(weight, -max(int(np.frexp(weight.max())[1]), 0))
