"""Decision stumps: one feature, one threshold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from marginboost.engine.stumps.criterion import Criterion

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from marginboost.engine.stumps.base import StumpEngine
    from marginboost.engine.stumps.host import HostStumpEngine


@dataclass(frozen=True, slots=True)
class Stump:
    """h(x) = polarity where x[feature] > threshold, else -polarity."""

    feature: tuple[int]
    bin: tuple[int]
    threshold: tuple[float]
    polarity: int
    output: int
    edge: int

    left: ClassVar[tuple[int]] = (-1,)  # ~0
    right: ClassVar[tuple[int]] = (-2,)  # ~1
    gain: ClassVar[tuple[float]] = (1.0,)

    @property
    def leaf_value(self) -> tuple[float, float]:
        """Value at or below the threshold, and above it."""
        return (-float(self.polarity), float(self.polarity))


class StumpLearner:
    """The best stump over all features, thresholds, outputs and signs.

    Parameters
    ----------
    thresholds : sequence of float64 arrays
        The thresholds between the bins of each feature.
    """

    def __init__(self, thresholds: Sequence[NDArray[np.float64]]) -> None:
        self._thresholds = thresholds

    def find(self, engine: StumpEngine, criterion: Criterion = Criterion.LARGEST) -> Stump | None:
        """Find the stump and put the engine's rows on its two sides."""
        feature, bin_, output, edge = engine.best_stump(criterion)
        if feature < 0:
            return None
        engine.place_stump(feature, bin_, edge >= 0)
        return self.stump(feature, bin_, output, edge)

    def find_each(self, engine: HostStumpEngine) -> list[Stump] | None:
        """Find the stump of largest |edge| for every output."""
        choices = engine.best_stumps().tolist()
        if choices[0][0] < 0:
            return None
        return [
            self.stump(feature, bin_, output, edge)
            for output, (feature, bin_, edge) in enumerate(choices)
        ]

    def stump(self, feature: int, bin_: int, output: int, edge: int) -> Stump:
        """Make the record of a stump that an engine named."""
        polarity = 1 if edge >= 0 else -1
        threshold = float(self._thresholds[feature][bin_])
        return Stump((feature,), (bin_,), (threshold,), polarity, output, abs(edge))
