"""Trees without a split, which add the same scores to every row.

A model without any split is one such tree, with the class frequencies. A model whose calibration needs
the frequencies besides its rounds has one more tree in its first round: its *offset*.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marginboost.model.ensemble import Ensemble

__all__ = ["Leaf", "code_of", "has_offset", "with_offset", "without_offset"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Leaf:
    """A tree of one leaf, for `EnsembleBuilder.append`."""

    feature: tuple[int, ...] = ()
    threshold: tuple[float, ...] = ()
    left: tuple[int, ...] = ()
    right: tuple[int, ...] = ()
    leaf_value: tuple[float, ...] = (1.0,)


def with_offset(ensemble: Ensemble, scores: Floats) -> Ensemble:
    """Add the same scores to every row, from the first round on.

    Parameters
    ----------
    ensemble : Ensemble
        With at least one round, and no offset.
    scores : float64 ndarray of shape (n_classes,)
        The scores to add.

    Returns
    -------
    Ensemble
        Its first round has one more tree, with one leaf, which uses the last vector.
    """
    tree = int(ensemble.round_offsets[1])
    leaf = int(ensemble.leaf_offsets[tree])
    arrays = _arrays(ensemble)
    arrays["vectors"] = np.vstack([ensemble.vectors, scores[None]])
    arrays["round_offsets"] = ensemble.round_offsets + (np.arange(ensemble.n_rounds + 1) > 0)
    arrays["node_offsets"] = np.insert(ensemble.node_offsets, tree, ensemble.node_offsets[tree])
    arrays["leaf_offsets"] = np.insert(ensemble.leaf_offsets, tree, leaf)
    arrays["leaf_offsets"][tree + 1 :] += 1
    arrays["leaf_vector"] = np.insert(ensemble.leaf_vector, leaf, len(ensemble.vectors))
    arrays["leaf_value"] = np.insert(ensemble.leaf_value, leaf, 1.0)
    if ensemble.leaf_cover is not None:
        first = ensemble.leaf_cover[: ensemble.leaf_offsets[1]]
        arrays["leaf_cover"] = np.insert(ensemble.leaf_cover, leaf, first.sum())
    return Ensemble(**arrays, n_features=ensemble.n_features)


def has_offset(ensemble: Ensemble) -> bool:
    """Check whether the first round ends with a tree of one leaf that alone uses the last vector."""
    if not ensemble.n_rounds or ensemble.round_offsets[1] < 2:
        return False
    tree = int(ensemble.round_offsets[1]) - 1
    leaves = ensemble.leaf_offsets[tree : tree + 2]
    own = np.flatnonzero(ensemble.leaf_vector == len(ensemble.vectors) - 1)
    return bool(
        ensemble.node_offsets[tree] == ensemble.node_offsets[tree + 1]
        and leaves[1] == leaves[0] + 1
        and np.array_equal(own, leaves[:1])
    )


def without_offset(ensemble: Ensemble) -> Ensemble:
    """Remove the offset that `with_offset` added, if there is one."""
    if not has_offset(ensemble):
        return ensemble
    tree = int(ensemble.round_offsets[1]) - 1
    leaf = int(ensemble.leaf_offsets[tree])
    arrays = _arrays(ensemble)
    arrays["vectors"] = ensemble.vectors[:-1]
    arrays["round_offsets"] = ensemble.round_offsets - (np.arange(ensemble.n_rounds + 1) > 0)
    arrays["node_offsets"] = np.delete(ensemble.node_offsets, tree)
    arrays["leaf_offsets"] = np.delete(ensemble.leaf_offsets, tree + 1)
    arrays["leaf_offsets"][tree + 1 :] -= 1
    for name in ("leaf_vector", "leaf_value", "leaf_cover"):
        if arrays[name] is not None:
            arrays[name] = np.delete(arrays[name], leaf)
    return Ensemble(**arrays, n_features=ensemble.n_features)


def code_of(ensemble: Ensemble) -> NDArray[np.int8]:
    """Return the code, vectors of -1 and +1; 0 for a model of class frequencies, which has no code."""
    if not len(ensemble.feature):
        return np.zeros(ensemble.vectors.shape, dtype=np.int8)
    return ensemble.vectors.astype(np.int8)


def _arrays(ensemble: Ensemble) -> dict[str, Any]:
    parts = (part.name for part in fields(ensemble) if part.init and part.name != "n_features")
    return {name: getattr(ensemble, name) for name in parts}
