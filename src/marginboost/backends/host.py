"""Where the rows of a fit live: they are checked, binned and boosted there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse

from marginboost.backends.input_columns import take_columns
from marginboost.backends.prepared import Prepared, row_weights
from marginboost.backends.requirements import Requirements
from marginboost.backends.stored import prepare_stored
from marginboost.data.category_codes import CategoryCodes, CategoryColumns
from marginboost.data.classes import check_two_classes, class_codes
from marginboost.data.column_facts import ColumnFacts
from marginboost.data.encoding import Encoding, all_none, has_missing
from marginboost.data.grouping import counted_times, weight_kind
from marginboost.data.leaf_weight import with_least_leaf_weight
from marginboost.data.lost_categories import warn_of_lost_categories
from marginboost.data.rows import Rows
from marginboost.data.stored_rows import StoredRows
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

__all__ = ["Backend", "Host", "Prepared"]

Floats = NDArray[np.float64]


class Backend(Protocol):
    """Prepare rows, and make the engines that boost them.

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
        if isinstance(X, StoredRows):
            return prepare_stored(requirements, X, y, sample_weight, self.n_threads)
        columns, y = take_columns(requirements.classifier, X, y, requirements.sparse_formats)
        classes, codes = class_codes(y)
        check_two_classes(classes)
        codes = codes.astype(
            np.min_scalar_type(len(classes))
        )  # a byte per row where that is enough
        weight = factors = None
        if sample_weight is not None or requirements.class_weight.given is not None:
            weight = row_weights(requirements, sample_weight, classes, codes)
            factors = requirements.class_weight.factors(classes, np.bincount(codes))
        encoding, X, categories = _encode(
            columns, codes, len(classes), weight, requirements, self.n_threads
        )
        del columns  # where the ordered columns are a copy, what they were made of can go
        requirements.check_memory(X, len(classes))
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
        else:
            data = data.cross_fitted()
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


def _encode(
    columns: Columns,
    codes: NDArray[Any],
    n_classes: int,
    weight: Floats | None,
    requirements: Requirements,
    n_threads: int,
) -> tuple[Encoding, Any, CategoryCodes | None]:
    """Return the encoding of the columns, the ordered columns, and the rows' categories."""
    X = columns.matrix
    if not issparse(X) and all_none(columns.categories) and not has_missing(X, n_threads):
        return Encoding.plain(X.shape[1]), X, None
    times = None if weight is None else counted_times(weight, weight_kind(weight))
    facts = ColumnFacts.of(columns, codes, n_classes, times)
    shares = requirements.cross_fits
    warn_of_lost_categories(facts, columns.names, by_type=requirements.by_type, shares=shares)
    encoding = facts.encoding(shares=shares)
    X = columns.recoded(encoding.categories, encoding.lost).matrix
    kept = CategoryColumns.of(encoding, requirements.max_bins, facts.many(shares=shares))
    categories = None if kept is None else CategoryCodes(kept, kept.codes(X))
    return encoding, encoding.apply(X), categories
