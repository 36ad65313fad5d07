"""Comparisons on common draws: errors, times, and what is bold."""

import math

import numpy as np
import pytest
from scipy.stats import wilcoxon

from experiments.page.section import HOLDS, IN_PART, UNTESTED, Table, cell_of
from experiments.page.words import on_common_draws, table_words
from experiments.pairs import pair
from experiments.speedup import Speedup, speedup, two_orders
from experiments.trial import Record, Records, Trial


def records(method, errors, **more):
    return Records(
        [
            Record(Trial("letter", method, n), {"wrong": error, "n_test": 100} | more, {"jobs": 1})
            for n, error in errors.items()
        ]
    )


def test_only_draws_that_both_have_seen_count():
    first = records("log", {0: 10, 1: 12, 2: 14, 3: 9, 4: 11, 5: 13, 9: 99})
    second = records("ecc", {5: 18, 4: 12, 3: 12, 2: 20, 1: 16, 0: 12, 8: 0})
    found = pair(first, second)
    gaps = [-2, -4, -6, -3, -1, -5]
    assert found.n_draws == 6
    assert found.gap == np.mean(gaps)
    assert found.p == wilcoxon(gaps).pvalue
    assert found.better
    assert pair(second, first).worse
    assert str(found) == "-3.5, p = 0.031, 6 draws"


def test_few_draws_are_told_and_not_judged():
    found = pair(records("log", {0: 1, 1: 1}), records("ecc", {0: 9, 1: 9}))
    assert math.isnan(found.p)
    assert not found.tested
    assert not found.better
    assert str(found) == "-8.0, 2 draws"
    assert pair(records("log", {0: 1}), records("ecc", {1: 1})) is None


def timed(method, seconds, load=1.0):
    return Records(
        [
            Record(
                Trial("letter", method, n), {"coefficient_seconds": s, "load": load}, {"jobs": 1}
            )
            for n, s in seconds.items()
        ]
    )


def test_a_speedup_is_of_common_draws():
    """One draw that only MultiBoost has, and that takes long, does not count."""
    ours, theirs = timed("exp", {0: 1.0, 1: 3.0}), timed("multiboost", {0: 100.0, 7: 9000.0})
    assert speedup(ours, theirs) == Speedup(100.0, 1)
    assert speedup(ours, timed("multiboost", {7: 1.0})) is None


def test_times_of_a_busy_machine_are_left_out():
    ours = timed("exp", {0: 1.0})
    assert speedup(ours, timed("multiboost", {0: 100.0}, load=1.4)) is not None
    assert speedup(ours, timed("multiboost", {0: 100.0}, load=1.6)) is None
    unknown = Records([Record(r.trial, {"coefficient_seconds": 1.0}, {"jobs": 1}) for r in ours])
    assert speedup(ours, unknown) is None


def test_seconds_of_the_processor_count_on_a_busy_machine():
    measures = {"coefficient_seconds": 5.0, "load": 20.0}
    trial = Trial("letter", "exp", 0)
    assert not Record(trial, measures, {"jobs": 1}).idle
    assert Record(trial, measures | {"clock": "processor"}, {"jobs": 1}).idle


def test_five_draws_can_show_nothing():
    """Wilcoxon's smallest p of five draws is above 5 %."""
    found = pair(
        records("log", dict.fromkeys(range(5), 1)), records("ecc", dict.fromkeys(range(5), 9))
    )
    assert not found.tested


def test_verdicts_on_speed_name_the_draws():
    verdict = two_orders("Fast.", [Speedup(100.0, 2), Speedup(300.0, 5), None], "pairs")
    assert verdict.judgement == HOLDS
    assert verdict.evidence.endswith("2 of 2 pairs, each on 2 to 5 common draws.")
    assert two_orders("Fast.", [Speedup(99.0, 2), Speedup(300.0, 5)], "x").judgement == IN_PART
    assert two_orders("Fast.", [None], "pairs").judgement == UNTESTED


def test_bold_compares_common_draws_only():
    """The second is lower on the draws of both, though its mean over all of its own is higher."""
    first = cell_of(dict.fromkeys(range(5), 10.0))
    second = cell_of({n: 9.0 if n < 5 else 99.0 for n in range(50)})
    few = cell_of({0: 1.0, 1: 1.0})
    assert on_common_draws([first, second, few]) == [10.0, 9.0, None]
    table = Table("Caption", ["data", "a", "b", "c"], [("iris", [first, second, few])])
    words = table_words(table)
    assert [cell.best for cell in words.rows[0][1]] == [False, True, False]
    assert "cells of fewer than 5 are not compared" in words.note


def test_where_all_have_few_draws_they_are_compared():
    row = [cell_of({0: 1.0, 1: 2.0}), cell_of({0: 2.0, 1: 9.0})]
    assert on_common_draws(row) == [pytest.approx(1.5), pytest.approx(5.5)]
    assert on_common_draws([cell_of([1.0]), cell_of([2.0])]) == [1.0, 2.0]
