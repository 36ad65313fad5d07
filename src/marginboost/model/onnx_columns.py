"""The places of ordered columns in the input matrix of an ONNX graph."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from marginboost.data.encoding import Encoding

__all__ = ["OrderedColumns"]


@dataclass(frozen=True, slots=True, eq=False)
class OrderedColumns:
    """The column of the matrix that trees read for each ordered column.

    A column of numbers is in the matrix once, with its missing values as NaN: a split of an ordered
    column made from it sends them to the side of the ordered column's `fill`. An ordered column of
    categories is in the matrix itself, and has no missing values.

    Parameters
    ----------
    place : int64 ndarray of n_ordered
        The column of the matrix, by ordered column.
    fill : float64 ndarray of n_ordered
        The encoding's.
    """

    place: NDArray[np.int64]
    fill: NDArray[np.float64]

    @classmethod
    def of_numbers(cls, encoding: Encoding) -> OrderedColumns:
        """Return the places if the matrix is X itself."""
        return cls(encoding.source.astype(np.int64), encoding.fill)

    @classmethod
    def of_mixed(cls, encoding: Encoding) -> OrderedColumns:
        """Return the places if the ordered columns of categories follow the columns of numbers."""
        numbers = [column for column, names in enumerate(encoding.categories) if names is None]
        position = {column: place for place, column in enumerate(numbers)}
        place = []
        after = len(numbers)
        for column, source in enumerate(encoding.source.tolist()):
            of_numbers = encoding.positions[column] is None
            place.append(position[source] if of_numbers else after)
            after += not of_numbers
        return cls(np.array(place, dtype=np.int64), encoding.fill)
