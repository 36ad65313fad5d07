"""Leading a method through rounds that were boosted before, so that it can go on from there.

Nothing is searched for again: rows are put where each tree puts them, weights are summed and moved as
they were, and random draws are made and dropped. So the rounds to come are those of one long fit, to the
bit.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from marginboost.boosting.loop import Step, take_step

if TYPE_CHECKING:
    from marginboost.boosting.round import Round
    from marginboost.data.encoding import Encoding
    from marginboost.model.builder import EnsembleBuilder
    from marginboost.model.ensemble import Ensemble

__all__ = ["Earlier", "PastTree", "Resumable", "resume"]

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
    output: int = 0
    edge: int = 0

    @property
    def gain(self) -> list[float]:
        """Nothing: what its splits gained is known from elsewhere."""
        return [0.0] * len(self.feature)


class Resumable(Protocol):
    """A method that can be led through rounds it has boosted before."""

    def restore_round(self, trees: Sequence[PastTree], votes: Floats | None) -> tuple[Any, Floats]:
        """Do what `train_weak_classifier` did when it found a round's trees, except for the search.

        Returns
        -------
        found : object
            As from `train_weak_classifier`.
        w : float64 array
            The coefficients that the round added.
        """
        ...


class Earlier(NamedTuple):
    """A model that a fit resumes.

    Attributes
    ----------
    ensemble : Ensemble
        Its rounds.
    classes : array
        Its labels.
    encoding : Encoding
        How columns of X became those that it splits.
    gains : float64 array
        How much each split counts.
    seconds : float64 array
        When each round was over.
    votes : float64 array or None
        The votes of its rounds, where the ensemble does not show which is whose.
    """

    ensemble: Ensemble
    classes: NDArray[Any]
    encoding: Encoding
    gains: Floats
    seconds: Floats
    votes: Floats | None

    def check(self, classes: NDArray[Any], encoding: Encoding) -> None:
        """Raise where the rows of a fit are of another kind than those of this model."""
        if not np.array_equal(self.classes, classes):
            raise ValueError(
                "y must hold the classes of the fit that warm_start resumes, "
                f"{self.classes.tolist()!r}; got {classes.tolist()!r}. Set warm_start=False to start "
                "anew."
            )
        if self.encoding.n_features != encoding.n_features:
            raise ValueError(
                f"X must have the {self.encoding.n_features} columns of the fit that warm_start resumes; "
                f"got {encoding.n_features}. Set warm_start=False to start anew."
            )
        if not self.encoding.agrees_with(encoding):
            raise ValueError(
                "X must have the categories, and missing values in the columns, of the fit that "
                "warm_start resumes. Fit with the same rows, or set warm_start=False to start anew."
            )


def resume(
    method: Any, builder: EnsembleBuilder, earlier: Earlier, thresholds: Sequence[Floats]
) -> Iterator[tuple[Round, float]]:
    """Lead a method through all rounds of an earlier model; they go to the builder again.

    Parameters
    ----------
    method : Method
        Is `Resumable`, and has started.
    builder : EnsembleBuilder
        Has no round yet.
    earlier : Earlier
        Made by such a method.
    thresholds : sequence of float64 arrays
        Of the rows at hand.

    Yields
    ------
    Round
        As it was, except for the edge.
    float
        When it was over, in the earlier fit.
    """
    ensemble, votes = earlier.ensemble, earlier.votes
    if not len(ensemble.feature):
        return  # class frequencies are no round to resume from
    offsets = pairwise(ensemble.round_offsets.tolist())
    for number, (first, last) in enumerate(offsets, start=1):
        trees = [past_tree(ensemble, j, thresholds) for j in range(first, last)]
        found, w = method.restore_round(trees, None if votes is None else votes[number - 1])
        solution = method.solve(found)
        step = Step(found, w, np.nan, solution.optimality_error, np.nan)
        finished = take_step(method, builder, number, step)
        gains = earlier.gains[ensemble.node_offsets[first] : ensemble.node_offsets[last]]
        yield finished._replace(gains=gains), float(earlier.seconds[number - 1])


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
            "warm_start resumes with rows that are binned as those of the earlier fit were; got rows "
            f"whose column {feature} has no threshold at {threshold:g}. Fit with the same rows and "
            "max_bins, or set warm_start=False to start anew."
        )
    return place
