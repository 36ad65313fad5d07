"""What weights and repetitions mean to every classifier."""

import numpy as np
import pytest
from formulas import leaf_of, tree_of
from method_fits import ALL, DEPTHS, MODELS, STUMPS_AND_TREES, fit, weight_of
from support import assert_same_model, noisy_problem

from marginboost import MCBoostClassifier


@pytest.fixture(scope="module")
def noisy():
    """Classes that stumps do not tell apart, values shared by several rows."""
    return noisy_problem(150, 4, 4, n_values=30)


@ALL
@DEPTHS
@pytest.mark.parametrize("max_bins", [None, 8])
def test_an_integer_weight_repeats_the_row(name, depth, max_bins, noisy):
    X, y = noisy
    times = np.random.default_rng(2).integers(0, 4, len(y))
    settings = {"max_depth": depth, "max_bins": max_bins}
    weighted = fit(name, X, y, times, **settings)
    repeated = fit(name, np.repeat(X, times, axis=0), np.repeat(y, times), **settings)
    if "Multi" in name:
        np.testing.assert_array_equal(weighted.ensemble_.feature, repeated.ensemble_.feature)
        np.testing.assert_array_equal(weighted.ensemble_.threshold, repeated.ensemble_.threshold)
        np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-4)
    else:
        assert_same_model(weighted, repeated)


@ALL
def test_a_row_of_weight_zero_is_absent(name, noisy):
    X, y = noisy
    weight = np.random.default_rng(3).uniform(0.5, 2, len(y))
    weight[::3] = 0
    kept = weight > 0
    assert_same_model(fit(name, X, y, weight), fit(name, X[kept], y[kept], weight[kept]))


@ALL
def test_weights_of_one_are_no_weights(name, noisy):
    assert_same_model(fit(name, *noisy), fit(name, *noisy, np.ones(len(noisy[1]))))


@ALL
def test_class_weight_is_a_factor_on_the_rows(name, noisy):
    X, y = noisy
    factors = {0: 0.5, 1: 2.25, 2: 1.0, 3: 0.8}
    by_row = fit(name, X, y, np.array([factors[label] for label in y]))
    assert_same_model(fit(name, X, y, class_weight=factors), by_row)
    balanced = len(y) / (4 * np.bincount(y))
    assert_same_model(fit(name, X, y, class_weight="balanced"), fit(name, X, y, balanced[y]))


@ALL
def test_a_class_of_weight_zero_does_not_count(name, noisy):
    X, y = noisy
    model = fit(name, X, y, class_weight={1: 0, 2: 0.0})
    assert_same_model(model, fit(name, X, y, np.where((y == 1) | (y == 2), 0.0, 1.0)))
    assert model.classes_.tolist() == [0, 1, 2, 3]
    assert model.class_count_[1] == model.class_count_[2] == 0
    both = fit(name, X, y, np.arange(len(y)) % 3 / 2.0, class_weight={1: 0, 0: 2.0})
    weight = np.arange(len(y)) % 3 / 2.0 * np.array([2.0, 0.0, 1.0, 1.0])[y]
    assert_same_model(both, fit(name, X, y, weight))
    with pytest.raises(
        ValueError, match="positive for rows of at least two classes; got 1 such class"
    ):
        fit(name, X, y, class_weight={0: 0, 1: 0, 3: 0})


# Codes of -1 and +1 (MH, ECC, SIP) say for which half of the classes a row is: they can't say never. And
# GradBoost's weights fade before it does.
@pytest.mark.parametrize(
    "name", [name for name in MODELS if not name.startswith(("MH", "ECC", "SIP", "Grad"))]
)
def test_a_class_of_weight_zero_has_hardly_any_probability(name):
    X = np.random.default_rng(0).normal(size=(300, 4))
    y = (X[:, 0] > 0) + 2 * (X[:, 1] > 0)
    model = fit(name, X, y, n_estimators=50, class_weight={2: 0})
    assert not (model.predict(X) == 2).any()
    assert model.predict_proba(X)[:, 2].mean() < 0.02


