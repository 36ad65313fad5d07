"""`class_weight`: factors as scikit-learn computes them, and classes of factor zero."""

import numpy as np
import pytest
from sklearn.utils import compute_class_weight

from marginboost.backends.class_weights import ClassWeights

CLASSES, COUNTS = np.array(["a", "b", "c"]), np.array([6, 3, 1])


def test_no_weights_are_no_factors():
    assert ClassWeights(None).factors(CLASSES, COUNTS) is None
    assert ClassWeights(None).counted(CLASSES) is None


def test_balanced_factors_are_those_of_scikit_learn():
    expected = compute_class_weight("balanced", classes=CLASSES, y=np.repeat(CLASSES, COUNTS))
    np.testing.assert_allclose(ClassWeights("balanced").factors(CLASSES, COUNTS), expected)
    assert ClassWeights("balanced").counted(CLASSES) is None


def test_rows_of_a_class_of_factor_zero_do_not_count():
    weights = ClassWeights({"a": 2.0, "b": 0})
    assert weights.factors(CLASSES, COUNTS).tolist() == [2.0, 1.0, 1.0]
    assert weights.left_out == ["b"]
    assert weights.counted(CLASSES).tolist() == [True, False, True]


@pytest.mark.parametrize("wrong", [-1.0, np.inf, np.nan])
def test_factors_that_are_no_weights_are_refused(wrong):
    with pytest.raises(ValueError, match="class_weight must hold finite numbers, 0 or more"):
        ClassWeights({"a": wrong}).factors(CLASSES, COUNTS)
