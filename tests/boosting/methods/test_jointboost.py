"""JointBoost against a plain implementation of greedy sharing: weighted least squares, one by one."""

import numpy as np
import pytest
from formulas import AllStumps, leaf_of, tree_of
from support import embedded, noisy_problem, rounds_of, training_set

from marginboost import JointBoostClassifier
from marginboost.boosting.methods.jointboost import JointBoost
from marginboost.engine import NativeStumpEngine
from marginboost.engine.stumps.base import SMALLEST_EXPONENTIAL


def questions(y, k):
    return np.where(y[:, None] == np.arange(k), 1.0, -1.0)


def squared_error(w, z, values):
    return (w * (z - values) ** 2).sum()


def fit_shared(above, w, z, shared):
    """Fit a pair of values for the classes in `shared` and a constant for each other: by row."""
    values = np.tile((w * z).sum(axis=0) / w.sum(axis=0), (len(z), 1))
    for side in (above, ~above):
        cell = np.ix_(side, shared)
        values[cell] = (w[cell] * z[cell]).sum() / w[cell].sum()
    return values, squared_error(w, z, values)


def greedy(stumps, w, z):
    """Grow the set of classes that share a stump; return the best met: (stump, set, values, error)."""
    k = z.shape[1]
    shared, best = [], None
    for _ in range(k):
        step = None
        for added in [c for c in range(k) if c not in shared]:
            for place in range(len(stumps.outputs)):
                values, error = fit_shared(stumps.outputs[place] > 0, w, z, [*shared, added])
                if step is None or error < step[3] * (1 - 1e-12):
                    step = (place, [*shared, added], values, error)
        shared = step[1]
        if best is None or step[3] < best[3] * (1 - 1e-12):
            best = step
    return best


def our_values(model, t, X):
    tree = tree_of(model.ensemble_, t)
    return tree, model.ensemble_.vectors[tree.leaf_vector[leaf_of(tree, X)]]


@pytest.mark.parametrize(("k", "seed"), [(2, 0), (3, 0), (3, 1), (4, 2), (5, 3)])
@pytest.mark.parametrize("rate", [1.0, 0.5])
def test_rounds_are_those_of_greedy_sharing(k, seed, rate):
    X, y = noisy_problem(60, 2, k, n_values=8, seed=seed)
    z, stumps = questions(y, k), AllStumps(X)
    model = JointBoostClassifier(5, learning_rate=rate).fit(X, y)
    F = np.zeros(z.shape)
    for t in range(5):
        w = np.exp(-z * F)
        place, shared, values, error = greedy(stumps, w, z)
        tree, ours = our_values(model, t, X)
        assert squared_error(w, z, ours / rate) == pytest.approx(error, rel=1e-7)
        np.testing.assert_allclose(ours, rate * values, rtol=1e-6, atol=1e-8)
        assert stumps.place(tree) == place
        low, high = model.ensemble_.vectors[tree.leaf_vector]
        assert sorted(shared) == np.flatnonzero(np.abs(low - high) > 1e-9).tolist()
        np.testing.assert_array_equal(tree.leaf_value, 1.0)
        F = F + ours


@pytest.mark.parametrize("depth", [1, 2])
@pytest.mark.parametrize("name", ["iris", "wine", "noisy"])
def test_values_are_least_squares_and_the_fit_gets_better(name, depth):
    X, y = noisy_problem(200, 4, 5) if name == "noisy" else embedded(name)
    k = y.max() + 1
    z = questions(y, k)
    model = JointBoostClassifier(25, max_depth=depth).fit(X, y)
    F, last = np.zeros(z.shape), float(z.size)
    for t in range(model.n_iter_):
        w = np.exp(-z * F)
        tree, ours = our_values(model, t, X)
        assert len(set(tree.leaf_vector)) == 2
        high = tree.leaf_vector[leaf_of(tree, X)] == tree.leaf_vector.max()
        below, above = model.ensemble_.vectors[2 * t : 2 * t + 2]
        shared = np.flatnonzero(np.abs(above - below) > 1e-9)
        values, error = fit_shared(high, w, z, shared)
        np.testing.assert_allclose(ours, values, rtol=1e-5, atol=1e-7)
        constant = (w * z).sum(axis=0) / w.sum(axis=0)
        assert error < squared_error(w, z, constant)
        F = F + ours
        now = np.exp(-z * F).sum()
        assert now < last * (1 + 1e-12)
        last = now
    np.testing.assert_allclose(model.decision_function(X), F, rtol=1e-9, atol=1e-10)


def test_classes_that_want_the_same_stump_share_it():
    """Two of four classes are above a threshold: the first stump says so of both at once."""
    rng = np.random.default_rng(0)
    y = np.arange(200) % 4
    X = np.stack([np.isin(y, (1, 3)) + 0.1 * rng.normal(size=200), rng.normal(size=200)], axis=1)
    model = JointBoostClassifier(1).fit(X, y)
    low, high = model.ensemble_.vectors
    assert model.ensemble_.feature[0] == 0
    assert len(np.unique(low)) <= 2
    assert (np.abs(high - low) > 0.1).sum() >= 2


def test_only_one_of_a_questions_two_outputs_has_a_weight():
    X, y = noisy_problem(80, 3, 3, n_values=8)
    data, engine = training_set(X, y), NativeStumpEngine()
    method = JointBoost(engine, data, max_depth=1, eta=1.0)
    rounds_of(method, 6)
    own, other = np.split(engine.state()[0], 2, axis=1)
    is_own = data.labels[:, None] == np.arange(3)
    for half, counted in ((own, is_own), (other, ~is_own)):
        assert (half[~counted] == SMALLEST_EXPONENTIAL).all()
        assert (half[counted] > 1e-9).all()
