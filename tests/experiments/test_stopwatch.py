import itertools
from time import process_time

import pytest

from experiments import stopwatch
from experiments.stopwatch import median_seconds, processor_seconds


def test_it_tells_the_median_and_numbers_the_calls(monkeypatch):
    seen = []
    clock = itertools.chain.from_iterable((0.0, taken) for taken in (5.0, 1.0, 3.0, 100.0, 2.0))
    monkeypatch.setattr(stopwatch, "process_time", lambda: next(clock))
    assert median_seconds(seen.append, calls=5) == 3.0
    assert seen == [0, 0, 1, 2, 3, 4]


def test_it_tells_seconds_of_the_processor():
    """Five of nine calls took the median or longer, so it is at most a fifth of all."""
    start = process_time()
    found = median_seconds(lambda call: sum(range(20_000)), calls=9)
    assert 0 < found <= (process_time() - start) / 5


def test_it_stops_when_the_time_is_over(monkeypatch):
    calls, now = [], [0.0]

    def work(call):
        calls.append(call)
        now[0] += 1.0

    monkeypatch.setattr(stopwatch, "perf_counter", lambda: now[0])
    median_seconds(work, calls=10_000, at_most=7.5)
    assert len(calls) == 1 + 8  # with the rehearsal
    calls.clear()
    median_seconds(work, calls=10_000, at_most=0.5)
    assert len(calls) == 1 + 5  # so many are always made


def test_a_failing_call_is_not_hidden():
    with pytest.raises(ZeroDivisionError):
        median_seconds(lambda call: 1 // 0, calls=3)


def test_a_longer_call_is_timed_without_a_call_to_warm_up(monkeypatch):
    seen = []
    clock = itertools.chain.from_iterable((0.0, taken) for taken in (5.0, 1.0, 3.0))
    monkeypatch.setattr(stopwatch, "process_time", lambda: next(clock))
    assert processor_seconds(lambda: seen.append(1)) == 3.0
    assert len(seen) == 3
