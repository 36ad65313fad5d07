"""Compiled steps of monotone trees: the same whole numbers as in NumPy."""

from types import SimpleNamespace

import numpy as np
import pytest
from monotone_oracle import PlainMonotoneSteps

from marginboost import _native
from marginboost.boosting.monotone import MonotoneSteps

CHAIN = [(1, 0), (2, 1), (3, 2)]
CYCLE = [(1, 0), (2, 1), (0, 2), (3, 0)]
APART = [(1, 0), (3, 2)]


def random_tree(rng, n_leaves, n_features):
    """Divide leaves at random; children come after their parents, ~child is a leaf."""
    left, right, open_places = [], [], [None]
    for node in range(n_leaves - 1):
        place = open_places.pop(rng.integers(len(open_places)))
        if place is not None:
            parent, side = place
            side[parent] = node
        left.append(0)
        right.append(0)
        open_places += [(node, left), (node, right)]
    for leaf, (parent, side) in enumerate(open_places):
        side[parent] = ~leaf
    features = rng.integers(0, n_features, n_leaves - 1)
    return SimpleNamespace(feature=features, left=np.array(left), right=np.array(right))


def steps_of_sums(own, against):
    return 0.1 * np.log((own + 0.1) / (against + 0.1))


@pytest.mark.parametrize("pairs", [CHAIN, CYCLE, APART, [(2, 0)]], ids=str)
@pytest.mark.parametrize("n_leaves", [2, 3, 8, 60])
def test_steps_are_those_of_the_oracle(pairs, n_leaves):
    rng = np.random.default_rng(n_leaves)
    moved = 0
    for _ in range(10):
        signs = rng.integers(-1, 2, (3, len(pairs))).astype(np.int8)
        signs[0] = 1
        tree = random_tree(rng, n_leaves, 3)
        own, against = rng.exponential(size=(2, n_leaves, 4))
        rules = MonotoneSteps(pairs, signs)
        found = rules.steps(tree, own, against, steps_of_sums)
        expected = PlainMonotoneSteps(pairs, signs).steps(tree, own, against, steps_of_sums)
        np.testing.assert_array_equal(found, expected)
        assert rules.hold(tree, found)
        moved += (np.abs(found - steps_of_sums(own, against)) > 1e-6).any()
    assert moved


def test_arguments_that_do_not_fit_together_are_refused():
    one, wanted = np.array([1]), np.zeros((3, 2), dtype=np.int64)
    rules = [np.array([[1, 0]]), np.array([[0, 0, 1]]), np.array([0, 1]), np.array([0, 2]), False]
    signs = np.ones((1, 1), dtype=np.int8)
    _native.keep_monotone(one, one + 1, signs, *rules, wanted)
    for left in (np.array([0]), np.array([3])):
        with pytest.raises(ValueError, match="Children must come after their parents"):
            _native.keep_monotone(left, one + 1, signs, *rules, wanted)
    with pytest.raises(ValueError, match="signs must have the shape"):
        _native.keep_monotone(one, one + 1, np.ones((2, 1), dtype=np.int8), *rules, wanted)
    for place, wrong in ((0, [[2, 0]]), (1, [[1, 0, 1]]), (2, [0, 2]), (3, [0, 3])):
        with pytest.raises(ValueError, match="must"):
            _native.keep_monotone(
                one, one + 1, signs, *rules[:place], np.array(wrong), *rules[place + 1 :], wanted
            )
