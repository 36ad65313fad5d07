"""The weighted sum of ensembles, as one ensemble."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marginboost.coefficients.grid import on_grid
from marginboost.model.ensemble import Ensemble

__all__ = ["weighted_sum"]


def weighted_sum(ensembles: Sequence[Ensemble], factors: Sequence[float]) -> Ensemble:
    """Add the scores of ensembles.

    Parameters
    ----------
    ensembles : sequence of Ensemble
        At least one, of the same columns and classes.
    factors : sequence of float
        The scores of each ensemble are multiplied by its factor.

    Returns
    -------
    Ensemble
        With the rounds of all, one ensemble after the other, and no covers.
    """

    def joined(name: str, steps: Sequence[int] | None = None) -> NDArray[Any]:
        """Join arrays; `steps` are added to each one's numbers."""
        arrays = [getattr(one, name) for one in ensembles]
        if steps is not None:
            arrays = [
                array + array.dtype.type(step) for array, step in zip(arrays, steps, strict=True)
            ]
        return np.concatenate(arrays)

    def offsets(name: str) -> NDArray[Any]:
        """Join arrays of offsets, each without its last entry but that of the last ensemble."""
        ends = np.cumsum([0, *[getattr(one, name)[-1] for one in ensembles]])
        arrays = [
            getattr(one, name)[:-1] + end for one, end in zip(ensembles, ends[:-1], strict=True)
        ]
        return np.concatenate([*arrays, ends[-1:]]).astype(np.int64)

    vectors = [
        on_grid(one.vectors * factor) for one, factor in zip(ensembles, factors, strict=True)
    ]
    firsts = np.cumsum([0, *[len(one.vectors) for one in ensembles[:-1]]]).tolist()
    arrays = {
        "feature": joined("feature"),
        "threshold": joined("threshold"),
        "left": joined("left"),
        "right": joined("right"),
        "leaf_vector": joined("leaf_vector", firsts),
        "leaf_value": joined("leaf_value"),
        "vectors": np.concatenate(vectors),
        "round_offsets": offsets("round_offsets"),
        "node_offsets": offsets("node_offsets"),
        "leaf_offsets": offsets("leaf_offsets"),
    }
    for array in arrays.values():
        array.flags.writeable = False  # so that the ensemble does not copy them
    return Ensemble(**arrays, n_features=ensembles[0].n_features)
