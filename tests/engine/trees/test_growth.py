"""How trees grow, with an engine that only says what it was told to."""

from types import SimpleNamespace

import numpy as np
import pytest
from support import noisy_problem, training_set

from marginboost.data.row_view import RowView
from marginboost.engine import NativeTreeEngine, ReferenceTreeEngine
from marginboost.engine.trees.base import NodeSplit, RowSample
from marginboost.engine.trees.growth import GrowthRules, Tree, grow_from, grow_in_batches
from marginboost.engine.trees.slots import Slots
from marginboost.loss import LOSSES

FEATURES = np.arange(3, dtype=np.int32)
THRESHOLDS = np.arange(10.0) + np.array([[0.0], [100.0], [200.0]])


class Scripted:
    """An engine whose node of a given number has a given gain; 0 or nothing said: no split."""

    def __init__(self, gains):
        self.gains, self.n_nodes, self.calls = gains, 0, []

    def _node(self, search=True):
        number, self.n_nodes = self.n_nodes, self.n_nodes + 1
        gain = self.gains.get(number, 0.0)
        if not search or not gain:
            return NodeSplit(-1, 0, 100 + number, 0.0)
        return NodeSplit(number % 3, number % 10, 100 + number, gain)

    def start_tree(self, features, sample, least_count, smoothing):
        self.started = (features, sample, least_count, smoothing)
        return self._node()

    def split(self, nodes, features, bins, search):
        for node, feature, bin_ in zip(nodes, features, bins, strict=True):
            assert (feature, bin_) == (node % 3, node % 10)  # what it said of them
        self.calls.append((nodes, search))
        return [self._node(wanted) for wanted in search for _ in range(2)]

    def grow_tree(self, features, sample, rules, interactions=None):
        return grow_in_batches(self, features, sample, rules)


def grow(gains, max_leaf_nodes=31, max_depth=None):
    engine = Scripted(gains)
    rules = GrowthRules(4, 0.5, max_leaf_nodes, max_depth)
    grown = engine.grow_tree(FEATURES, RowSample(3, 4), rules)
    threshold = THRESHOLDS[grown.feature, grown.bin]
    tree = as_lists(Tree(*grown, threshold, np.ones(len(grown.counts))))
    assert engine.started[0] is FEATURES
    assert engine.started[1:] == ((3, 4), 4, 0.5)
    check(tree, engine.n_nodes)
    return tree, engine.calls


def as_lists(tree):
    """Arrays as lists, which `==` compares as a whole."""
    return SimpleNamespace(**{name: array.tolist() for name, array in tree._asdict().items()})


def check(tree, n_nodes):
    """What holds of every tree: two nodes more a split, every node a leaf or divided once."""
    n = len(tree.feature)
    assert n_nodes == 2 * n + 1
    assert len(tree.leaf_value) == n + 1
    leaves = [leaf for leaf in tree.leaf_of_node if leaf >= 0]
    assert leaves == list(range(n + 1))  # in the order of their nodes
    children = tree.left + tree.right
    assert sorted(children) == [*range(-n - 1, 0), *range(1, n)] if n else children == []
    assert all(child < 0 or child > at for at, child in enumerate(tree.left))


def test_no_gain_is_one_leaf():
    tree, calls = grow({})
    assert (tree.feature, tree.threshold, tree.left, tree.gain) == ([], [], [], [])
    assert tree.leaf_of_node == [0]
    assert tree.counts == [100]
    assert tree.leaf_value == [1.0]
    assert calls == []


def test_two_leaves():
    tree, calls = grow({0: 1.0, 1: 9.0, 2: 9.0}, max_leaf_nodes=2)
    assert calls == [([0], [False])]  # nothing can follow, so nothing is searched
    assert (tree.left, tree.right) == ([~0], [~1])
    assert tree.leaf_of_node == [-1, 0, 1]
    assert tree.counts == [101, 102]
    assert tree.threshold == [0.0]


def test_the_better_half_of_the_open_nodes_is_divided():
    gains = {0: 1.0, 1: 2.0, 2: 3.0, 3: 1.0, 4: 5.0, 5: 5.0, 6: 0.5}
    _, calls = grow(gains)
    # Of [1, 2] the better one, of [1, 3, 4] the better two, and so on; among equals the first.
    assert [nodes for nodes, _ in calls] == [[0], [2], [4, 1], [5, 3], [6]]
    tree, calls = grow({0: 1.0, 1: 2.0, 2: 2.0, 3: 4.0, 4: 4.0})
    assert [nodes for nodes, _ in calls] == [[0], [1], [3, 4], [2]]
    assert tree.gain == [1.0, 2.0, 4.0, 4.0, 2.0]