@ALL
def test_a_heavy_class_is_predicted_more_often(name, noisy):
    X, y = noisy
    plain, heavy = fit(name, X, y), fit(name, X, y, class_weight={1: 6.0})
    assert (heavy.predict(X) == 1).sum() > (plain.predict(X) == 1).sum()


@ALL
@DEPTHS
def test_extreme_weights_stay_finite_and_equal_on_both_engines(name, depth, noisy):
    X, y = noisy
    weight = 10.0 ** np.random.default_rng(6).uniform(-12, 12, len(y))
    native = fit(name, X, y, weight, max_depth=depth)
    assert np.isfinite(native.ensemble_.vectors).all()
    assert np.isfinite(native.ensemble_.leaf_value).all()
    assert_same_model(native, fit(name, X, y, weight, max_depth=depth, engine="reference"))


@STUMPS_AND_TREES
@DEPTHS
@pytest.mark.parametrize(
    ("share", "kind"),
    [(0.2, "plain"), (0.2, "weights"), (0.2, "multiplicities"), (0.01, "weights")],
)
def test_every_leaf_holds_its_share_of_the_weight(name, depth, share, kind, noisy):
    X, y = noisy
    weight = weight_of(kind, len(y))
    settings = {"max_depth": depth, "min_weight_fraction_leaf": share}
    model = fit(name, X, y, weight, **settings)
    assert model.n_iter_ > 0
    of_row = np.ones(len(y)) if weight is None else weight
    lightest = min(
        np.bincount(leaf_of(tree, X), weights=of_row, minlength=len(tree.leaf_value)).min()
        for tree in (tree_of(model.ensemble_, j) for j in range(model.ensemble_.n_trees))
    )
    assert lightest >= share * of_row.sum() * (1 - 1e-9)
    assert_same_model(model, fit(name, X, y, weight, engine="reference", **settings))
    assert_same_model(model, fit(name, X, y, weight, n_jobs=3, **settings))


@STUMPS_AND_TREES
def test_the_least_weight_of_a_leaf_leaves_other_thresholds_alone(name, noisy):
    """A share below one row forbids nothing."""
    X, y = noisy
    for depth in (1, 2):
        tiny = fit(name, X, y, max_depth=depth, min_weight_fraction_leaf=0.9 / len(y))
        assert_same_model(tiny, fit(name, X, y, max_depth=depth))


@STUMPS_AND_TREES
def test_a_weighted_leaf_is_that_of_repeated_rows(name, noisy):
    X, y = noisy
    times = np.random.default_rng(8).integers(0, 4, len(y))
    settings = {"max_depth": 2, "min_weight_fraction_leaf": 0.07}
    weighted = fit(name, X, y, times, **settings)
    repeated = fit(name, np.repeat(X, times, axis=0), np.repeat(y, times), **settings)
    np.testing.assert_array_equal(weighted.ensemble_.feature, repeated.ensemble_.feature)
    np.testing.assert_array_equal(weighted.ensemble_.threshold, repeated.ensemble_.threshold)


def test_a_half_in_every_leaf():
    X, y = np.array([[0.0, 0], [0, 1], [1, 2], [1, 3]]), [0, 0, 1, 1]
    model = MCBoostClassifier(1, min_weight_fraction_leaf=0.5).fit(X, y)
    np.testing.assert_array_equal(model.predict(X), y)
    with pytest.warns(UserWarning, match="enough weight on both sides"):
        model.fit(X[:, :1], y, sample_weight=[1, 1, 1, 2])
    np.testing.assert_allclose(model.predict_proba(X[:1, :1]), [[0.4, 0.6]])


@ALL
def test_a_class_of_weight_zero_is_not_predicted(name, noisy):
    X, y = noisy
    model = fit(name, X, y, (y != 1).astype(float))
    np.testing.assert_array_equal(model.classes_, range(4))
    assert np.isfinite(model.decision_function(X)).all()
    # Four corrected rounds cannot push the score of a class without rows down everywhere.
    most = 0.05 if "Multi" in name else 0.0
    assert np.mean(model.predict(X[y != 1]) == 1) <= most
