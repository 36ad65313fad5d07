"""One encoding of several: the ordered columns of all, equal ones once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from marginboost.data.columns import Categories
from marginboost.data.encoding import Category, Encoding

__all__ = ["JoinedEncoding", "join_encodings", "with_names"]

Floats = NDArray[np.float64]


class JoinedEncoding(NamedTuple):
    """What became of several encodings.

    Attributes
    ----------
    encoding : Encoding
        Has the ordered columns of all.
    places : list of int32 arrays
        For each of the encodings, where its ordered columns are in the joined one.
    """

    encoding: Encoding
    places: list[NDArray[np.int32]]


def with_names(encoding: Encoding, names: Sequence[Categories | None]) -> Encoding:
    """Name the categories of an encoding of codes.

    Parameters
    ----------
    encoding : Encoding
        Its categories are the places of names, as numbers.
    names : sequence, one entry per column of X
        The names; None for a column of numbers.
    """
    if encoding.numbers_alone:
        return encoding

    def named(column: int, codes: Sequence[Category]) -> Categories:
        of_column = names[column] or ()
        return tuple(of_column[int(code)] for code in codes)

    categories = tuple(
        None if codes is None else named(column, codes)
        for column, codes in enumerate(encoding.categories)
    )
    lost = {column: named(column, [code])[0] for column, code in encoding.lost.items()}
    return replace(encoding, categories=categories, lost=lost)


def join_encodings(encodings: Sequence[Encoding]) -> JoinedEncoding:
    """Join encodings of the same columns of X.

    A category that one of them lacks is in its ordered columns where other unknown values are. Where
    numbers were never missing, an encoding fills in the median of its own rows, should one be missing
    later: the joined one fills in the median of those, so that it has one ordered column for all.

    Parameters
    ----------
    encodings : sequence of Encoding
        At least one.

    Returns
    -------
    JoinedEncoding
    """
    first = encodings[0]
    if all(one.numbers_alone and _same_columns(one, first) for one in encodings):
        fill = np.median(np.stack([one.fill for one in encodings]), axis=0)
        places = [np.arange(first.n_ordered, dtype=np.int32)] * len(encodings)
        return JoinedEncoding(replace(first, fill=fill), places)
    return _joined(encodings)


def _same_columns(one: Encoding, other: Encoding) -> bool:
    """Check whether two encodings of numbers differ at most in the medians that they fill in."""
    return np.array_equal(one.source, other.source) and np.array_equal(_ends(one), _ends(other))


def _ends(encoding: Encoding) -> Floats:
    return np.where(np.isinf(encoding.fill), encoding.fill, 0.0)


def _joined(encodings: Sequence[Encoding]) -> JoinedEncoding:
    n_features = encodings[0].n_features
    categories = [_union(encodings, column) for column in range(n_features)]
    source: list[int] = []
    fill: list[float] = []
    positions: list[Floats | None] = []
    places = [np.zeros(one.n_ordered, dtype=np.int32) for one in encodings]
    bounds = [np.searchsorted(one.source, np.arange(n_features + 1)) for one in encodings]
    for column in range(n_features):
        found: dict[tuple[bytes, float], int] = {}
        medians: dict[int, list[float]] = {}
        for number, one in enumerate(encodings):
            for old in range(bounds[number][column], bounds[number][column + 1]):
                value, order = float(one.fill[old]), _order(one, old, categories[column])
                of_numbers = order is None and np.isfinite(value)
                key = (b"" if order is None else order.tobytes(), 0.0 if of_numbers else value)
                if key not in found:
                    found[key] = len(source)
                    source.append(column)
                    fill.append(value)
                    positions.append(order)
                places[number][old] = found[key]
                if of_numbers:
                    medians.setdefault(found[key], []).append(value)
        for new, values in medians.items():
            fill[new] = float(np.median(values))
    lost: dict[int, Category] = {}
    for one in encodings:
        lost |= {n: name for n, name in one.lost.items() if categories[n] == () and n not in lost}
    encoding = Encoding(
        n_features,
        np.array(source, dtype=np.int32),
        np.array(fill, dtype=np.float64),
        tuple(categories),
        tuple(positions),
        lost,
    )
    return JoinedEncoding(encoding, places)


def _union(encodings: Sequence[Encoding], column: int) -> Categories | None:
    """Return the categories that some encoding has, sorted; None for a column of numbers."""
    of_all = [one.categories[column] for one in encodings]
    if all(of_one is None for of_one in of_all):
        return None
    return tuple(sorted({name for of_one in of_all for name in of_one or ()}))


def _order(encoding: Encoding, column: int, names: Categories | None) -> Floats | None:
    """Return the positions of names in an ordered column; None for a column of numbers."""
    own, known = encoding.positions[column], encoding.categories[encoding.source[column]]
    if own is None or known is None or names is None:
        return None
    place = dict(zip(known, own.tolist(), strict=True))
    missing = float(encoding.fill[column])
    return np.array([place.get(name, missing) for name in names], dtype=np.float64)
