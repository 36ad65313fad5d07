"""Wilcoxon's signed-rank test of two methods over data sets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.stats import rankdata, wilcoxon

from experiments.pairs import pair
from experiments.trial import Records

# With five sets the smallest p is 2 / 2^5 = 0.0625: no difference could be found.
FEWEST_SETS = 6


class RankTest(NamedTuple):
    """The result of the test.

    Attributes
    ----------
    n_sets, n_lower, n_equal : int
        How many sets were compared, on how many the first method has the lower error, and on how
        many both have the same: equal sets do not count.
    draws : str
        How many draws both methods have seen, of the set with the fewest and the one with the most.
    statistic : float
        The smaller of the two rank sums.
    p : float
        Two-sided.
    """

    n_sets: int
    n_lower: int
    n_equal: int
    statistic: float
    p: float
    draws: str = ""

    @property
    def n_compared(self) -> int:
        """How many sets count: those on which the errors differ."""
        return self.n_sets - self.n_equal

    @property
    def better(self) -> bool:
        """Whether the first method is significantly better, at 5 %."""
        return self.p <= 0.05 and self.n_lower > self.n_compared / 2

    @property
    def worse(self) -> bool:
        """Whether it is significantly worse."""
        return self.p <= 0.05 and not self.better


def mean_gap(records: Records, data: str, first: str, second: str) -> float | None:
    """Return the mean error of a method less that of another, on the draws that both have seen."""
    found = pair(records.of(data, first), records.of(data, second))
    return None if found is None else found.gap


def rank_test(records: Records, sets: Sequence[str], first: str, second: str) -> RankTest | None:
    """Compare the mean errors of two methods, on the draws that both have seen.

    Returns
    -------
    RankTest or None
        None if there are too few sets.
    """
    every = [pair(records.of(data, first), records.of(data, second)) for data in sets]
    pairs = [each for each in every if each is not None]
    found = np.round([each.gap for each in pairs], 9)  # equal errors must count as equal
    if len(found) < FEWEST_SETS or not found.any():
        return None
    ranks = rankdata(np.abs(found[found != 0]))
    above = found[found != 0] > 0
    statistic = float(min(ranks[above].sum(), ranks[~above].sum()))
    n_lower, n_equal = int((found < 0).sum()), int((found == 0).sum())
    counts = sorted(each.n_draws for each in pairs)
    draws = f"{counts[0]} to {counts[-1]}" if counts[0] < counts[-1] else f"{counts[0]}"
    p = float(wilcoxon(found).pvalue)
    return RankTest(len(found), n_lower, n_equal, statistic, p, draws)
