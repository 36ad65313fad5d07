"""Labels and their classes."""

import numpy as np
import pytest

from marginboost.data.classes import class_codes


@pytest.mark.parametrize(
    "labels",
    [
        np.array([3, 1, 1, 7, 3, 1], dtype=np.int64),
        np.array([-128, 127, -1, 0, -128, 127] * 60, dtype=np.int8),
        np.array([2**64 - 1, 2**64 - 3, 2**64 - 1, 2**64 - 3], dtype=np.uint64),
        np.array([-(2**63), -(2**63) + 2] * 3, dtype=np.int64),
        np.array([0, 2**40] * 4),  # too long a range to count
        np.array([5, 5, 5]),
        np.array(["b", "a", "b", "c"]),
        np.array([1.0, 2.0, 1.0]),
        np.array([True, False, True]),
    ],
    ids=repr,
)
def test_codes_are_those_of_sorted_labels(labels):
    classes, codes = class_codes(labels)
    expected, numbers = np.unique(labels, return_inverse=True)
    assert classes.dtype == expected.dtype
    np.testing.assert_array_equal(classes, expected)
    np.testing.assert_array_equal(codes, numbers)


def test_labels_of_a_regression_are_rejected():
    with pytest.raises(ValueError, match="continuous"):
        class_codes(np.array([0.5, 1.25, 3.0]))


def test_more_classes_than_rows_of_a_class_are_warned_of():
    with pytest.warns(UserWarning, match="unique classes"):
        class_codes(np.arange(100))
