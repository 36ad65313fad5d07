import numpy as np

from marginboost.data.classes import UNSEEN
from marginboost.evaluation.sets import set_coverage, set_sizes

SETS = np.array([[1, 0, 1], [0, 1, 0], [1, 1, 1], [0, 0, 1]], dtype=bool)


def test_sizes():
    assert set_sizes(SETS).tolist() == [2, 1, 3, 1]


def test_coverage_of_all_rows_and_of_classes():
    found, by_class = set_coverage(SETS, np.array([0, 2, 2, UNSEEN]))
    assert found == 0.5
    np.testing.assert_array_equal(by_class, [1.0, np.nan, 0.5])


def test_no_rows():
    found, by_class = set_coverage(SETS[:0], np.empty(0, dtype=np.int64))
    assert np.isnan(found)
    assert np.isnan(by_class).all()
