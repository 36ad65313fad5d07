import numpy as np
import pytest
from matplotlib.figure import Figure
from scipy.stats import binom

from experiments.page.section import FAILS, HOLDS, IN_PART, UNTESTED
from experiments.table7 import Table7, sign_test, weak
from experiments.trial import Record, Records, Trial

METHODS = ("mh", "ecc", "exp", "log")


def record(method, wrong_rows, depth=1, features="own"):
    settings = {"features": features} | ({} if depth is None else {"depth": depth})
    measures = {
        "wrong": len(wrong_rows),
        "n_test": 10_000,
        "wrong_rows": list(wrong_rows),
        "curve": [9000, len(wrong_rows)],
    }
    return Record(Trial("mnist", method, 0, settings), measures, {})


def section(**wrong_rows):
    """Section of stumps after 2 rounds, from the rows that each method got wrong."""
    records = [record(method, rows) for method, rows in wrong_rows.items()]
    return Table7(depths=(1,), rounds=2).section(Records(records))


def test_miniature_fills_every_cell():
    experiment = Table7.miniature()
    records = Records([Record(t, experiment.run(t, 1), {}) for t in experiment.trials(1)])
    assert len(records) == 2 * 4 + 2 + 2
    told = experiment.section(records)
    assert [len(table.columns) for table in told.tables] == [7, 3]
    for table in told.tables:
        for _, cells in table.rows:
            assert all(cell.ours is not None and cell.repeats == 1 for cell in cells)
    for found in records:
        assert len(found.measures["wrong_rows"]) == found.measures["wrong"]
    log = records.of("digits", "log", depth=1, features="own")[0].measures
    assert log["curve"][-1] == log["wrong"] < log["curve"][0]


def test_says_which_depth_is_nearest_to_the_paper():
    papers = {"mh": 129, "ecc": 124, "exp": 114, "log": 103}
    records = [record(m, range(n + 50)) for m, n in papers.items()]
    records += [record(m, range(n + 2), depth=2) for m, n in papers.items()]
    told = Table7(depths=(1, 2), rounds=2).section(Records(records))
    assert "0.50 points with stumps, 0.02 points with trees of depth 2" in told.findings[0]
    assert "Trees of depth 2 are nearest" in told.findings[0]
    assert "trees of depth 2" in told.plots[0].caption
    first, second = (cells for _, cells in told.tables[0].rows)
    assert all(cell.differs for cell in first[:4])  # the binomial deviation is 0.1 points
    assert not any(cell.differs for cell in second[:4])


def test_keeps_other_features_apart():
    records = [record("log", range(84)), record("log", range(120), features="unsigned")]
    main, other = Table7(depths=(1,), rounds=2).section(Records(records)).tables
    assert main.rows[0][1][3].ours.mean == pytest.approx(0.84)
    errors = {label: cells[1].ours for label, cells in other.rows}
    assert errors["opposite directions count as one"].mean == pytest.approx(1.2)
    assert errors["a vote goes to one bin"] is None


def test_the_claim_needs_more_than_chance():
    good, bad = range(100), range(200)
    clear = section(mh=bad, ecc=bad, exp=good, log=good)
    assert clear.verdicts[0].judgement == HOLDS
    # As many apart as in the paper, most rows shared: 15 and 36 of them discordant.
    near = section(mh=range(15, 136), ecc=range(15, 136), exp=range(100), log=range(100))
    assert near.verdicts[0].judgement == HOLDS
    level = section(mh=range(50, 160), ecc=range(50, 160), exp=good, log=good)
    assert level.verdicts[0].judgement == IN_PART
    assert "MCBoost-log 50, AdaBoost.ECC 60" in level.verdicts[0].evidence
    assert section(mh=good, ecc=good, exp=bad, log=bad).verdicts[0].judgement == FAILS
    assert section(log=good).verdicts[0].judgement == UNTESTED
    assert section(mh=bad, log=good).verdicts[0].judgement == UNTESTED


@pytest.mark.parametrize(("first", "second"), [(3, 9), (12, 12), (0, 6), (0, 0)])
def test_sign_test_sums_the_binomial_tails(first, second):
    n, least = first + second, min(first, second)
    expected = min(1.0, 2 * binom.cdf(least, n, 0.5))
    assert sign_test(first, second) == pytest.approx(expected)


def test_draws_what_there_is():
    for told in (section(), section(mh=range(9), log=range(5))):
        figure = Figure()
        told.plots[0].draw(figure)
        (axes,) = figure.axes
        texts = [] if axes.get_legend() is None else axes.get_legend().get_texts()
        assert [t.get_text() for t in texts] in ([], ["AdaBoost.MH: 0.09 %", "MCBoost-log: 0.05 %"])


def test_takes_all_rows_and_depths_by_default():
    trials = list(Table7().trials(1))
    assert len(trials) == len({t.key for t in trials}) == 3 * 4 + 2 + 4 * 2
    assert [t.method for t in trials[:4]] == list(METHODS)
    assert weak(1) == "stumps"
    assert np.all([t.repeat == 0 for t in trials])
