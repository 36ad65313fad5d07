"""The rule of repeats, and the words of cells that break it."""

from dataclasses import replace

import pytest

from experiments.page.chapter import Chapter
from experiments.page.section import Section, Table
from experiments.page.shortfall import above_list, record_cell, rule, shortfall, shortfalls
from experiments.page.words import table_words
from experiments.trial import Record, Records, Trial


def records(n, seconds=30.0, device="cpu", small=False, **more):
    measures = {"wrong": 1, "n_test": 4, "fit_seconds": seconds, **more}
    origin = {"device": device, "small": small}
    return Records([Record(Trial("iris", "exp", i), measures, origin) for i in range(n)])


def chapter(*cells):
    table = Table("C", ["data", *map(str, range(len(cells)))], [("iris", cells)])
    return Chapter("table1", Section("Table I: nu", "", [table]), Records([]), 50)


@pytest.mark.parametrize(
    ("of", "tries", "words"),
    [
        (records(5), None, ""),
        (records(1, small=True), None, ""),
        (records(0), None, ""),
        (records(4), None, "a fit takes 30 s"),
        (records(2, 0.25), None, "a fit takes 0.2 s"),
        (records(1, 601.0), None, "a fit takes 601 s: fewer are allowed"),
        (records(1, 601.0, fit_processor_seconds=400.0), None, "a fit takes 400 s"),
        (records(1, 2.0, "cuda: some"), None, "a fit takes 2 s on a GPU"),
        (records(0), records(3), "a fit of fewer rounds, to choose its parameter, takes 30 s"),
    ],
)
def test_a_shortfall_says_how_long_a_fit_takes(of, tries, words):
    assert shortfall(of, tries) == words


def test_a_cell_shows_its_shortfall():
    cells = [record_cell(of, tries=records(1)) for of in (records(5), records(2), records(0))]
    _, row = table_words(chapter(*cells).section.tables[0]).rows[0]
    assert [words.more for words in row] == [
        "",
        "2 repeats; a fit takes 30 s",
        "a fit of fewer rounds, to choose its parameter, takes 30 s",
    ]
    assert row[2].ours == "not run"


def test_cells_that_break_the_rule_are_listed_and_counted_once():
    few, long = record_cell(records(2)), record_cell(records(1, 700.0))
    held = [chapter(record_cell(records(5)), few, long)]
    assert shortfalls(held) == [
        "Table I, iris, 1: 2 repeats; a fit takes 30 s",
        "Table I, iris, 2: 1 repeat; a fit takes 700 s: fewer are allowed",
    ]
    assert rule(held).endswith("minutes; cells that break it, for want of time: 1.")
    assert rule([chapter(long)]).endswith("minutes; no cell breaks it.")
    assert "clock" in above_list(held)
    assert above_list([chapter(long)]).endswith("Cells with fewer repeats, whose fits take longer:")
    again = replace(held[0], section=replace(held[0].section, tables=held[0].section.tables * 2))
    assert shortfalls([again]) == shortfalls(held)
