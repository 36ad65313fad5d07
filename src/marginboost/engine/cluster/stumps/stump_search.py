"""The search for stumps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from marginboost import _native
from marginboost.engine.cluster.requests import total
from marginboost.engine.cluster.search import Search, of_owners

if TYPE_CHECKING:
    from marginboost.engine.cluster.shard_state import ShardState


@dataclass(frozen=True)
class StumpSearch(Search):
    """`StumpEngine.best_stump`."""

    criterion: int

    def fill(self, states: Sequence[ShardState]) -> NDArray[np.int32]:
        """Sum the direction by bin."""
        sums: NDArray[np.int32] = total([state.engine.histograms() for state in states])
        return sums

    def scan(self, sums: NDArray[np.int32], n_bins: NDArray[np.int32]) -> Any:
        """Find the best stump."""
        return _native.scan_stump(sums, n_bins, self.criterion)

    def join(self, values: list[Any], bounds: list[int]) -> tuple[int, int, int, int]:
        """Take the largest; ties go to the first feature."""
        best = (-1, 0, 0, 0)
        for (feature, bin_, output, edge), begin in of_owners(values, bounds):
            if feature >= 0 and (best[0] < 0 or abs(edge) > abs(best[3])):
                best = (feature + begin, bin_, output, edge)
        return best
