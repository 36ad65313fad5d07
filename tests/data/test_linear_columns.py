"""What bins count as in a linear model."""

import numpy as np
import pytest

from marginboost.data.linear_columns import MOST_DEVIATIONS, LinearColumns, bins_of

LARGEST = np.finfo(np.float64).max


def columns(values, cuts, *, weight=None, code=None):
    cuts = np.asarray(cuts, dtype=float)
    X = np.asarray(values, dtype=float)[:, None]
    weight = np.ones(len(X)) if weight is None else np.asarray(weight, dtype=float)
    bins = bins_of(X, [cuts])
    return LinearColumns.of([cuts], bins, weight, [code]), bins


def test_numbers_become_the_middles_of_bins_with_mean_0_and_variance_1():
    values = [1.0, 2.0, 2.0, 3.0, 4.0]
    found, bins = columns(values, [1.5, 2.5, 3.5])
    expected = (np.array(values) - np.mean(values)) / np.std(values)
    np.testing.assert_allclose(found.values(bins)[:, 0], expected)
    assert found.n_columns == 1


def test_weights_count():
    found, bins = columns([0.0, 1.0, 2.0], [0.5, 1.5], weight=[1, 1, 6])
    z = found.values(bins)[:, 0]
    assert np.average(z, weights=[1, 1, 6]) == pytest.approx(0.0)
    assert np.average(z**2, weights=[1, 1, 6]) == pytest.approx(1.0)


def test_values_far_out_are_bounded():
    found, bins = columns([*range(200), 1e9], [*np.arange(0.5, 199.0), 1e6])
    assert np.abs(found.values(bins)).max() <= MOST_DEVIATIONS


@pytest.mark.parametrize(("end", "cut"), [(-np.inf, -LARGEST), (np.inf, LARGEST)])
def test_infinite_values_are_at_the_end(end, cut):
    found, bins = columns([end, 1.0, 2.0, 3.0], sorted([1.5, 2.5, cut]))
    z = found.values(bins)[:, 0]
    assert z[0] == np.sign(end) * MOST_DEVIATIONS
    np.testing.assert_allclose(z[1:], (np.arange(3) - 1) / np.std([1, 2, 3]))


def test_infinite_values_alone_are_told_from_numbers():
    found, bins = columns([-np.inf, 1.0, 1.0], [-LARGEST])
    z = found.values(bins)[:, 0]
    assert z[0] < z[1] == z[2]


@pytest.mark.parametrize("code", [None, 0])
def test_a_constant_has_no_column(code):
    assert columns([1.0, 1.0], [5.0], code=code)[0].n_columns == 0
    assert columns([1.0, 1.0], [], code=code)[0].n_columns == 0


def test_each_category_has_a_column_and_two_have_one():
    found, bins = columns([0, 1, 2, 2], [0.5, 1.5], code=7)
    np.testing.assert_array_equal(found.values(bins), np.eye(3)[[0, 1, 2, 2]])
    found, bins = columns([0, 1, 1], [0.5], code=7)
    np.testing.assert_array_equal(found.values(bins), [[0], [1], [1]])


def test_categories_that_are_ordered_twice_count_once():
    cuts = [np.array([0.5, 1.5])] * 2
    bins = np.array([[0, 2], [1, 1], [2, 0]])
    found = LinearColumns.of(cuts, bins, np.ones(3), [4, 4])
    assert [table.shape[1] for table in found.tables] == [3, 0]


def test_huge_numbers_stay_finite():
    found, bins = columns([-1e308, 0.0, 1e308], [-5e307, 5e307])
    assert np.isfinite(found.values(bins)).all()
