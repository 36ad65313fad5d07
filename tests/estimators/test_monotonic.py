"""`monotonic_cst`: differences of two classes' scores are never against their sign."""

import itertools
import warnings

import numpy as np
import polars as pl
import pytest
from constraint_support import along, check_monotone, scores
from hypothesis import given, settings
from hypothesis import strategies as st
from support import embedded, noisy_problem

from marginboost import MarginBoostClassifier
from marginboost.boosting.monotone import MonotoneSteps
from marginboost.estimators.constraints import read_monotonic


@st.composite
def fits(draw):
    """Draw rows, constraints and settings."""
    k = draw(st.integers(2, 5))
    d = draw(st.integers(1, 4))
    n = draw(st.integers(30, 150))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = rng.normal(size=(n, d))
    if draw(st.booleans()):
        X = np.rint(2 * X)
    y = (X @ rng.normal(size=(d, k)) + rng.normal(size=(n, k))).argmax(axis=1)
    y[:k] = np.arange(k)
    if draw(st.booleans()):
        X[rng.random(X.shape) < 0.15] = np.nan
    wanted = {}
    for column in range(d):
        pairs = draw(
            st.dictionaries(
                st.sampled_from(list(itertools.combinations(range(k), 2))),
                st.sampled_from([-1, 1]),
                max_size=4,
            )
        )
        wanted[column] = pairs
    parameters = {
        "n_estimators": draw(st.sampled_from([1, 3, 10])),
        "loss": draw(st.sampled_from(["exponential", "logistic"])),
        "learning_rate": draw(st.sampled_from([0.1, 1.0])),
        "max_leaf_nodes": draw(st.sampled_from([2, 5, 20])),
        "max_features": draw(st.sampled_from([0.5, 1.0])),
        "min_samples_leaf": draw(st.sampled_from([1, 5])),
        "l2_regularization": draw(st.sampled_from([0.0, 1.0])),
        "calibrate": draw(st.booleans()),
    }
    return X, y, wanted, parameters


@settings(max_examples=50)
@given(fits())
def test_differences_are_never_against_their_sign(fit):
    X, y, wanted, parameters = fit
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = MarginBoostClassifier(random_state=0, monotonic_cst=wanted, **parameters).fit(X, y)
    for column, pairs in wanted.items():
        for (a, b), sign in pairs.items():
            check_monotone(model, X[:20], column, a, b, sign)


@pytest.mark.parametrize("sign", [1, -1])
def test_two_classes_by_trials(sign):
    """A blend of several fits is as monotone as each of them."""
    X, y = embedded("breast_cancer")
    X, kept = X[:, :6], {0: sign, 3: sign}
    model = MarginBoostClassifier(monotonic_cst=kept, random_state=0).fit(X, y)
    free = MarginBoostClassifier(random_state=0).fit(X, y)
    moves = [check_monotone(model, X[::20], column, 1, 0, sign) for column in kept]
    if sign < 0:  # large nuclei are malignant, class 0: otherwise nothing may be left to learn
        assert any(moves)
    F = [scores(free, moved)[:, 1] for moved in along(free, X[::20], 0)]
    steps = np.diff(np.stack(F), axis=0)
    assert (steps < 0).any()
    assert (steps > 0).any()  # the constraint has something to do


def test_several_parts_of_a_blend():
    X, y = noisy_problem(900, 4, 3, seed=1)
    wanted = {0: {(0, 1): 1, (1, 2): 1, (0, 2): 1}, 1: {(2, 1): -1}, 2: {(0, 2): -1}}
    model = MarginBoostClassifier(monotonic_cst=wanted, random_state=0).fit(X, y)
    assert len(model.chosen_["parts"]) > 1
    moved = [
        check_monotone(model, X[:60], column, a, b, sign)
        for column, pairs in wanted.items()
        for (a, b), sign in pairs.items()
    ]
    assert any(moved)


def test_a_constraint_against_the_data_flattens_the_column():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 2))
    y = (X[:, 0] + 0.3 * rng.normal(size=400) > 0).astype(int)
    right = MarginBoostClassifier(30, monotonic_cst=[1, 0], random_state=0).fit(X, y)
    assert right.score(X, y) > 0.9
    assert check_monotone(right, X[:30], 0, 1, 0, 1)
    wrong = MarginBoostClassifier(30, monotonic_cst=[-1, 0], random_state=0).fit(X, y)
    check_monotone(wrong, X[:30], 0, 1, 0, -1)
    assert wrong.score(X, y) < 0.75


