"""Wilcoxon's test, against the statistics that the paper prints."""

import pytest
from scipy.stats import wilcoxon

from experiments.page.section import HOLDS, IN_PART
from experiments.paper import facts, number
from experiments.rank_test import rank_test
from experiments.table4 import Table4
from experiments.trial import Record, Records, Trial

SETS = tuple(facts("table4")["sets"])


def record(data, method, repeat, error):
    return Record(Trial(data, method, repeat), {"wrong": error, "n_test": 100}, {})


def papers(method, data):
    return number("table4", data, method, measure="error").mean


@pytest.mark.parametrize("method", ["exp", "log"])
def test_the_papers_own_numbers_give_its_statistics(method):
    records = Records(
        [
            record(data, name, 0, papers(name, data))
            for data in SETS
            for name in (method, "multiboost")
        ]
    )
    found = rank_test(records, SETS, method, "multiboost")
    assert found.statistic == facts("table4")["wilcoxon"][method]
    gaps = [round(papers(method, data) - papers("multiboost", data), 9) for data in SETS]
    assert found.p == pytest.approx(wilcoxon(gaps).pvalue)
    assert found.n_sets == len(SETS) == 8
    assert found.n_lower == sum(gap < 0 for gap in gaps)
    assert found.n_equal == gaps.count(0)
    assert not found.better
    assert not found.worse


def test_only_draws_that_both_have_seen_count():
    sets = "abcdef"
    records = [record(data, "log", 0, 10 + i) for i, data in enumerate(sets)]
    records += [record(data, "other", 0, 12 + 2 * i) for i, data in enumerate(sets)]
    records += [record(data, "log", 1, 90) for data in sets]
    found = rank_test(Records(records), sets, "log", "other")
    assert found == (6, 6, 0, 0.0, pytest.approx(2 / 2**6), "1")
    assert found.n_compared == 6
    assert found.better
    assert rank_test(Records(records), sets, "other", "log").worse
    assert rank_test(Records(records), sets[:5], "log", "other") is None


@pytest.mark.parametrize(("n_sets", "cautious"), [(6, True), (8, False)])
def test_the_verdict_says_if_the_sets_are_too_few_to_find_much(n_sets, cautious):
    sets = Table4().sets[:n_sets]
    records = [
        Record(
            Trial(data, method, 0),
            {"wrong": 10 + (method == "multiboost") * (-1) ** i * (i + 1), "n_test": 100}
            | {"n_classes": 3, "n_features": 4},
            {},
        )
        for i, data in enumerate(sets)
        for method in ("exp", "log", "multiboost")
    ]
    verdict = Table4().section(Records(records)).verdicts[0]
    assert verdict.judgement == (IN_PART if cautious else HOLDS)
    assert (f"With {n_sets} sets p is at least" in verdict.evidence) == cautious
