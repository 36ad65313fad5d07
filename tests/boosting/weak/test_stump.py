"""The stump search against all features, thresholds, classes and signs, one by one in float64."""

import numpy as np
import pytest
from formulas import AllStumps, direction, tree_outputs
from support import BOTH_LOSSES, by_name, make_method, random_problem, rounds_of, training_set

from marginboost.engine import NativeStumpEngine, ReferenceStumpEngine

N_ROUNDS = 50
SETS = pytest.mark.parametrize("name", ["iris", "wine", "digits", "pendigits", "letter"])


def in_documented_order(edges, tied):
    """List tied (stump, class) by feature, bin, a positive edge before a negative, class."""
    return sorted(zip(*np.nonzero(tied), strict=True), key=lambda at: (at[0], edges[at] < 0, at[1]))


def chosen(weak, stumps, edges):
    """Return the place of our stump in the table of edges, after checking its sign."""
    at = stumps.place(weak)
    assert np.sign(edges[at, weak.output]) in (0, weak.leaf_value[-1])
    return at, weak.output


@SETS
@BOTH_LOSSES
def test_each_round_has_the_largest_edge_in_float64(name, loss):
    X, y = by_name(name)
    k = y.max() + 1
    stumps = AllStumps(X)
    rounds = rounds_of(make_method(training_set(X, y), loss, nu=1e-9, eta=0.5), N_ROUNDS)
    assert len(rounds) == N_ROUNDS
    F = np.zeros((len(X), k))
    n_unique = 0
    for finished in rounds:
        edges = stumps.outputs @ direction(F, y, loss)
        best = np.abs(edges).max()
        ours = chosen(finished.weak, stumps, edges)
        assert finished.edge == pytest.approx(best, rel=1e-6)
        tied = np.abs(edges) >= best * (1 - 1e-7)
        if k == 2 or tied.sum() == 1:
            n_unique += 1
            assert tied[ours]
        else:
            assert np.abs(edges[ours]) >= best * (1 - 1e-6)
            # Stumps that part the rows alike are tied whatever is rounded: the first one wins.
            alike = tied & (stumps.outputs == stumps.outputs[ours[0]]).all(axis=1)[:, None]
            if alike[ours]:
                assert in_documented_order(edges, alike)[0][0] == ours[0]
        F += tree_outputs(finished.weak, X)[:, None] * finished.w
    assert n_unique >= N_ROUNDS / 2


@SETS
@BOTH_LOSSES
def test_first_round_takes_the_first_of_equals(name, loss):
    X, y = by_name(name)
    stumps = AllStumps(X)
    # All weights are equal and the sums whole numbers, so ties are exact for us and for NumPy.
    edges = stumps.outputs @ own_minus_others(y)
    tied = np.abs(edges) == np.abs(edges).max()
    (first,) = rounds_of(make_method(training_set(X, y), loss), 1)
    assert chosen(first.weak, stumps, edges) == in_documented_order(edges, tied)[0]


def own_minus_others(y):
    k = y.max() + 1
    g = np.full((len(y), k), -1.0)
    g[np.arange(len(y)), y] = k - 1
    return g


@pytest.mark.parametrize("make_stump_engine", [NativeStumpEngine, ReferenceStumpEngine])
@pytest.mark.parametrize("name", ["iris", "wine", "ties", "two_classes"])
@BOTH_LOSSES
def test_search_of_the_rounded_direction_is_exact(name, loss, make_stump_engine):
    """With whole numbers there is no rounding: the choice must be the first of equals, always."""
    if name == "ties":  # few distinct rows, so that most edges are shared
        X, y = random_problem(60, 8, 5, n_values=3)
    elif name == "two_classes":
        X, y = random_problem(80, 6, 2, n_values=5)
    else:
        X, y = by_name(name)
    order = np.argsort(y, kind="stable")  # the engine's order of rows
    X, y = X[order], y[order]
    stumps = AllStumps(X)
    outputs = stumps.outputs.astype(np.int64)
    engine = make_stump_engine()
    directions = []

    class Watched(type(make_method(training_set(X, y), loss))):
        def train_weak_classifier(self):
            directions.append(engine.state()[1].astype(np.int64))
            return super().train_weak_classifier()

    method = make_method(training_set(X, y), loss, engine=engine, eta=0.5, method=Watched)
    rounds = rounds_of(method, N_ROUNDS)
    assert len(rounds) > 10
    for finished, g in zip(rounds, directions, strict=False):
        edges = outputs @ g
        tied = np.abs(edges) == np.abs(edges).max()
        ours = chosen(finished.weak, stumps, edges)
        assert ours == in_documented_order(edges, tied)[0]
        assert finished.weak.edge == np.abs(edges).max()
