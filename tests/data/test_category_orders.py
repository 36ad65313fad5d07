"""The orders of categories, and what they are worth."""

import itertools

import numpy as np
import pytest

from marginboost import MCBoostClassifier
from marginboost.data.category_orders import LEAST_ROWS, MOST_ORDERS, order_categories


def gini_gain(left, right):
    """How much purer two groups are than both together, by their counts of classes."""

    def impurity(counts):
        return counts.sum() - (counts**2).sum() / max(counts.sum(), 1)

    return impurity(left + right) - impurity(left) - impurity(right)


@pytest.mark.parametrize("seed", range(5))
def test_with_two_classes_an_order_holds_the_best_of_all_splits(seed):
    rng = np.random.default_rng(seed)
    ones = rng.integers(0, 101, 7)
    counts = np.vstack([np.stack([100 - ones, ones], axis=1), np.zeros((1, 2))]).astype(np.int64)
    orders = order_categories(counts)
    assert len(orders.positions) == 1
    total = counts.sum(axis=0)
    groups = [
        counts[list(group)].sum(axis=0)
        for size in range(1, 7)
        for group in itertools.combinations(range(7), size)
    ]
    best = max(gini_gain(group, total - group) for group in groups)
    position = orders.positions[0]
    found = max(
        gini_gain(counts[:7][position <= t].sum(axis=0), counts[:7][position > t].sum(axis=0))
        for t in position
    )
    assert found == pytest.approx(best, rel=1e-12)


def test_orders_of_many_classes():
    counts = np.vstack([np.eye(6, dtype=np.int64) * 50, np.zeros((1, 6), dtype=np.int64)])
    orders = order_categories(counts)
    assert len(orders.positions) == MOST_ORDERS
    assert len({tuple(p) for p in orders.positions}) == MOST_ORDERS
    for position, fill in zip(orders.positions, orders.fill, strict=True):
        assert sorted(position) == [0, 0, 0, 0, 0, 2]  # one against the rest, the unseen between
        assert fill == 1


def test_rare_categories_are_no_categories():
    counts = np.array([[LEAST_ROWS, 0], [0, LEAST_ROWS - 1], [30, 40], [0, 0]])
    orders = order_categories(counts)
    assert orders.kept.tolist() == [0, 2]
    # An identifier tells nothing of new rows, and cannot be learned by heart.
    rng = np.random.default_rng(0)
    X = np.column_stack([np.arange(200.0), rng.normal(size=200)])
    y = rng.integers(0, 2, 200)
    with pytest.warns(UserWarning, match="Column 0 holds categories, and none of its 200 values"):
        model = MCBoostClassifier(50, categorical_features=[0]).fit(X, y)
    assert model.feature_importances_[0] == 0
    assert model.encoding_.categories[0] == ()
    assert model.encoding_.lost == {0: 0.0}


def test_categories_beat_their_numbers():
    """Ten categories in an order without meaning: two stumps' worth, not ten."""
    rng = np.random.default_rng(0)
    place = rng.integers(0, 12, 1200)
    good = rng.permutation(12) < 6
    y = np.where(rng.random(1200) < 0.05, 1, 0) ^ good[place].astype(int)
    X = place[:, None].astype(float)
    as_category = MCBoostClassifier(1, categorical_features=[0]).fit(X, y)
    as_number = MCBoostClassifier(1).fit(X, y)
    assert as_category.score(X, y) > 0.93
    assert as_number.score(X, y) < 0.85
