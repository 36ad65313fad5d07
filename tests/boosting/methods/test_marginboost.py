"""Vector-leaf trees against the formulas that they stand for, and against brute force."""

import numpy as np
import pytest
from formulas import AllStumps, exponentials, leaf_of, others, pair_weights, tree_of
from support import (
    BOTH_LOSSES,
    TWO_CLASSES,
    boosted,
    embedded,
    make_tree_method,
    noisy_problem,
    two_classes,
)
from support import training_set as make_data

from marginboost import MarginBoostClassifier
from marginboost.engine import NativeTreeEngine, ReferenceTreeEngine

ENGINES = pytest.mark.parametrize("engine", [NativeTreeEngine, ReferenceTreeEngine])


def vectors_of(ensemble, j):
    """The leaves' coefficients of one tree."""
    return ensemble.vectors[tree_of(ensemble, j).leaf_vector]


def masses(F, y, loss, leaf, n_leaves, weight=1.0):
    """By leaf and class: weights of the class's own rows, and of the other rows for it."""
    u = pair_weights(F, y, loss) * np.broadcast_to(weight, len(y))[:, None]
    own, against = np.zeros((2, n_leaves, F.shape[1]))
    np.add.at(own, (leaf, y), u.sum(axis=1))
    np.add.at(against, leaf, u)
    return own, against


# --- the leaf -------------------------------------------------------------------------------------


@ENGINES
@BOTH_LOSSES
@pytest.mark.parametrize("kind", ["plain", "weights", "multiplicities"])
def test_leaves_hold_the_closed_form_of_their_weights(engine, loss, kind):
    X, y = noisy_problem(200, 4, 5, n_values=30)
    rng = np.random.default_rng(1)
    weight = {
        "weights": rng.uniform(0.1, 3, len(y)), "multiplicities": rng.integers(1, 5, len(y)),
    }.get(kind, np.ones(len(y)))  # fmt: skip
    eta, l2 = 0.5, 0.7
    data = make_data(X, y, weight=weight)
    if kind == "weights":
        weight = weight / weight.mean()  # real weights have no scale of their own
    method = make_tree_method(data, loss, engine=engine(), eta=eta, pseudo_count=l2, subsample=0.6)
    rounds, ensemble = boosted(method, 5)
    F = np.zeros((len(y), 5))
    for j in range(len(rounds)):
        tree = tree_of(ensemble, j)
        leaf = leaf_of(tree, X)
        own, against = masses(F, y, loss, leaf, len(tree.leaf_value), weight)
        # The pseudo-count is on the scale where the mean weight of a pair is 1/2.
        mean = own.sum() / (weight.sum() * 4) if loss == "exponential" else 0.5
        ratio = (own + 2 * mean * l2) / (against + 2 * mean * l2)
        expected = eta * np.log(ratio) * (0.5 if loss == "exponential" else 1.0)
        np.testing.assert_allclose(vectors_of(ensemble, j), expected, atol=2e-5)
        F += expected[leaf]


@TWO_CLASSES
def test_two_leaves_of_two_classes_are_confidence_rated_adaboost(name):
    """Schapire and Singer: each leaf says half the log-odds of its weights."""
    X, y = two_classes(name)
    data = make_data(X, y)
    rounds, ensemble = boosted(
        make_tree_method(
            data, "exponential", max_leaf_nodes=2, eta=1.0, pseudo_count=1e-4, min_samples_leaf=20
        ),
        10,
    )
    weight = np.full(len(y), 1 / len(y))
    for j in range(len(rounds)):
        tree = tree_of(ensemble, j)
        assert len(tree.feature) == 1
        above = X[:, tree.feature[0]] > tree.threshold[0]
        score = np.zeros(len(y))
        for side, leaf in ((~above, ~tree.left[0]), (above, ~tree.right[0])):
            positive, negative = weight[side & (y == 1)].sum(), weight[side & (y == 0)].sum()
            smooth = 1e-4 * 2 * weight.mean()
            value = 0.5 * np.log((positive + smooth) / (negative + smooth))
            w = vectors_of(ensemble, j)[leaf]
            # Both classes move, each by its half of the log-odds of the pair.
            np.testing.assert_allclose(w, [-value, value], atol=1e-4, rtol=1e-3)
            score[side] = w[1] - w[0]
        weight = weight * np.exp(np.where(y == 1, -score, score))
        weight /= weight.sum()


# --- the tree -------------------------------------------------------------------------------------


@BOTH_LOSSES
@pytest.mark.parametrize("k", [2, 3, 5, 9])
def test_one_tree_is_the_best_stump(k, loss):
    X, y = noisy_problem(120, 3, k, seed=k)
    stumps = AllStumps(X)
    l2 = 0.3
    own = np.arange(k) == y[:, None]
    start = 1.0 if loss == "exponential" else 0.5
    g = np.where(own, (k - 1) * start, -start)
    half_mean = 2 * start if loss == "exponential" else 1.0

    def score(part):
        return (g[part].sum(axis=0) ** 2).sum() / (part.sum() * (k - 1) * start + l2 * half_mean)

    scores = [score(h > 0) + score(h < 0) for h in stumps.outputs]
    method = make_tree_method(make_data(X, y), loss, max_leaf_nodes=2, pseudo_count=l2, eta=1.0)
    _, ensemble = boosted(method, 1)
    tree = tree_of(ensemble, 0)
    best = int(np.argmax(scores))
    assert stumps.place(tree) == best
    leaf = (stumps.outputs[best] > 0).astype(int)
    P, N = masses(np.zeros((len(y), k)), y, loss, leaf, 2)
    factor = 0.5 if loss == "exponential" else 1.0
    expected = factor * np.log((P + l2 * half_mean) / (N + l2 * half_mean))
    np.testing.assert_allclose(vectors_of(ensemble, 0)[leaf_of(tree, X)], expected[leaf], atol=1e-6)


