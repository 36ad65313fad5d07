"""Clocks: actions that take turns, and what a fit spends where."""

import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import perf_counter, perf_counter_ns
from types import SimpleNamespace
from typing import Any

import numpy as np

from marginboost import MCBoostClassifier, _native


def interleaved(
    actions: dict[str, Callable[[], Any]], *, repeats: int = 5, seconds: float = 0.0
) -> dict[str, float]:
    """Best time of each action, in seconds.

    The actions take turns, so that whatever else the machine does strikes all alike; the best of
    many short runs is the one that nothing struck. At least `repeats` turns, and more until
    `seconds` have passed.
    """
    for action in actions.values():
        action()
    best = dict.fromkeys(actions, np.inf)
    end = perf_counter() + seconds
    turn = 0
    while turn < repeats or perf_counter() < end:
        for name, action in actions.items():
            start = perf_counter()
            action()
            best[name] = min(best[name], perf_counter() - start)
        turn += 1
    return best


class StopwatchClassifier(MCBoostClassifier):
    """MCBoostClassifier that notes when each round ended, in `round_ends_`."""

    def _make_method(self, *args):
        method = super()._make_method(*args)
        update_weights = method.update_weights
        self.round_ends_ = [perf_counter()]

        def noted(w):
            error = update_weights(w)
            self.round_ends_.append(perf_counter())
            return error

        method.update_weights = noted
        return method

    def round_seconds(self) -> float:
        """Median time of a round, the first left out."""
        return float(np.median(np.diff(self.round_ends_)[1:]))


class NativeClock:
    """Stands in for `marginboost._native` and notes the time inside each of its functions.

    What a call costs by itself (the clock's own reading, Python's call) is measured on a function
    that does nothing and taken off.
    """

    def __init__(self) -> None:
        self.nanoseconds: dict[str, int] = defaultdict(int)
        self.calls: dict[str, int] = defaultdict(int)
        idle = self._timed("idle", lambda *_: None)
        for _ in range(20_000):
            idle(None, None)
        self.overhead = self.nanoseconds.pop("idle") / self.calls.pop("idle")

    def _timed(self, name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        nanoseconds, calls = self.nanoseconds, self.calls

        def timed(*args):
            start = perf_counter_ns()
            result = call(*args)
            nanoseconds[name] += perf_counter_ns() - start
            calls[name] += 1
            return result

        return timed

    def _shard(self, *args):
        shard = _native.Shard(*args)
        methods = (name for name in dir(shard) if not name.startswith("_"))
        return SimpleNamespace(**{name: self._timed(name, getattr(shard, name)) for name in methods})

    def __getattr__(self, name: str) -> Any:
        found = self._shard if name == "Shard" else getattr(_native, name)
        timed = self._timed(name, found) if callable(found) else found
        setattr(self, name, timed)
        return timed

    def seconds(self, *names: str) -> float:
        """Time inside the named functions, or inside all."""
        return sum(
            (self.nanoseconds[name] - self.overhead * self.calls[name]) * 1e-9
            for name in names or tuple(self.nanoseconds)
        )

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Put this clock in the place of `_native` in every module of the package."""
        modules = [
            module
            for name, module in sys.modules.items()
            if name.startswith("marginboost.") and getattr(module, "_native", None) is _native
        ]
        for module in modules:
            module._native = self
        try:
            yield
        finally:
            for module in modules:
                module._native = _native
