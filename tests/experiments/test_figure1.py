import json

import numpy as np
import pytest
from matplotlib.figure import Figure

from experiments.figure1 import Figure1
from experiments.page.section import FAILS, HOLDS, IN_PART, UNTESTED
from experiments.trial import Record, Records


@pytest.fixture(scope="module")
def records():
    experiment = Figure1.miniature()
    trials = experiment.trials(2)
    return Records([Record(trial, experiment.run(trial, 1), {}) for trial in trials])


def with_apart(records, values):
    """The same records, but further apart."""
    parts = zip(records, values, strict=True)
    return Records([Record(r.trial, r.measures | {"apart": apart}, {}) for r, apart in parts])


def test_measures_go_to_json_and_only_the_first_repeat_keeps_the_paths(records):
    for record in records:
        assert json.loads(json.dumps(record.measures)) == record.measures
        assert ("optimum" in record.measures) == (record.trial.repeat == 0)
    kept = records[0].measures
    assert np.shape(kept["optimum"]) == np.shape(kept["stagewise"]) == (5, 8, 3)
    np.testing.assert_allclose(np.sum(kept["stagewise"], axis=(1, 2)), kept["gammas"])
    np.testing.assert_allclose(np.sum(kept["optimum"], axis=(1, 2)), kept["gammas"], atol=2e-3)


def test_distances_are_those_of_the_paths(records):
    measures = records[0].measures
    difference = np.abs(np.array(measures["optimum"]) - measures["stagewise"])
    gammas = np.array(measures["gammas"])[:, None, None]
    assert measures["furthest"] == pytest.approx((difference / gammas).max(), abs=1e-3)
    share = (difference / gammas).sum(axis=(1, 2)) / 2
    assert measures["apart"] == pytest.approx(share.mean(), abs=3e-3)
    assert 0 <= measures["gap"] < 0.01
    assert measures["n_train"] == 20


def test_both_losses_see_the_same_sample_and_repeats_differ(records):
    experiment = Figure1.miniature()
    again = experiment.run(records[2].trial, 1)
    assert again == records[2].measures
    assert records[2].measures["apart"] != records[0].measures["apart"]


def test_the_section_has_a_table_a_picture_and_a_verdict(records):
    section = Figure1.miniature().section(records)
    distances, monotone = section.tables
    assert [label for label, _ in distances.rows] == ["exponential, 20 rows", "logistic, 20 rows"]
    assert {cell.repeats for _, row in distances.rows for cell in row} == {2}
    assert sum(row[0].repeats for _, row in monotone.rows) == len(records)
    assert all(len(row) + 1 == len(distances.columns) for _, row in distances.rows)
    (plot,) = section.plots
    figure = Figure()
    plot.draw(figure)
    assert len(figure.axes) == 12
    assert all(len(ax.lines) == 8 for ax in figure.axes)


@pytest.mark.parametrize(
    ("apart", "judgement"),
    [
        ([0.01, 0.02, 0.03, 0.04], HOLDS),
        ([0.01, 0.02, 0.3, 0.4], IN_PART),
        ([0.01, 0.2, 0.3, 0.4], FAILS),
    ],
)
def test_the_verdict_follows_the_numbers(records, apart, judgement):
    (verdict,) = Figure1.miniature().section(with_apart(records, apart)).verdicts
    assert verdict.judgement == judgement
    assert f"{max(apart):.2%} at worst" in verdict.evidence


def test_a_section_of_nothing_says_so():
    section = Figure1.miniature().section(Records([]))
    assert section.verdicts[0].judgement == UNTESTED
    assert not section.plots
