"""Feature importances against exact contributions and permutation importances."""

import numpy as np
import pytest
from scipy.stats import spearmanr
from sklearn import datasets
from sklearn.inspection import permutation_importance
from support import shared

import marginboost
from marginboost import MarginBoostClassifier

EMBEDDED = ("wine", "breast_cancer", "digits")
SHARED = ("glass", "vehicle", "vowel", "segment", "satimage", "pendigits", "svmguide2", "letter")
METHODS = [name for name in marginboost.__all__ if name.endswith("Classifier")]


def halves(X, y):
    """Part the rows in two, with every class in both."""
    rows = np.random.default_rng(0).permutation(len(y))
    rows = rows[np.argsort(y[rows], kind="stable")]
    return (X[rows[::2]], y[rows[::2]]), (X[rows[1::2]], y[rows[1::2]])


def embedded(name):
    return halves(*getattr(datasets, f"load_{name}")(return_X_y=True))


def used_alike(model, X):
    """Correlate importances with mean |contribution| on rows that the model was not shown."""
    some = X[:: -(-len(X) // 200)]  # of all classes: they come one after the other
    return spearmanr(model.feature_importances_, model.explain(some).importances()).statistic


def distance(one, other):
    """Return the total variation distance of shares: from 0 to 1."""
    return 0.5 * np.abs(one - other).sum()


def check_one_set(fit, test, **settings):
    """Importances are those of contributions, after few rounds and after many, and hardly change."""
    few, many = (
        MarginBoostClassifier(n, random_state=0, calibrate=False, **settings).fit(*fit)
        for n in (50, 500)
    )
    assert used_alike(few, test[0]) > 0.8
    assert used_alike(many, test[0]) > 0.8
    assert distance(few.feature_importances_, many.feature_importances_) < 0.2


@pytest.mark.parametrize("loss", ["exponential", "logistic"])
@pytest.mark.parametrize("name", EMBEDDED)
def test_importances_are_those_of_contributions(name, loss):
    check_one_set(*embedded(name), loss=loss)


@pytest.mark.parametrize("name", SHARED)
def test_importances_are_those_of_contributions_on_shared_sets(name):
    check_one_set(*halves(*shared(name, 2000)))


@pytest.mark.parametrize("loss", ["exponential", "logistic"])
@pytest.mark.parametrize("n_rounds", [10, 50, 500])
@pytest.mark.parametrize("seed", range(3))
def test_petals_tell_irises_apart(n_rounds, loss, seed):
    X, y = datasets.load_iris(return_X_y=True)
    model = MarginBoostClassifier(n_rounds, loss=loss, random_state=seed, calibrate=False).fit(X, y)
    shares = model.feature_importances_
    assert min(shares[2:]) > max(shares[:2])


@pytest.mark.parametrize("name", ["wine", "breast_cancer"])
def test_importances_agree_with_permutation(name):
    fit, test = embedded(name)
    model = MarginBoostClassifier(50, random_state=0).fit(*fit)
    permuted = permutation_importance(
        model, *test, n_repeats=5, random_state=0, scoring="neg_log_loss"
    )
    assert spearmanr(model.feature_importances_, permuted.importances_mean).statistic > 0.6


def test_useless_columns_count_little_after_many_rounds():
    """Gains gave columns of noise, which many rounds fit, as much as the others."""
    X, y = datasets.load_iris(return_X_y=True)
    X = np.column_stack([X, np.random.default_rng(0).normal(size=(len(y), 6))])
    few, many = (
        MarginBoostClassifier(n, random_state=0, calibrate=False).fit(X, y).feature_importances_
        for n in (50, 500)
    )
    assert few[4:].sum() < 0.35
    assert many[4:].sum() < few[4:].sum() + 0.05


@pytest.mark.parametrize("name", METHODS)
def test_importances_of_every_method(name):
    fit, test = embedded("wine")
    model = getattr(marginboost, name)(20)
    if "random_state" in model.get_params():
        model.set_params(random_state=0)
    assert used_alike(model.fit(*fit), test[0]) > 0.8
