"""Statistics over sets: ranks, tests of differences, intervals. Rows are sets, columns libraries.

Lower values are better; an infinite value (a fit that failed or was too slow) ranks last.
"""

import math
from dataclasses import dataclass

import numpy as np
from scipy import stats

SEED, RESAMPLES = 0, 10_000
LEVEL = 0.95


def ranks(values: np.ndarray) -> np.ndarray:
    """Return the ranks in each row, 1 for the lowest; ties share their mean."""
    return stats.rankdata(values, axis=1)


def friedman(values: np.ndarray) -> tuple[float, float]:
    """Return Friedman's statistic, corrected for ties, and its p-value."""
    sets, libraries = values.shape
    placed = ranks(values)
    spread = sets * ((placed.mean(axis=0) - (libraries + 1) / 2) ** 2).sum()
    within = ((placed - (libraries + 1) / 2) ** 2).sum() / (sets * (libraries - 1))
    if within == 0:
        return 0.0, 1.0
    statistic = float(spread / within)
    return statistic, float(stats.chi2.sf(statistic, libraries - 1))


def critical_difference(libraries: int, sets: int) -> float:
    """Return Nemenyi's: mean ranks further apart differ at the level of 5 %."""
    quantile = stats.studentized_range.ppf(LEVEL, libraries, math.inf) / math.sqrt(2)
    return float(quantile * math.sqrt(libraries * (libraries + 1) / (6 * sets)))


def wilcoxon(ours: np.ndarray, theirs: np.ndarray) -> float:
    """Return the two-sided p-value of the signed ranks of the logarithms of the ratios."""
    both = np.isfinite(ours) & np.isfinite(theirs)
    differences = np.log(ours[both]) - np.log(theirs[both])
    if not differences.any():
        return 1.0
    return float(stats.wilcoxon(differences, zero_method="zsplit").pvalue)


def holm(p_values: list[float]) -> list[float]:
    """Return the p-values adjusted for their number."""
    order = np.argsort(p_values)
    adjusted, highest = [0.0] * len(p_values), 0.0
    for place, index in enumerate(order):
        highest = max(highest, min(1.0, (len(p_values) - place) * p_values[index]))
        adjusted[index] = highest
    return adjusted


def geometric_mean(ratios: np.ndarray) -> float:
    return float(np.exp(np.mean(np.log(ratios)))) if len(ratios) else math.nan


@dataclass(frozen=True)
class Interval:
    """A mean over sets with its bootstrap interval."""

    mean: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.mean:.3f} [{self.low:.3f}, {self.high:.3f}]"


def mean_interval(values: np.ndarray) -> Interval:
    """Return the mean of one value per set, and the percentiles of means of resampled sets."""
    if not len(values):
        return Interval(math.nan, math.nan, math.nan)
    rng = np.random.default_rng(SEED)
    chosen = rng.integers(len(values), size=(RESAMPLES, len(values)))
    tail = 50 * (1 - LEVEL)
    low, high = np.percentile(values[chosen].mean(axis=1), [tail, 100 - tail])
    return Interval(float(values.mean()), float(low), float(high))


def ratio_interval(ratios: np.ndarray) -> Interval:
    """Return the geometric mean of ratios and its interval."""
    found = mean_interval(np.log(ratios))
    return Interval(math.exp(found.mean), math.exp(found.low), math.exp(found.high))


def paired_error(wrong: np.ndarray, other_wrong: np.ndarray) -> float:
    """Return the standard error of the difference of two errors on the same rows."""
    difference = wrong.astype(float) - other_wrong.astype(float)
    return float(difference.std() / math.sqrt(len(difference)))


def fold_error(losses: np.ndarray, other_losses: np.ndarray) -> float:
    """Return the standard error of the mean difference over folds."""
    difference = losses - other_losses
    if len(difference) < 2:
        return math.nan
    return float(difference.std(ddof=1) / math.sqrt(len(difference)))
