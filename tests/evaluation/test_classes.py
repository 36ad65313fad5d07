"""Confusion, precision and recall, where classes are missing on either side."""

import numpy as np

from marginboost.data.classes import UNSEEN
from marginboost.evaluation.classes import confusion_counts, precision_and_recall

# Class 3 has no row, class 1 is never predicted, and two rows have a label of no class.
Y = np.array([0, 0, 0, 1, 2, 2, UNSEEN, UNSEEN])
PREDICTED = np.array([0, 2, 3, 0, 2, 2, 0, 3])
K = 4


def test_confusion_counts_every_class():
    counts = confusion_counts(Y, PREDICTED, K)
    expected = [[sum((r == Y) & (c == PREDICTED)) for c in range(K)] for r in range(K)]
    assert counts.tolist() == expected
    assert counts.dtype == np.int64
    assert counts.sum() == 6  # without the labels of no class


def test_precision_and_recall_are_nan_where_there_is_nothing_to_divide_by():
    precision, recall = precision_and_recall(Y, PREDICTED, K)
    np.testing.assert_array_equal(precision, [1 / 2, np.nan, 2 / 3, 0.0])
    np.testing.assert_array_equal(recall, [1 / 3, 0.0, 1.0, np.nan])
