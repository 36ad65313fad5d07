"""What ends a fit before its last round, and what an earlier fit had."""

import numpy as np

from marginboost.boosting.loop import CALLBACK, EARLY_STOPPING, MAX_TIME
from marginboost.boosting.round import Round
from marginboost.boosting.stopping import EarlyStopping
from marginboost.boosting.validation import Judgement
from marginboost.boosting.watch import Watch


def finished(number, **known):
    return Round(number, np.ones(1), 0.1, 0.0, 0.5, (), **known)


def test_why_a_watch_ends_a_fit(monkeypatch):
    now = [100.0]
    monkeypatch.setattr("time.perf_counter", lambda: now[0])
    losses = iter([3.0, 2.0, 2.0, 2.0])
    watch = Watch(
        10, began=99.0, judge=lambda: Judgement(0.25, next(losses), 1.0),
        stopping=EarlyStopping(2, 0.0), max_time=50.0,
    )  # fmt: skip
    now[0] = 102.0
    assert watch(finished(1)) is None
    assert watch.rounds[0].seconds == 3.0
    assert watch.rounds[0].seconds_left == 18.0
    assert (watch.rounds[0].validation_error, watch.rounds[0].validation_loss) == (0.25, 3.0)
    assert watch(finished(2)) is None
    assert watch(finished(3)) is None
    assert watch(finished(4)) == EARLY_STOPPING
    slow = Watch(10, began=99.0, max_time=3.0)
    assert slow(finished(1)) == MAX_TIME
    assert slow.rounds[0].seconds_left == 0.0
    seen = []
    assert Watch(10, began=99.0, onlookers=[lambda r: True, seen.append])(finished(1)) == CALLBACK
    assert len(seen) == 1


def test_rounds_of_an_earlier_fit():
    followed, seen = [], []
    stopping = EarlyStopping(2, 0.0)
    watch = Watch(
        10, began=0.0, judge=lambda: Judgement(0.5, 1.0, 1.0), stopping=stopping,
        onlookers=[seen.append], followers=[followed.append],
    )  # fmt: skip
    watch.take_over(finished(1), 1.5)
    watch.take_over(finished(2), 2.5)
    assert [r.seconds for r in watch.rounds] == [1.5, 2.5]
    assert watch(finished(3)) == EARLY_STOPPING
    assert watch.rounds[2].seconds > 2.5
    assert (len(followed), len(seen)) == (3, 1)