def test_ordered_classes_are_ordered_pairs():
    """+1 means that the odds of a class against the one below it never fall."""
    classes = np.array(["high", "low", "middle"])
    ranks = np.array([2, 0, 1])
    rules = read_monotonic([1, 0], 2, classes, ranks=ranks)
    by_name = read_monotonic({0: {("middle", "low"): 1, ("high", "middle"): 1}}, 2, classes)
    assert sorted(rules) == sorted(by_name)
    two = read_monotonic([1], 1, np.array(["a", "b"]), ranks=np.array([1, 0]))
    assert two == read_monotonic({0: {("a", "b"): 1}}, 1, np.array(["a", "b"]))


def test_ordered_classes_never_fall():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(500, 3))
    y = np.digitize(X[:, 0] + X[:, 1] + rng.normal(size=500), [-1.0, 0.0, 1.0])
    pairs = {(r + 1, r): 1 for r in range(3)}
    model = MarginBoostClassifier(40, monotonic_cst={0: pairs}, random_state=0).fit(X, y)
    at_least = []
    for moved in along(model, X[:40], 0):
        p = model.predict_proba(moved)
        at_least.append(p[:, ::-1].cumsum(axis=1)[:, :-1])  # of this class or a higher one
    assert (np.diff(np.stack(at_least), axis=0) >= -1e-9).all()


def test_missing_values_and_categories_beside_monotone_columns():
    rng = np.random.default_rng(0)
    n = 400
    income = rng.normal(size=n)
    town = rng.choice(["x", "y", "z"], n)
    y = np.where(income + (town == "x") + rng.normal(size=n) > 0, "good", "bad")
    income[rng.random(n) < 0.2] = np.nan
    X = pl.DataFrame({"town": town, "income": income})
    model = MarginBoostClassifier(20, monotonic_cst={"income": 1}, random_state=0).fit(X, y)
    assert (model.encoding_.source == 1).sum() == 2
    values = np.sort(income[np.isfinite(income)])
    for name in ("x", "y", "z", "new"):
        rows = pl.DataFrame({"town": [name] * len(values), "income": values})
        assert (np.diff(model.decision_function(rows)) >= 0.0).all()
    with pytest.raises(ValueError, match="got column 'town', whose categories have no order"):
        model.set_params(monotonic_cst={"town": 1}).fit(X, y)


def test_steps_of_a_tree_with_pairs_in_a_cycle():
    """Bounds that only a vector of all classes can keep to."""
    pairs = [(1, 0), (2, 1), (0, 2), (3, 0)]
    signs = np.array([[1, 1, 1, -1], [0, -1, 1, 0], [1, 0, 0, 1]], dtype=np.int8)
    steps = MonotoneSteps(pairs, signs)
    X, y = noisy_problem(300, 3, 4, seed=5)
    wanted = {
        column: {pair: int(sign) for pair, sign in zip(pairs, of_column, strict=True) if sign}
        for column, of_column in enumerate(signs)
    }
    model = MarginBoostClassifier(
        5, monotonic_cst=wanted, learning_rate=1.0, max_features=1.0, random_state=0
    ).fit(X, y)
    for column, of_column in wanted.items():
        for (a, b), sign in of_column.items():
            check_monotone(model, X[:50], column, a, b, sign)
    # A cycle of three differences that may only rise: all of them are constant.
    F = np.stack([scores(model, moved) for moved in along(model, X[:50], 0)])
    assert (np.ptp(F[:, :, 1] - F[:, :, 0], axis=0) == 0.0).all()
    ensemble = model.ensemble_
    tree = type("Tree", (), {})()
    nodes, leaves = slice(*ensemble.node_offsets[:2]), slice(*ensemble.leaf_offsets[:2])
    for name in ("feature", "left", "right"):
        setattr(tree, name, getattr(ensemble, name)[nodes].tolist())
    vectors = ensemble.vectors[ensemble.leaf_vector[leaves]]
    assert steps.hold(tree, vectors)
    assert not steps.hold(tree, np.random.default_rng(0).normal(size=vectors.shape))


def test_a_tree_of_one_leaf_has_steps():
    tree = type("Tree", (), {"feature": np.zeros(0, dtype=np.int32), "left": [], "right": []})()
    steps = MonotoneSteps([(1, 0)], np.ones((1, 1), dtype=np.int8))
    found = steps.steps(tree, np.ones((1, 2)), np.ones((1, 2)), lambda own, against: own * 0.5)
    np.testing.assert_array_equal(found, [[0.5, 0.5]])
