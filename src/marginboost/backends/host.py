"""Where the rows of a fit live: they are checked, binned and boosted there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.utils.validation import _check_sample_weight

from marginboost.backends.input_columns import take_columns
from marginboost.backends.requirements import (
    Requirements,
    check_least_weight,
    check_two_classes,
    check_weighted_classes,
)
from marginboost.data.category_codes import CategoryCodes, CategoryColumns
from marginboost.data.classes import class_codes
from marginboost.data.column_facts import ColumnFacts
from marginboost.data.encoding import Encoding, all_none, has_missing
from marginboost.data.grouping import counted_times, weight_kind
from marginboost.data.leaf_weight import with_least_leaf_weight
from marginboost.data.lost_categories import warn_of_lost_categories
from marginboost.data.memory import check_memory
from marginboost.data.rows import Rows
from marginboost.data.training_set import TrainingSet, make_training_set
from marginboost.engine import (
    NativeStumpEngine,
    NativeTreeEngine,
    ReferenceStumpEngine,
    ReferenceTreeEngine,
    StumpEngine,
    TreeEngine,
)
from marginboost.engine.threads import effective_threads

if TYPE_CHECKING:
    from marginboost.data.columns import Columns

Floats = NDArray[np.float64]
RowsT_co = TypeVar("RowsT_co", bound=Rows, covariant=True)


class Prepared(NamedTuple, Generic[RowsT_co]):
    """What becomes of X and y.

    Attributes
    ----------
    rows : Rows
        The rows, ready for an engine.
    classes : array
        The labels, sorted.
    encoding : Encoding
        How the columns of X became the ordered columns of the rows.
    """

    rows: RowsT_co
    classes: NDArray[Any]
    encoding: Encoding


class Backend(Protocol):
    """Takes rows in and makes the engines that boost them.

    Attributes
    ----------
    n_threads : int
        Threads of this process that a fit may use.
    """

    n_threads: int

    def prepare(
        self, requirements: Requirements, X: Any, y: Any, sample_weight: ArrayLike | None
    ) -> Prepared[Rows]:
        """Check, encode and bin what `fit` was given."""
        ...

    def make_stump_engine(self) -> StumpEngine:
        """Make an engine for weak classifiers that say -1 or +1, or name a class."""
        ...

    def make_tree_engine(self, n_threads: int) -> TreeEngine:
        """Make an engine for vector-leaf trees."""
        ...

    def close(self) -> None:
        """Let go of the rows, whether the fit ended well or not."""
        ...


class Host:
    """The memory and the threads of this process; see `Backend`.

    Parameters
    ----------
    engine : str
        One of `marginboost.engine.ENGINES`.
    n_jobs : int or None
        As in scikit-learn.
    """

    def __init__(self, engine: str, n_jobs: int | None) -> None:
        self._engine = engine
        self.n_threads = effective_threads(n_jobs)

    def prepare(
        self, requirements: Requirements, X: Any, y: Any, sample_weight: ArrayLike | None
    ) -> Prepared[TrainingSet]:
        """Check, encode and bin."""
        columns, y = take_columns(requirements.classifier, X, y, requirements.sparse_formats)
        classes, codes = class_codes(y)
        check_two_classes(classes)
        codes = codes.astype(
            np.min_scalar_type(len(classes))
        )  # a byte per row where that is enough
        weight = factors = None
        if sample_weight is not None or requirements.class_weight is not None:
            weight = _row_weights(requirements, sample_weight, classes, codes)
            factors = requirements.class_factors(classes, np.bincount(codes))
        encoding, X, categories = _encode(columns, codes, len(classes), weight, requirements)
        del columns  # where the ordered columns are a copy, what they were made of can go
        needed = requirements.needed_bytes(X, len(classes))
        check_memory(needed, requirements.describe(X.shape[0], X.shape[1], len(classes)))
        data = make_training_set(
            X,
            codes,
            len(classes),
            sample_weight=weight,
            class_weight=factors,
            max_bins=requirements.max_bins,
            n_threads=self.n_threads,
            categories=categories,
        )
        if data.binned.medians is not None:
            encoding = encoding.with_medians(data.binned.medians)
        if requirements.least_leaf_share > 0.0:
            data = with_least_leaf_weight(data, requirements.least_leaf_share)
        return Prepared(data, classes, encoding)

    def make_stump_engine(self) -> StumpEngine:
        """Make an engine."""
        native = self._engine == "native"
        return NativeStumpEngine(self.n_threads) if native else ReferenceStumpEngine()

    def make_tree_engine(self, n_threads: int) -> TreeEngine:
        """Make an engine."""
        native = self._engine == "native"
        return NativeTreeEngine(n_threads) if native else ReferenceTreeEngine()

    def close(self) -> None:
        """Nothing to let go of."""


def _row_weights(
    requirements: Requirements,
    sample_weight: ArrayLike | None,
    classes: NDArray[Any],
    codes: NDArray[Any],
) -> Floats | None:
    """Check the rows' weights; 0 for classes of weight 0, None where every row counts once."""
    weight: Floats | None = None
    if sample_weight is not None:
        weight = _check_sample_weight(sample_weight, codes, dtype=np.float64)
        at = int(np.argmin(weight))
        check_least_weight(float(weight[at]), at)
    counts = requirements.counts_class(classes)
    if counts is not None:
        weight = counts[codes].astype(np.float64) if weight is None else weight * counts[codes]
    if weight is not None:
        check_weighted_classes(len(np.unique(codes[weight > 0])))
    return weight


def _encode(
    columns: Columns,
    codes: NDArray[Any],
    n_classes: int,
    weight: Floats | None,
    requirements: Requirements,
) -> tuple[Encoding, Any, CategoryCodes | None]:
    """Return the encoding of the columns, the ordered columns, and the rows' categories."""
    X = columns.matrix
    if not issparse(X) and all_none(columns.categories) and not has_missing(X):
        return Encoding.plain(X.shape[1]), X, None
    times = None if weight is None else counted_times(weight, weight_kind(weight))
    facts = ColumnFacts.of(columns, codes, n_classes, times)
    warn_of_lost_categories(facts, columns.names, by_type=requirements.by_type)
    encoding = facts.encoding()
    X = columns.recoded(encoding.categories, encoding.lost).matrix
    kept = CategoryColumns.of(encoding, requirements.max_bins)
    categories = None if kept is None else CategoryCodes(kept, kept.codes(X))
    return encoding, encoding.apply(X), categories
