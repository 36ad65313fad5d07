"""Two methods compared draw by draw, on the draws that both have seen."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.stats import wilcoxon

from experiments.trial import Records

LEVEL = 0.05
# With five draws the smallest p is 2 / 2^5 = 0.0625: nothing could be found.
FEWEST_DRAWS = 6


class Pair(NamedTuple):
    """Two methods on common draws.

    Attributes
    ----------
    n_draws : int
        How many draws both have seen.
    gap : float
        Mean error of the first less that of the second, in points.
    p : float
        Of Wilcoxon's signed-rank test over the draws, two-sided; NaN with fewer than `FEWEST_DRAWS`.
    """

    n_draws: int
    gap: float
    p: float

    @property
    def tested(self) -> bool:
        """Whether there are enough draws to judge."""
        return self.n_draws >= FEWEST_DRAWS

    @property
    def better(self) -> bool:
        """Whether the first method has the lower error, beyond chance."""
        return self.tested and self.p <= LEVEL and self.gap < 0

    @property
    def worse(self) -> bool:
        """Whether the first method has the higher error, beyond chance."""
        return self.tested and self.p <= LEVEL and self.gap > 0

    def __str__(self) -> str:
        draws = f"{self.n_draws} draw" + "s" * (self.n_draws != 1)
        return f"{self.gap:+.1f}, " + (f"p = {self.p:.2g}, {draws}" if self.tested else draws)


def pair(first: Records, second: Records) -> Pair | None:
    """Compare two methods on the draws that both have seen; None if there are none."""
    errors = first.by_draw, second.by_draw
    common = sorted(errors[0].keys() & errors[1].keys())
    if not common:
        return None
    gaps = np.round([errors[0][n] - errors[1][n] for n in common], 9)
    p = np.nan
    if len(common) >= FEWEST_DRAWS:
        p = float(wilcoxon(gaps).pvalue) if gaps.any() else 1.0
    return Pair(len(common), float(gaps.mean()), p)
