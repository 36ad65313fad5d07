"""Which rows a model errs on: those with some value of one column."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from marginboost.data.encoding import Encoding

__all__ = ["Segment", "weak_segments"]

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

_FEWEST_ROWS = 30
_FEWEST_ERRORS = 10
_PARTS = 4
# In standard deviations: hundreds of segments are compared.
_DEVIATIONS = 4.5


class Segment(NamedTuple):
    """Rows with some value of one column.

    Attributes
    ----------
    column : int
        The column of X.
    condition : str
        What holds for its value, such as "missing" or "above 2.5".
    n_rows : int
        Number of rows.
    accuracy : float
        Share of them that is predicted correctly.
    deviations : float
        How far below the accuracy of all other rows it is, in standard deviations of chance.
    """

    column: int
    condition: str
    n_rows: int
    accuracy: float
    deviations: float


def weak_segments(
    encoding: Encoding, X: Any, right: Bools, columns: list[int], n: int = 2
) -> list[Segment]:
    """Find the values of columns at which a model errs clearly more often than elsewhere.

    Numbers are divided at their quartiles; categories and missing values are segments of their own.

    Parameters
    ----------
    encoding : Encoding
        Of the columns.
    X : array or sparse matrix
        Rows as numbers, as `Encoding.apply` takes them.
    right : bool array of n_rows
        Whether each row is predicted correctly.
    columns : list of int
        The columns to look at.
    n : int
        The most segments to return, at most one per column.

    Returns
    -------
    list of Segment
        Of 30 rows or more, 10 of them wrong; the clearest first.
    """
    X = X.tocsc() if sparse.issparse(X) else X
    found = []
    for j in columns:
        column = X[:, [j]].toarray()[:, 0] if sparse.issparse(X) else X[:, j]
        values = np.asarray(column, dtype=np.float64)
        segments = [
            Segment(j, words, int(rows.sum()), float(right[rows].mean()), _deviations(right, rows))
            for words, rows in _divide(values, encoding.categories[j])
            if rows.sum() >= _FEWEST_ROWS and (~right[rows]).sum() >= _FEWEST_ERRORS
        ]
        found += sorted(segments, key=lambda segment: -segment.deviations)[:1]
    clear = [segment for segment in found if segment.deviations >= _DEVIATIONS]
    return sorted(clear, key=lambda segment: -segment.deviations)[:n]


def _divide(values: Floats, categories: tuple[Any, ...] | None) -> Iterator[tuple[str, Bools]]:
    """Yield conditions on the values of a column, and the rows for which they hold."""
    missing = np.isnan(values)
    yield ("missing" if categories is None else "missing or new"), missing
    if categories is not None:
        for place in np.unique(values[~missing]).astype(np.int64).tolist():
            yield str(categories[place]), values == place
        return
    if missing.all():
        return
    cuts = np.unique(np.quantile(values[~missing], np.arange(1, _PARTS) / _PARTS, method="lower"))
    parts = np.where(missing, -1, np.searchsorted(cuts, values))
    for place in np.unique(parts[~missing]).tolist():
        yield _between(cuts, place), parts == place


def _between(cuts: Floats, place: int) -> str:
    if place == 0:
        return f"at most {cuts[0]:.4g}"
    if place == len(cuts):
        return f"above {cuts[-1]:.4g}"
    return f"above {cuts[place - 1]:.4g}, up to {cuts[place]:.4g}"


def _deviations(right: Bools, rows: Bools) -> float:
    n, rest = int(rows.sum()), int((~rows).sum())
    overall = float(right.mean())
    variance = overall * (1 - overall) * (1 / n + 1 / max(1, rest))
    if not rest or variance <= 0:
        return 0.0
    return float((right[~rows].mean() - right[rows].mean()) / np.sqrt(variance))
