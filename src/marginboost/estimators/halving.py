"""Successive halving: many settings on one fold, the better ones on more, the best on all."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from marginboost.estimators.time_limit import TimeLimit

__all__ = ["Halving"]

Floats = NDArray[np.float64]

# The first two rungs of the ladder end after this part of the time.
FIRST_RUNG, SECOND_RUNG = 0.4, 0.7
# The settings that are not among the best few end after this part: the rest is for fits of all rows.
OTHERS = 0.75
# The second rung goes on to so many folds.
SECOND_FOLDS = 3
# The third rung has this share of the settings, but not fewer than so many.
THIRD_SHARE, FEWEST = 0.25, 3


class Halving:
    """Names the next fit to do, until all are done or the time is over.

    All settings are fitted on one fold, the better half on two more, and the best few on all. The others
    follow, the best first, while there is also time for what comes after the search. A fit that would go
    beyond the time, as earlier ones suggest, is not begun. But one setting is always fitted on all folds,
    however long that takes: so there is always a model.

    Parameters
    ----------
    n_settings : int
        Number of settings.
    n_folds : int
        Number of folds.
    limit : TimeLimit
        The time.

    Attributes
    ----------
    losses : float64 array of n_settings x n_folds
        The loss of each fit; NaN where there is none.
    seconds : float64 array of n_settings x n_folds
        How long it took.
    limit : TimeLimit
        The time.
    """

    def __init__(self, n_settings: int, n_folds: int, limit: TimeLimit) -> None:
        self.losses: Floats = np.full((n_settings, n_folds), np.nan)
        self.seconds: Floats = np.full((n_settings, n_folds), np.nan)
        self.limit = limit
        self._expected: Floats = np.full(n_settings, np.nan)

    def __iter__(self) -> Iterator[tuple[int, int]]:
        """Yield setting and fold of each fit; `record` its result before the next."""
        n_settings, n_folds = self.losses.shape
        yield 0, 0
        yield from self._rung(range(n_settings), 1, FIRST_RUNG)
        half = self._best(1)[: -(-n_settings // 2)]
        yield from self._rung(half, SECOND_FOLDS, SECOND_RUNG)
        leader = self._leader()
        for fold in np.flatnonzero(~self.is_done[leader]).tolist():
            yield leader, fold
        few = self._best(SECOND_FOLDS)[: max(FEWEST, round(THIRD_SHARE * n_settings))]
        yield from self._rung(few, n_folds, 1.0)
        yield from self._rung([*self._best(SECOND_FOLDS), *self._best(1)], n_folds, OTHERS)
        yield from self._rung(range(n_settings), n_folds, OTHERS)

    def add(self, expected: Sequence[float]) -> Iterator[tuple[int, int]]:
        """Add settings, and yield their fits on all folds while there is time.

        Parameters
        ----------
        expected : sequence of float
            How many seconds a fit of each will probably take.
        """
        more = np.full((len(expected), self.losses.shape[1]), np.nan)
        first = len(self.losses)
        self.losses = np.concatenate([self.losses, more])
        self.seconds = np.concatenate([self.seconds, more])
        self._expected = np.concatenate([self._expected, expected])
        for setting in range(first, len(self.losses)):
            # On all folds or on none: other settings are blended only with those.
            if self.limit.elapsed + self._time_left(setting) <= OTHERS * self.limit.seconds:
                for fold in range(self.losses.shape[1]):
                    yield setting, fold

    def best(self, n_settings: int) -> list[int]:
        """Return settings that are done on all folds, the one of least loss first."""
        return self._best(self.losses.shape[1])[:n_settings]

    def seconds_of(self, setting: int) -> float:
        """Return how long a fit of a setting will probably take."""
        own = self.seconds[setting, self.is_done[setting]]
        if len(own):
            return float(own.mean())
        if not np.isnan(self._expected[setting]):
            return float(self._expected[setting])
        known = np.sort(self.seconds[self.is_done])
        return float(known[(len(known) - 1) // 2])

    def record(self, setting: int, fold: int, loss: float, seconds: float) -> None:
        """Take note of a fit that is done."""
        self.losses[setting, fold] = loss
        self.seconds[setting, fold] = seconds

    @property
    def is_done(self) -> NDArray[np.bool_]:
        """Which fits are done, of n_settings x n_folds."""
        return ~np.isnan(self.seconds)

    def usable(self) -> tuple[list[int], list[int]]:
        """Return settings that are done on the same folds, and those folds; all but after a Ctrl-C."""
        done = self.is_done
        most = done[int(done.sum(axis=1).argmax())]
        return np.flatnonzero(done[:, most].all(axis=1)).tolist(), np.flatnonzero(most).tolist()

    def _rung(
        self, settings: Iterable[int], n_folds: int, share: float
    ) -> Iterator[tuple[int, int]]:
        """Yield the fits of settings that are not done on the first folds, while there is time."""
        for setting in settings:
            left = np.flatnonzero(~self.is_done[setting, :n_folds]).tolist()
            while left and self._has_time(setting, len(left), share):
                yield setting, left.pop(0)

    def _has_time(self, setting: int, n_fits: int, share: float) -> bool:
        """Check whether fits will end within a share of the time, with enough left for the leader."""
        leader = self._leader()
        end = self.limit.seconds - (self._time_left(leader) if setting != leader else 0.0)
        end = min(end, share * self.limit.seconds)
        return self.limit.elapsed + n_fits * self.seconds_of(setting) <= end

    def _leader(self) -> int:
        """Return the best setting that can be finished in time; else the one that is finished first."""
        ranked = [*self._best(SECOND_FOLDS), *self._best(1)]
        left = self.limit.seconds - self.limit.elapsed
        in_time = [setting for setting in ranked if self._time_left(setting) <= left]
        return in_time[0] if in_time else min(ranked, key=self._time_left)

    def _time_left(self, setting: int) -> float:
        """Return how long the folds of a setting will probably take that are not done."""
        return self.seconds_of(setting) * int((~self.is_done[setting]).sum())

    def _best(self, n_folds: int) -> list[int]:
        """Return the settings that are done on the first folds, the one of least loss first."""
        done = np.flatnonzero(self.is_done[:, :n_folds].all(axis=1))
        means = np.nan_to_num(self.losses[done, :n_folds].mean(axis=1), nan=np.inf)
        return [int(setting) for setting in done[np.argsort(means, kind="stable")]]
