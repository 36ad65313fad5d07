"""Rows in files, prepared in two passes: first labels and weights, then the features."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from marginboost import _native
from marginboost.backends.input_columns import asked_columns, checked_labels, keep_names
from marginboost.backends.prepared import Prepared, row_weights
from marginboost.backends.requirements import Requirements, Sized
from marginboost.boosting.progress import make_steps
from marginboost.data.classes import check_classes, check_two_classes
from marginboost.data.grouping import class_masses, counted_times, group_rows, weight_kind
from marginboost.data.leaf_weight import with_least_leaf_weight
from marginboost.data.lost_categories import warn_of_lost_categories
from marginboost.data.stored_binning import Labelled, bin_stored
from marginboost.data.stored_columns import read_labels, read_numbers
from marginboost.data.stored_rows import StoredRows
from marginboost.data.training_set import TrainingSet

__all__ = ["prepare_stored"]


def prepare_stored(
    requirements: Requirements, rows: StoredRows, y: Any, sample_weight: Any, n_threads: int
) -> Prepared[TrainingSet]:
    """Check, encode and bin rows in files.

    Every step is that of rows in memory, one column at a time, so the result is the same to the bit.

    Parameters
    ----------
    requirements : Requirements
        What the classifier asks for.
    rows : StoredRows
        The rows.
    y : str or array
        The column of the labels, or the labels.
    sample_weight : str, array or None
        The column of the weights, or the weights.
    n_threads : int
        Threads to use.
    """
    classifier = requirements.classifier
    names = rows.features(*(name for name in (y, sample_weight) if isinstance(name, str)))
    _check_features(names, y, sample_weight)
    show = make_steps("features read", len(names)) if classifier.verbose else _show_nothing
    classes, codes = _labels(rows, y)
    if isinstance(sample_weight, str):
        sample_weight = read_numbers(rows, sample_weight, "sample_weight")
    weight = factors = None
    if sample_weight is not None or requirements.class_weight.given is not None:
        weight = row_weights(requirements, sample_weight, classes, codes)
        factors = requirements.class_weight.factors(classes, np.bincount(codes))
    asked = asked_columns(classifier.categorical_features, len(names), names)
    requirements.check_memory(Sized((rows.n_rows, len(names))), len(classes))
    keep_names(classifier, len(names), names)
    kind = weight_kind(weight)
    times = None if weight is None else counted_times(weight, kind)
    grouped = group_rows(codes, len(classes), weight, factors, kind)
    binned, facts, categories = bin_stored(
        rows,
        names,
        asked,
        Labelled(codes, len(classes), times, grouped.order, grouped.multiplicity),
        max_bins=requirements.max_bins,
        shares=requirements.cross_fits,
        n_threads=n_threads,
        progress=show,
    )
    _, offsets, weight, multiplicity = grouped
    del grouped, times, codes
    _native.return_free_memory()
    shares = requirements.cross_fits
    warn_of_lost_categories(facts, names, by_type=requirements.by_type, shares=shares)
    mass = class_masses(offsets, weight, multiplicity)
    data = TrainingSet(
        binned, offsets, weight, multiplicity, mass, n_threads=n_threads, categories=categories
    )
    encoding = facts.encoding(shares=shares)
    if binned.medians is not None:
        encoding = encoding.with_medians(binned.medians)
    if requirements.least_leaf_share > 0.0:
        data = with_least_leaf_weight(data, requirements.least_leaf_share)
    else:
        data = data.cross_fitted()
    return Prepared(data, classes, encoding)


def _check_features(names: list[str], y: Any, sample_weight: Any) -> None:
    if not names:
        raise ValueError("X must have at least one column beside labels and weights; it has none.")
    for what, name in (("y", y), ("sample_weight", sample_weight)):
        if isinstance(name, str) and name in names:
            raise ValueError(
                f"The columns of X must not hold the labels or weights; {what} is {name!r}."
            )


def _labels(rows: StoredRows, y: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the classes, and the class number of each row."""
    if y is None:
        raise ValueError(
            "y must name the column of X that holds the labels, or hold them, where X is in files; got "
            "None."
        )
    if isinstance(y, str):
        classes, codes = read_labels(rows, y)
    else:
        labels = np.asarray(checked_labels(y))
        if labels.shape != (rows.n_rows,):
            raise ValueError(
                f"X and y must have the same number of rows; got {rows.n_rows:,} and {len(labels):,}."
            )
        classes, places = np.unique(labels, return_inverse=True)
        codes = places.astype(np.min_scalar_type(len(classes)))
    check_classes(classes)
    check_two_classes(classes)
    return classes, codes


def _show_nothing(n_done: int) -> None:
    """Be quiet."""
