"""Trees with -1/+1 leaves: the purest split, the class, the depth."""

from fractions import Fraction

import numpy as np
import pytest
from support import make_method, random_problem, rounds_of, training_set

from marginboost import MCBoostClassifier
from marginboost.engine import NativeStumpEngine, ReferenceStumpEngine

DEPTHS = pytest.mark.parametrize("depth", [2, 3, 4])


@pytest.mark.parametrize("engine", [NativeStumpEngine, ReferenceStumpEngine])
@pytest.mark.parametrize("n_values", [2, 3, 10])
def test_root_split_is_the_purest_and_first(engine, n_values):
    X, y = random_problem(60, 6, 3, n_values=n_values)
    X, y = X[np.argsort(y, kind="stable")], np.sort(y)
    data = training_set(X, y)
    engine = engine()
    method = make_method(data, "exponential", engine=engine, eta=0.5)
    rounds_of(method, 5)
    g = engine.state()[1].astype(object)  # whole numbers of any size
    for output in range(3):
        feature, bin_, n_rows, _ = engine.start_tree(output)
        assert n_rows == 60
        of_class = g[:, output]
        scores = {}
        for f in range(X.shape[1]):
            for b, value in enumerate(np.unique(X[:, f])[:-1]):
                scores[f, b] = exact_purity(of_class, X[:, f] <= value)
        best = max(scores.values())
        assert (feature, bin_) == next(split for split, score in scores.items() if score == best)
        engine.split([0], [feature], [bin_], [False])
        masses = engine.finish_tree(np.array([-1, 0, 1], dtype=np.int32))
        is_left = np.unique(X[:, feature], return_inverse=True)[1] <= bin_
        for leaf, part in zip(masses, (of_class[is_left], of_class[~is_left]), strict=True):
            assert leaf.tolist() == [sum(part[part > 0]), -sum(part[part < 0])]


def exact_purity(g, goes_left):
    """Sum over both parts of (p^2 + n^2) / (p + n), which is largest where Gini is least."""
    total = Fraction(0)
    for part in (g[goes_left], g[~goes_left]):
        p, n = sum(part[part > 0]), -sum(part[part < 0])
        total += Fraction(p * p + n * n, p + n)
    return total


@pytest.mark.parametrize("engine", [NativeStumpEngine, ReferenceStumpEngine])
def test_class_is_that_of_the_best_stump(engine):
    X, y = random_problem(200, 5, 4)
    data = training_set(X, y)
    (stump,) = rounds_of(make_method(data, "exponential", engine=engine()), 1)
    (tree,) = rounds_of(make_method(data, "exponential", engine=engine(), depth=3), 1)
    assert tree.weak.output == stump.weak.output
    assert tree.edge > stump.edge
    assert sum(tree.weak.gain) == pytest.approx(1.0)
    assert min(tree.weak.gain) >= 0


@DEPTHS
def test_no_leaf_is_deeper(depth):
    X, y = random_problem(400, 4, 3)
    model = MCBoostClassifier(10, max_depth=depth).fit(X, y)
    ensemble = model.ensemble_
    for j in range(model.n_iter_):
        first, last = ensemble.node_offsets[j : j + 2]
        level = {0: 1}
        for node in range(last - first):
            for child in (ensemble.left[first + node], ensemble.right[first + node]):
                if child >= 0:
                    level[child] = level[node] + 1
        assert max(level.values()) == depth
    assert set(ensemble.leaf_value) == {-1.0, 1.0}


def test_a_deep_tree_stops_at_pure_nodes():
    X, y = random_problem(40, 3, 2)
    model = MCBoostClassifier(1, max_depth=40).fit(X, y)
    assert model.ensemble_.node_offsets[-1] < 40
    np.testing.assert_array_equal(model.predict(X), y)
