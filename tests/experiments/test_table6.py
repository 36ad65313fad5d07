import json

import pytest
from matplotlib.figure import Figure
from support import embedded

from experiments.evaluation import FORMULAS
from experiments.page.section import FAILS, HOLDS, IN_PART, UNTESTED
from experiments.table6 import Table6
from experiments.time_a_row import FORMULA, WAYS, times_a_row
from experiments.trial import Record, Records
from marginboost import MCBoostClassifier

SMALL = Table6.miniature()


@pytest.fixture(scope="module")
def records():
    return Records([Record(trial, SMALL.run(trial, 1), {}) for trial in SMALL.trials(1)])


def with_times(records, of_mo, of_others):
    """The same records with other times."""
    return Records(
        [
            Record(r.trial, r.measures | (of_mo if r.trial.method == "mo" else of_others), {})
            for r in records
        ]
    )


def test_every_method_is_timed_in_its_ways(records):
    assert len(records) == 9
    for record in records:
        measures = record.measures
        assert json.loads(json.dumps(measures)) == measures
        assert (FORMULA in measures) == (record.trial.method in FORMULAS)
        assert ("compiled_us" in measures) == (record.trial.method != "lightgbm")
        assert all(measures[way] > 0 for way in WAYS if way in measures)
        assert measures["n_classes"] == 4
        assert 0 <= record.error <= 100


def test_sizes(records):
    weak = {record.trial.method: record.measures["weak"] for record in records}
    assert weak["mo"] == 7 * 12
    assert weak["lightgbm"] == 4 * 100
    assert {weak[name] for name in ("mh", "ecc", "exp", "log", "multiboost", "gradboost")} == {12}


def test_a_formula_of_another_model_is_refused():
    X, y = embedded("iris")
    first, second = MCBoostClassifier(2).fit(X, y), MCBoostClassifier(5).fit(X, y)
    with pytest.raises(ValueError, match="score rows as the classifier does"):
        times_a_row(first, X, lambda _: FORMULAS["exp"](second.ensemble_), calls=1)


def test_the_section_has_all_cells(records):
    section = SMALL.section(records)
    functions, times = section.tables
    assert len(functions.rows) == 5
    assert len(times.rows) == 9
    for table in section.tables:
        for _, cells in table.rows:
            assert len(cells) + 1 == len(table.columns)
            assert all(cell.repeats or cell.text for cell in cells)
    figure = Figure()
    section.plots[0].draw(figure)
    assert len(figure.axes[0].patches) == 3 * 9
    assert len(section.findings) == 3


def test_the_papers_milliseconds_are_shown_as_microseconds(records):
    pendigits = Table6()
    _, times = pendigits.section(records).tables
    at = times.columns.index(WAYS[FORMULA]) - 1
    paper = {label: cells[at].paper for label, cells in times.rows}
    assert paper["AdaBoost.MO"].mean == pytest.approx(7900)
    assert paper["MCBoost-exp"].mean == pytest.approx(60)
    assert paper["LightGBM"] is None


@pytest.mark.parametrize(
    ("of_mo", "of_others", "judgement"),
    [
        (dict.fromkeys(WAYS, 1000.0), dict.fromkeys(WAYS, 10.0), HOLDS),
        (dict.fromkeys(WAYS, 50.0) | {FORMULA: 100.0}, dict.fromkeys(WAYS, 10.0), IN_PART),
        (dict.fromkeys(WAYS, 20.0), dict.fromkeys(WAYS, 10.0), FAILS),
    ],
)
def test_the_verdict_follows_the_times(records, of_mo, of_others, judgement):
    (verdict,) = SMALL.section(with_times(records, of_mo, of_others)).verdicts
    assert verdict.judgement == judgement
    assert "132 times that of a matrix" in verdict.evidence


def test_what_ended_early_is_left_out_of_means_and_said(records):
    short = Records(
        [
            Record(r.trial, r.measures | {"rounds": 3, FORMULA: 1e9, "weak": 3}, {})
            if r.trial.method == "multiboost"
            else r
            for r in records
        ]
    )
    section = SMALL.section(short)
    (matrix,) = (cells for label, cells in section.tables[0].rows if "matrix" in label)
    assert matrix[-1].ours.mean < 1e6
    assert matrix[-2].ours.mean == 12
    assert {cell.repeats for cell in matrix[-2:]} == {1}
    assert any("MultiBoost after 3." in finding for finding in section.findings)


def test_a_section_of_nothing_says_so():
    section = SMALL.section(Records([]))
    assert section.verdicts[0].judgement == UNTESTED
    assert not section.plots
    assert not section.findings