@ENGINES
@BOTH_LOSSES
def test_the_engine_holds_the_margins_of_the_model(engine, loss):
    """After a hundred steps in float32."""
    X, y = noisy_problem(90, 3, 4, n_values=12)
    order = np.argsort(y, kind="stable")
    X, y = X[order], y[order]
    held = engine()
    method = make_tree_method(make_data(X, y), loss, engine=held, eta=0.1, max_leaf_nodes=4)
    rounds, ensemble = boosted(method, 100)
    assert len(rounds) == 100
    F = ensemble.decision_function(X)
    e = exponentials(F, y)
    pairs = others(y, 4) & (e > 2.0**-58)
    assert pairs.mean() > 0.5
    np.testing.assert_allclose(held.state()[0][pairs], e[pairs], rtol=1e-4)
    margin = np.where(others(y, 4), F[np.arange(len(y)), y][:, None] - F, np.inf).min(axis=1)
    assert rounds[-1].training_error == np.mean(margin <= 0)


@BOTH_LOSSES
@pytest.mark.parametrize("name", ["iris", "wine", "noise"])
def test_training_loss_falls_every_round(name, loss):
    X, y = noisy_problem(300, 5, 6) if name == "noise" else embedded(name)
    model = MarginBoostClassifier(
        25, loss=loss, learning_rate=0.05, subsample=1.0, calibrate=False, random_state=0
    ).fit(X, y)
    k = len(model.classes_)
    values = [
        np.where(others(y, k), 1.0, 0.0).sum() * (1.0 if loss == "exponential" else np.log(2))
    ]
    for F in model.staged_decision_function(X):
        e = exponentials(F, y)
        values.append((e if loss == "exponential" else np.log1p(e))[others(y, k)].sum())
    assert len(values) == 26
    assert (np.diff(values) < 0).all()


@pytest.mark.parametrize("max_features", [1.0, 0.5])
def test_importances_name_the_informative_feature(max_features):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    y = (X[:, 2] > 0).astype(int) + (X[:, 2] > 1)
    X[:, 3] = 1.0
    model = MarginBoostClassifier(20, max_features=max_features, random_state=0).fit(X, y)
    assert model.feature_importances_.sum() == pytest.approx(1)
    assert (model.feature_importances_ >= 0).all()
    assert model.feature_importances_.argmax() == 2
    assert model.feature_importances_[2] > 0.5
    assert model.feature_importances_[3] == 0


def pair_losses(F, y, loss):
    """Sum the losses of all pairs."""
    e = exponentials(F, y)[others(y, F.shape[1])]
    return (e if loss == "exponential" else np.log1p(e)).sum()


@BOTH_LOSSES
def test_splits_of_a_tree_share_by_their_gains(loss):
    X, y = noisy_problem(150, 3, 3, n_values=20)
    method = make_tree_method(make_data(X, y), loss, max_leaf_nodes=5)
    for finished in boosted(method, 6)[0]:
        gains, found = np.asarray(finished.gains), finished.weak.gain
        assert len(gains) == 4
        np.testing.assert_allclose(gains / gains.sum(), found / found.sum(), rtol=1e-12)


@ENGINES
@BOTH_LOSSES
def test_a_split_counts_by_what_the_loss_falls(engine, loss):
    """And the edge is what it gains, as a share of all weights at that time: in float64."""
    X, y = noisy_problem(150, 3, 3, n_values=20)
    method = make_tree_method(
        make_data(X, y), loss, engine=engine(), max_leaf_nodes=2, eta=0.7, pseudo_count=1e-6
    )
    rounds, ensemble = boosted(method, 6)
    F = np.zeros((len(y), 3))
    for j, finished in enumerate(rounds):
        leaf = leaf_of(tree_of(ensemble, j), X)
        u = pair_weights(F, y, loss)
        g = np.where(others(y, 3), -u, u.sum(axis=1)[:, None])
        scores = [
            (g[part].sum(axis=0) ** 2).sum() / u[part].sum()
            for part in (leaf == 0, leaf == 1, leaf >= 0)
        ]
        gain = (scores[0] + scores[1] - scores[2]) / u.sum()
        assert 0 < finished.edge <= gain * 1.001  # by a bound on the weights
        before = pair_losses(F, y, loss)
        F += vectors_of(ensemble, j)[leaf]
        fall = (before - pair_losses(F, y, loss)) / len(y)
        assert fall > 0
        assert finished.gains.tolist() == [pytest.approx(fall, rel=1e-4)]
