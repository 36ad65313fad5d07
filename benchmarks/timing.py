"""Timing: interleaved actions, and where a fit spends its time.

Everything here takes the best of several repeats. A fit is deterministic to the bit, so the same
call in two fits does the same work, and the shorter time is the one less disturbed by other programs.
"""

import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import perf_counter, perf_counter_ns
from types import SimpleNamespace
from typing import Any

import numpy as np

from marginboost import MCBoostClassifier, _native
from marginboost.engine.stumps.base import Weighting
from marginboost.engine.stumps.native import NativeStumpEngine
from marginboost.loss import LOSSES


def interleaved(
    actions: dict[str, Callable[[], Any]], *, repeats: int = 3, seconds: float = 0.0
) -> dict[str, float]:
    """Best time of each action, in seconds.

    The actions take turns, so that other load on the machine affects all alike. At least `repeats`
    turns, and more until `seconds` have passed.
    """
    best = {}
    end = perf_counter() + seconds
    turn = -1  # the first turn warms up
    while turn < repeats or perf_counter() < end:
        for name, action in actions.items():
            start = perf_counter()
            action()
            taken = perf_counter() - start
            best[name] = taken if turn < 1 else min(best[name], taken)
        turn += 1
    return best


def loaded_engine(rows, threads: int) -> NativeStumpEngine:
    """Return an engine with the rows of a TrainingSet and a first direction to search in."""
    engine = NativeStumpEngine(threads)
    engine.load(rows, Weighting(LOSSES["exponential"]))
    ones = np.ones((2, rows.n_classes))
    engine.advance(ones, ones, 10)
    return engine


class StopwatchClassifier(MCBoostClassifier):
    """An MCBoostClassifier that records when each round ended."""

    def _make_method(self, *args):
        method = super()._make_method(*args)
        update_weights = method.update_weights
        self.round_ends_ = []

        def noted(found, w):
            error = update_weights(found, w)
            self.round_ends_.append(perf_counter())
            return error

        method.update_weights = noted
        return method

    def round_seconds(self, X, y, repeats: int = 1):
        """Fit; return the best time of each round but the first over the repeats."""
        best = np.inf
        for _ in range(repeats):
            best = np.minimum(best, np.diff(self.fit(X, y).round_ends_))
        return best


class NativeClock:
    """Replaces `marginboost._native` and records the time of every call into it.

    The cost of recording is measured on a function that does nothing, and subtracted.
    """

    def __init__(self) -> None:
        self._calls: dict[str, list[int]] = defaultdict(list)
        idle = self._timed("idle", lambda *_: None)
        for _ in range(2000):
            idle(None, None)
        self._overhead = min(self._calls.pop("idle"))
        self._best: dict[str, Any] = {}

    def _timed(self, name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        calls = self._calls

        def timed(*args):
            start = perf_counter_ns()
            result = call(*args)
            calls[name].append(perf_counter_ns() - start)
            return result

        return timed

    def _shard(self, *args):
        shard = _native.StumpShard(*args)
        names = (name for name in dir(shard) if not name.startswith("_"))
        return SimpleNamespace(**{name: self._timed(name, getattr(shard, name)) for name in names})

    def __getattr__(self, name: str) -> Any:
        found = self._shard if name == "Shard" else getattr(_native, name)
        return self._timed(name, found) if callable(found) else found

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Record the calls of one fit, in place of `_native` in every module of the package."""
        modules = [
            module
            for name, module in sys.modules.items()
            if name.startswith("marginboost.") and getattr(module, "_native", None) is _native
        ]
        self._calls.clear()
        for module in modules:
            module._native = self
        try:
            yield
        finally:
            for module in modules:
                module._native = _native
        for name, taken in self._calls.items():
            self._best[name] = np.minimum(self._best.get(name, np.inf), taken)

    def seconds(self) -> dict[str, float]:
        """Time of a fit inside each native function, each call at its best over the fits."""
        return {
            name: float(np.maximum(taken - self._overhead, 0).sum()) * 1e-9
            for name, taken in self._best.items()
        }
