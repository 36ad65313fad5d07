"""How far our numbers are from the paper's."""

import math

import numpy as np
import pytest
from scipy.stats import ttest_ind

from experiments.page.agreement import agreement
from experiments.page.section import Cell, Number, Table, cell_of, gap


def table(*cells):
    return Table("A table.", ["data", *"ab"[: len(cells)]], [("iris", cells)])


def number_of(values):
    return Number(float(np.mean(values)), float(np.std(values, ddof=1)), len(values))


def test_a_gap_is_welchs_test_of_the_single_values():
    rng = np.random.default_rng(0)
    ours, theirs = rng.normal(5.0, 1.0, 50), rng.normal(4.0, 3.0, 12)
    found = gap(number_of(ours), number_of(theirs))
    assert found.p == pytest.approx(ttest_ind(ours, theirs, equal_var=False).pvalue)
    pooled = math.sqrt((ours.var(ddof=1) + theirs.var(ddof=1)) / 2)
    assert found.effect == pytest.approx((ours.mean() - theirs.mean()) / pooled)


def test_many_repeats_tell_apart_what_few_do_not():
    """Half a standard deviation is nothing for 3 repeats, and much for 50."""
    assert not gap(Number(5.5, 1.0, 3), Number(5.0, 1.0, 50)).differs
    assert gap(Number(5.7, 1.0, 50), Number(5.0, 1.0, 50)).differs


def test_single_runs_are_compared_by_their_known_spreads():
    found = gap(Number(1.0, 0.1, 1), Number(1.2, 0.1, 1))
    assert found.p == pytest.approx(0.157, abs=1e-3)
    assert gap(Number(1.0, 0.1, 1), Number(1.2, 0.1, 5)) is None
    assert gap(Number(1.0, math.nan, 1), Number(1.2, 0.1, 5)) is None
    assert gap(Number(1.0, 0.0, 5), Number(1.2, 0.0, 5)) is None


def test_the_farthest_is_named_first():
    paper = Number(5.0, 1.0, 50)
    near, above, below = (Cell(Number(mean, 1.0), 50, paper) for mean in (5.1, 6.0, 2.0))
    (said,) = agreement([table(near)])
    assert said == (
        "Of 1 numbers that the paper has as well, 0 differ from it by more than chance (Welch's test, "
        "p < 0.01; chance alone would give 0.0)."
    )
    (said,) = agreement([table(above, near), table(below)])
    assert said.startswith("Of 3 numbers that the paper has as well, 2 differ")
    assert "higher in 1 and lower in 1. By row: iris 2." in said
    assert said.endswith("iris, a (-3.0); iris, a (+1.0).")


def test_what_cannot_be_compared_is_left_out():
    alone, unknown = Cell(Number(1.0, 1.0), 3), Cell(Number(1.0, 1.0), 3, Number(9.0))
    assert agreement([table(alone, unknown)]) == []
    same, far = (Cell(Number(mean, 1.0), 9, Number(1.0, 1.0, 9)) for mean in (1.0, 9.0))
    (said,) = agreement([table(same, far)], ["a"])
    assert said.startswith("Of 1 numbers of a that")
    assert "higher" not in said


def test_a_cell_knows_its_draws():
    cell = cell_of({3: 1.0, 5: 2.0})
    assert cell.draws == {3: 1.0, 5: 2.0}
    assert cell.ours == Number(1.5, pytest.approx(math.sqrt(0.5)), 2)
    assert cell_of([1.0, 2.0]).draws == {}
    assert cell_of({}).ours is None
