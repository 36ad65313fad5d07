"""Trees with -1/+1 leaves against scikit-learn's CART on the signs and sizes of the direction."""

import numpy as np
import pytest
from formulas import direction, tree_outputs
from sklearn.tree import DecisionTreeClassifier
from support import BOTH_LOSSES, by_name, make_method, random_problem, rounds_of, training_set

DEPTHS = pytest.mark.parametrize("depth", [2, 3, 4])


def cart_outputs(X, g, depth, n_orders=8):
    """Outputs of scikit-learn's trees; it tries features in random order, so ties give several."""
    return np.array(
        [
            DecisionTreeClassifier(max_depth=depth, random_state=seed)
            .fit(X, np.sign(g), sample_weight=np.abs(g))
            .predict(X)
            for seed in range(n_orders)
        ]
    )


def trees_of(X, y, loss, depth, n_rounds):
    """Yield the record and outputs of each round, with the direction it was grown for."""
    method = make_method(training_set(X, y), loss, depth=depth, eta=0.5)
    F = np.zeros((len(y), y.max() + 1))
    for finished in rounds_of(method, n_rounds):
        g = direction(F, y, loss)
        h = tree_outputs(finished.weak, X)
        yield finished, h, g[:, finished.weak.output]
        F += h[:, None] * finished.w


@DEPTHS
@pytest.mark.parametrize(
    ("name", "least_unique"),
    [("iris", 0), ("wine", 2), ("digits", 4), ("pendigits", 4), ("letter", 4)],
)
@BOTH_LOSSES
def test_edge_is_that_of_cart(name, least_unique, loss, depth):
    X, y = by_name(name)
    X, y = X[:500], y[:500]
    n_unique, n_other = 0, 0
    for finished, h, g in trees_of(X, y, loss, depth, 12):
        assert set(h) == {-1.0, 1.0}
        assert finished.edge == pytest.approx(g @ h, rel=1e-6)
        theirs = cart_outputs(X, g, depth) @ g
        if np.ptp(theirs) <= 1e-9 * theirs.max():
            n_unique += 1
            # Where all rows are told apart, most weights are below the unit of the direction.
            rel = 1e-6 if finished.edge > 1e-4 else 1e-3
            # Splits of nearly equal purity may have edges that differ more.
            n_other += finished.edge != pytest.approx(theirs[0], rel=rel)
            assert finished.edge == pytest.approx(theirs[0], rel=max(rel, 1e-4))
    assert n_unique >= least_unique
    assert n_other <= 1


@DEPTHS
def test_tree_is_that_of_cart_where_it_is_unique(depth):
    X, y = random_problem(300, 6, 4, seed=depth)
    X = X.astype(np.float32).astype(np.float64)  # what scikit-learn's trees see
    n_unique = 0
    for finished, h, g in trees_of(X, y, "exponential", depth, 20):
        theirs = cart_outputs(X, g, depth)
        if (theirs == theirs[0]).all():
            n_unique += 1
            np.testing.assert_array_equal(h, theirs[0])
        tree = DecisionTreeClassifier(max_depth=1).fit(X, np.sign(g), sample_weight=np.abs(g))
        assert finished.weak.feature[0] == tree.tree_.feature[0]
        assert finished.weak.threshold[0] == pytest.approx(tree.tree_.threshold[0], rel=1e-6)
    assert n_unique >= 5
