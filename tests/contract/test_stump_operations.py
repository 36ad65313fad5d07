"""Every operation of an engine by itself: both engines alike, and as its definition says.

Nothing here has a tolerance: sums are of whole numbers.
"""

import numpy as np
import pytest
from engine_contract import (
    Pair,
    check_bounds,
    check_columns_and_replacement,
    check_moves_and_searches,
    check_own_columns,
    check_projection,
    check_sums,
    check_tree_of_classes,
)
from support import training_set

from marginboost.engine import NativeStumpEngine, ReferenceStumpEngine
from marginboost.engine.stumps.base import Weighting
from marginboost.engine.stumps.criterion import Criterion
from marginboost.loss import LOSSES, ExponentialLoss, SoftmaxLoss

# Number of classes, and of the code's columns: None for the margins' direction, "eye" for -1 and +1 by
# class as in AdaBoost.MH.
SHAPES = pytest.mark.parametrize(
    ("k", "columns"),
    [(2, None), (3, None), (5, None), (9, None), (17, None), (3, 1), (3, 3), (4, 7), (5, 8), (4, 17),
     (6, 33), (3, "eye"), (9, "eye"), (17, "eye")],
)  # fmt: skip
KINDS = pytest.mark.parametrize("kind", ["plain", "wide", "weights", "multiplicities"])


@SHAPES
@KINDS
def test_moves_and_searches(k, columns, kind):
    check_moves_and_searches(Pair(k, columns, kind))


@SHAPES
def test_projection(k, columns):
    check_projection(Pair(k, columns))


@SHAPES
@KINDS
def test_columns_and_replacement(k, columns, kind):
    check_columns_and_replacement(Pair(k, columns, kind))


@SHAPES
@KINDS
def test_sums(k, columns, kind):
    check_sums(Pair(k, columns, kind))


@pytest.mark.parametrize("k", [2, 3, 9, 17])
@KINDS
def test_histogram_of_own_columns(k, kind):
    for columns in (None, "eye"):
        check_own_columns(Pair(k, columns, kind))


@pytest.mark.parametrize("loss", [*LOSSES.values(), SoftmaxLoss()], ids=lambda loss: loss.name)
@pytest.mark.parametrize("k", [2, 3, 8, 9, 17])
def test_losses(k, loss):
    check_moves_and_searches(Pair(k, None, "weights", loss=loss))


def test_exponentials_stay_within_their_bounds():
    for columns in (None, 5):
        check_bounds(Pair(3, columns))


def test_nothing_to_search():
    """No feature has two values."""
    data = training_set(np.zeros((8, 2)), np.arange(8) % 2)
    for engine in (ReferenceStumpEngine(), NativeStumpEngine()):
        engine.load(data, Weighting(ExponentialLoss()))
        engine.advance(np.ones((2, 2)), np.ones((2, 2)), 20)
        for criterion in Criterion:
            assert engine.best_stump(criterion) == (-1, 0, 0, 0)
        np.testing.assert_array_equal(engine.best_stumps(), [[-1, 0, 0]] * 2)
        engine.place_tree([], [], [], [], [1])
        np.testing.assert_array_equal(engine.sides(), np.ones(8))


def test_a_tree_of_classes():
    check_tree_of_classes(Pair(4, 1, "weights"))