def test_children_are_numbered_in_the_order_of_division():
    # 0 -> 1, 2; then 2 -> 3, 4; then 4 -> 5, 6 and 1 -> 7, 8.
    tree, calls = grow({0: 1.0, 1: 2.0, 2: 3.0, 4: 5.0})
    assert [nodes for nodes, _ in calls] == [[0], [2], [4], [1]]
    assert tree.left == [3, ~0, ~1, ~3]
    assert tree.right == [1, 2, ~2, ~4]
    assert tree.feature == [0, 2, 1, 1]
    assert tree.threshold == [0.0, 202.0, 104.0, 101.0]
    assert tree.leaf_of_node == [-1, -1, -1, 0, -1, 1, 2, 3, 4]
    assert tree.counts == [103, 105, 106, 107, 108]


@pytest.mark.parametrize("most", range(2, 40))
def test_never_more_leaves_than_allowed(most):
    rng = np.random.default_rng(most)
    gains = dict(enumerate(rng.uniform(1, 2, 200)))
    tree, calls = grow(gains, max_leaf_nodes=most)
    assert len(tree.leaf_value) == most
    n_leaves = 1
    for nodes, search in calls:
        n_leaves += len(nodes)
        assert search == [n_leaves < most] * len(nodes)  # none after the last step, all before
    assert len(calls) <= 2 * np.log2(most) + 2


@pytest.mark.parametrize("depth", [1, 2, 3, 4])
def test_no_leaf_is_deeper_than_allowed(depth):
    tree, calls = grow(dict.fromkeys(range(100), 1.0), max_leaf_nodes=1000, max_depth=depth)
    assert len(tree.leaf_value) == 2**depth
    level = {0: 0}
    for at in range(len(tree.feature)):
        for child in (tree.left[at], tree.right[at]):
            level[child] = level[at] + 1
    assert {level[child] for child in level if child < 0} == {depth}
    # Nodes at the last level are not searched.
    deep = [search for nodes, search in calls for search in search]
    assert deep.count(False) == 2 ** (depth - 1)


def test_depth_and_leaves_together():
    gains = {0: 1.0, 1: 1.0, 2: 9.0, 3: 9.0, 4: 9.0}
    tree, calls = grow(gains, max_leaf_nodes=3, max_depth=2)
    assert len(tree.leaf_value) == 3
    assert [nodes for nodes, _ in calls] == [[0], [2]]
    assert [search for _, search in calls] == [[True], [False]]


def test_all_open_nodes_are_divided_at_once_if_leaves_have_no_limit():
    gains = {0: 1.0, 1: 2.0, 2: 9.0, 3: 1.0, 5: 1.0, 6: 3.0, 9: 1.0}
    engine = Scripted(gains)
    tree = grow_from(engine._node(), engine.split, None, 4)
    # A level at a time, in the order of the nodes; those at the greatest depth are not searched.
    assert engine.calls == [
        ([0], [True]), ([1, 2], [True, True]), ([3, 5, 6], [True, True, True]), ([9], [False]),
    ]  # fmt: skip
    assert tree.gain.tolist() == [1.0, 2.0, 9.0, 1.0, 1.0, 3.0, 1.0]
    assert len(tree.counts) == 8


@pytest.mark.parametrize("max_leaf_nodes", [2, 3, 7, 20])
@pytest.mark.parametrize("max_depth", [None, 1, 3])
@pytest.mark.parametrize("n_values", [2, 12])
def test_engines_grow_the_trees_of_these_rules(max_leaf_nodes, max_depth, n_values):
    """Ties of gains are many with two values and equal weights."""
    X, y = noisy_problem(150, 4, 3, n_values=n_values)
    data = training_set(X, y)
    rules = GrowthRules(3, 2.0, max_leaf_nodes, max_depth)
    one, grown = np.ones((1, 3), dtype=np.float32), []
    for engine in (ReferenceTreeEngine(), NativeTreeEngine(), NativeTreeEngine(2)):
        engine.load(data, LOSSES["exponential"], Slots(3), RowView())
        engine.advance(one, one, one[0], 15, 15)
        features = np.arange(4, dtype=np.int32)
        grown.append(grow_in_batches(engine, features, RowSample(), rules))
        grown.append(engine.grow_tree(features, RowSample(), rules))
    for tree in grown:
        for one, other in zip(tree, grown[0], strict=True):
            np.testing.assert_array_equal(one, other)
    assert sum(grown[0].counts) == 150
    assert min(grown[0].counts) >= 3
