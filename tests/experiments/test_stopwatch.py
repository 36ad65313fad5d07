import itertools
from time import perf_counter

import pytest

from experiments import stopwatch
from experiments.stopwatch import median_seconds


def work(seconds):
    end = perf_counter() + seconds
    while perf_counter() < end:
        pass


def test_it_tells_the_median_and_numbers_the_calls(monkeypatch):
    seen = []
    clock = itertools.chain.from_iterable((0.0, taken) for taken in (5.0, 1.0, 3.0, 100.0, 2.0))
    monkeypatch.setattr(stopwatch, "process_time", lambda: next(clock))
    assert median_seconds(seen.append, calls=5) == 3.0
    assert seen == [0, 0, 1, 2, 3, 4]


def test_it_tells_seconds_that_were_worked():
    assert 0 < median_seconds(lambda call: work(0.002), calls=9) <= 0.01


def test_it_stops_when_the_time_is_over():
    calls = []
    median_seconds(lambda call: calls.append(work(0.01)), calls=10_000, at_most=0.02)
    assert 6 <= len(calls) < 20


def test_a_failing_call_is_not_hidden():
    with pytest.raises(ZeroDivisionError):
        median_seconds(lambda call: 1 // 0, calls=3)
