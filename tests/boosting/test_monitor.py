"""What ends a fit before its last round, and what an earlier fit had."""

import numpy as np

from marginboost.boosting.loop import CALLBACK, EARLY_STOPPING, MAX_TIME
from marginboost.boosting.monitor import Monitor
from marginboost.boosting.round import Round
from marginboost.boosting.stopping import EarlyStopping
from marginboost.boosting.validation import ValidationScore


def finished(number, **known):
    return Round(number, np.ones(1), 0.1, 0.0, 0.5, (), **known)


def test_why_a_monitor_ends_a_fit(monkeypatch):
    now = [100.0]
    monkeypatch.setattr("time.perf_counter", lambda: now[0])
    losses = iter([3.0, 2.0, 2.0, 2.0])
    monitor = Monitor(
        10, began=99.0, evaluate=lambda: ValidationScore(0.25, next(losses), 1.0),
        stopping=EarlyStopping(2, 0.0), max_time=50.0,
    )  # fmt: skip
    now[0] = 102.0
    assert monitor(finished(1)) is None
    assert monitor.rounds[0].seconds == 3.0
    assert monitor.rounds[0].seconds_left == 18.0
    assert (monitor.rounds[0].validation_error, monitor.rounds[0].validation_loss) == (0.25, 3.0)
    assert monitor(finished(2)) is None
    assert monitor(finished(3)) is None
    assert monitor(finished(4)) == EARLY_STOPPING
    slow = Monitor(10, began=99.0, max_time=3.0)
    assert slow(finished(1)) == MAX_TIME
    assert slow.rounds[0].seconds_left == 0.0
    seen = []
    assert Monitor(10, began=99.0, callbacks=[lambda r: True, seen.append])(finished(1)) == CALLBACK
    assert len(seen) == 1


def test_rounds_of_an_earlier_fit():
    followed, seen = [], []
    stopping = EarlyStopping(2, 0.0)
    monitor = Monitor(
        10, began=0.0, evaluate=lambda: ValidationScore(0.5, 1.0, 1.0), stopping=stopping,
        callbacks=[seen.append], listeners=[followed.append],
    )  # fmt: skip
    monitor.restore(finished(1), 1.5)
    monitor.restore(finished(2), 2.5)
    assert [r.seconds for r in monitor.rounds] == [1.5, 2.5]
    assert monitor(finished(3)) == EARLY_STOPPING
    assert monitor.rounds[2].seconds > 2.5
    assert (len(followed), len(seen)) == (3, 1)
