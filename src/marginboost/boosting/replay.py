"""Leading a method through rounds that were boosted before, so that it can go on from there.

Nothing is searched for again: rows are put where each tree puts them, weights are summed and moved as
they were, and random draws are made and dropped. So the rounds to come are those of one long fit, to the
bit.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from marginboost.boosting.round import Round

if TYPE_CHECKING:
    from marginboost.boosting.loop import Method
    from marginboost.model.builder import EnsembleBuilder
    from marginboost.model.ensemble import Ensemble

__all__ = ["PastTree", "Replayable", "replay"]

Floats = NDArray[np.float64]


@dataclass(slots=True)
class PastTree:
    """A tree of an ensemble, over the bins of the rows at hand; see `WeakClassifier`.

    Attributes
    ----------
    feature, bin, threshold, left, right, leaf_value : list
        As in an ensemble.
    leaf_vector : list of int
        Number of the vector of each leaf.
    vectors : float64 array of leaves x classes
        Those vectors.
    """

    feature: list[int]
    bin: list[int]
    threshold: list[float]
    left: list[int]
    right: list[int]
    leaf_value: list[float]
    leaf_vector: list[int]
    vectors: Floats
    column: int = 0
    edge: int = 0

    @property
    def gain(self) -> list[float]:
        """Nothing: what its splits gained is known from elsewhere."""
        return [0.0] * len(self.feature)


class Replayable(Protocol):
    """A method that can be led through rounds it has boosted before."""

    def recall(self, trees: Sequence[PastTree], votes: Floats | None) -> tuple[Any, Floats]:
        """Do what `train_weak_classifier` did when it found a round's trees, but for the search.

        Returns
        -------
        found : object
            As from `train_weak_classifier`.
        w : float64 array
            The coefficients that the round added.
        """
        ...


def replay(
    method: Method,
    ensemble: Ensemble,
    builder: EnsembleBuilder,
    *,
    thresholds: Sequence[Floats],
    gains: Floats,
    votes: Floats | None,
) -> Iterator[Round]:
    """Lead a method through all rounds of an ensemble; they go to the builder again.

    Parameters
    ----------
    method : Method
        Is `Replayable`, and has not started.
    ensemble : Ensemble
        Made by such a method.
    builder : EnsembleBuilder
        Has no round yet.
    thresholds : sequence of float64 arrays
        Of the rows at hand.
    gains : float64 array
        How much each split counts.
    votes : float64 array or None
        Of every round, where a method kept them beside the ensemble.

    Yields
    ------
    Round
        As it was, but for the edge.
    """
    past: Any = method
    method.start()
    offsets = pairwise(ensemble.round_offsets.tolist())
    for number, (first, last) in enumerate(offsets, start=1):
        trees = [past_tree(ensemble, j, thresholds) for j in range(first, last)]
        found, w = past.recall(trees, None if votes is None else votes[number - 1])
        solution = method.solve(found)
        error = method.update_weights(found, w)
        method.extend(builder, found, w)
        yield Round(
            number,
            w,
            np.nan,
            solution.optimality_error,
            error,
            gains[ensemble.node_offsets[first] : ensemble.node_offsets[last]],
            method.training_loss,
        )


def past_tree(ensemble: Ensemble, j: int, thresholds: Sequence[Floats]) -> PastTree:
    """Cut a tree out of an ensemble, and find the bins of its thresholds."""
    nodes = slice(*ensemble.node_offsets[j : j + 2])
    leaves = slice(*ensemble.leaf_offsets[j : j + 2])
    feature = ensemble.feature[nodes].tolist()
    threshold = ensemble.threshold[nodes].tolist()
    vectors = ensemble.leaf_vector[leaves]
    return PastTree(
        feature,
        [_bin(thresholds[f], f, t) for f, t in zip(feature, threshold, strict=True)],
        threshold,
        ensemble.left[nodes].tolist(),
        ensemble.right[nodes].tolist(),
        ensemble.leaf_value[leaves].tolist(),
        vectors.tolist(),
        ensemble.vectors[vectors],
    )


def _bin(cuts: Floats, feature: int, threshold: float) -> int:
    place = int(np.searchsorted(cuts, threshold))
    if place == len(cuts) or cuts[place] != threshold:
        raise ValueError(
            "warm_start goes on with rows that are binned as those of the earlier fit were; got rows "
            f"whose column {feature} has no threshold at {threshold:g}. Fit with the same rows and "
            "max_bins, or set warm_start=False to start anew."
        )
    return place
