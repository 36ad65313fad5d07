"""Data with few distinct rows: what is held out and sampled must not be whole cells."""

from functools import cache

import numpy as np
import pytest
from hypothesis import Phase, example, given, settings
from hypothesis import strategies as st
from sklearn.metrics import log_loss

from marginboost import MarginBoostClassifier, MCBoostClassifier

N_FRESH = 10_000


@cache
def table(n_features, n_levels, n_classes, n_rows, seed=0, strength=1.5):
    """Draw rows of few levels, whose classes depend on each of them; then fresh ones."""
    rng = np.random.default_rng(seed)
    effect = rng.normal(size=(n_features, n_levels, n_classes)) * strength / np.sqrt(n_features)

    def draw(n):
        X = rng.integers(0, n_levels, (n, n_features))
        F = sum(effect[f][X[:, f]] for f in range(n_features))
        y = (F + rng.gumbel(size=F.shape)).argmax(axis=1)
        return X.astype(float), y

    X, y = draw(n_rows)
    y[:n_classes] = np.arange(n_classes)
    return X, y, *draw(N_FRESH)


def loss_of(model, X, y):
    return log_loss(y, model.predict_proba(X), labels=np.arange(len(model.classes_)))


# --- what was seen to go wrong --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("n_features", "n_levels", "n_classes", "n_rows"),
    [(1, 20, 3, 10_000), (3, 4, 3, 4000), (3, 3, 2, 891), (4, 2, 3, 2000)],
)
def test_the_scale_of_the_probabilities(n_features, n_levels, n_classes, n_rows):
    X, y, X_new, y_new = table(n_features, n_levels, n_classes, n_rows)
    model = MarginBoostClassifier(30, random_state=0).fit(X, y)
    plain = MarginBoostClassifier(30, random_state=0, calibrate=False).fit(X, y)
    assert 0.5 < model.probability_scale_ < 8
    assert loss_of(model, X_new, y_new) <= 1.02 * loss_of(plain, X_new, y_new)


@pytest.mark.parametrize(
    ("n_features", "n_levels", "n_classes", "n_rows"),
    [(1, 20, 3, 10_000), (4, 2, 3, 2000), (2, 3, 4, 1000)],
)
def test_early_stopping_of_trees(n_features, n_levels, n_classes, n_rows):
    X, y, X_new, y_new = table(n_features, n_levels, n_classes, n_rows)
    stopped = MarginBoostClassifier(60, random_state=0, early_stopping=True).fit(X, y)
    whole = MarginBoostClassifier(60, random_state=0, calibrate=False).fit(X, y)
    assert stopped.score(X_new, y_new) >= whole.score(X_new, y_new) - 0.01


@pytest.mark.parametrize(
    ("n_features", "n_levels", "n_classes", "n_rows"),
    [(1, 20, 3, 10_000), (4, 2, 3, 2000), (3, 4, 3, 4000)],
)
def test_early_stopping_of_stumps(n_features, n_levels, n_classes, n_rows):
    X, y, X_new, y_new = table(n_features, n_levels, n_classes, n_rows)
    stopped = MCBoostClassifier(60, max_bins=32, early_stopping=True).fit(X, y)
    whole = MCBoostClassifier(60, max_bins=32).fit(X, y)
    assert stopped.score(X_new, y_new) >= whole.score(X_new, y_new) - 0.01


def test_a_tree_sees_a_share_of_every_cell():
    """A sample of a tenth of the rows must not lack whole cells: trees could not tell them apart."""
    X, y, X_new, y_new = table(1, 20, 3, 4000)
    settings = {"random_state": 0, "calibrate": False, "n_estimators": 3, "learning_rate": 1.0}
    sampled = MarginBoostClassifier(subsample=0.1, **settings).fit(X, y)
    whole = MarginBoostClassifier(subsample=1.0, **settings).fit(X, y)
    assert loss_of(sampled, X_new, y_new) <= 1.05 * loss_of(whole, X_new, y_new)


# --- any such data --------------------------------------------------------------------------------


class Outcome:
    """How the default, and early stopping, fare against a fit without either."""

    def __init__(self, n_features, n_levels, n_classes, n_rows, seed, weighted):
        X, y, X_new, y_new = table(n_features, n_levels, n_classes, n_rows, seed)
        weight = np.random.default_rng(1).uniform(0.5, 2, len(y)) if weighted else None

        def fit(**settings):
            settings |= {"n_estimators": 20, "learning_rate": 0.3, "random_state": 0, "n_jobs": 1}
            return MarginBoostClassifier(**settings).fit(X, y, weight)

        default, plain, stopped = fit(), fit(calibrate=False), fit(early_stopping=True)
        shares = np.bincount(y, weights=weight, minlength=n_classes)
        by_frequency = -np.log(shares / shares.sum())[y_new].mean()
        best = min(loss_of(plain, X_new, y_new), by_frequency)
        self.loss_ratio = loss_of(default, X_new, y_new) / best
        self.points_lost = round(plain.score(X_new, y_new) - stopped.score(X_new, y_new), 6)


SHAPES = st.tuples(st.integers(1, 10), st.integers(2, 20), st.integers(2, 6))


@settings(max_examples=8, phases=[Phase.explicit, Phase.generate])
@given(SHAPES, st.floats(3.0, 4.3), st.integers(0, 10**6), st.booleans())
@example((1, 20, 3), 4.0, 0, False)
@example((4, 2, 3), 3.3, 0, True)
def test_thousands_of_rows(shape, log_rows, seed, weighted):
    n_rows = round(10**log_rows)
    outcome = Outcome(*shape, n_rows, seed, weighted)
    assert outcome.loss_ratio <= 1.02
    # Where rows have few copies, a tenth fewer of them may cost more than a point.
    n_features, n_levels, n_classes = shape
    if n_levels**n_features * n_classes <= n_rows / 10:
        assert outcome.points_lost <= 0.01


def test_hundreds_of_rows_in_the_mean():
    """A fifth of 50 rows is ten: what they say of a scale is right in the mean, not every time."""
    rng = np.random.default_rng(0)
    outcomes = []
    for n_rows in np.geomspace(60, 900, 16).astype(int).tolist():
        n_levels = int(rng.integers(2, 6))
        n_features = 2 if n_levels**2 <= n_rows / 10 else 1
        shape = n_features, n_levels, int(rng.integers(2, 6)), n_rows
        outcomes.append(Outcome(*shape, int(rng.integers(10**6)), bool(rng.integers(2))))
    assert np.mean([outcome.loss_ratio for outcome in outcomes]) <= 1.02
    assert np.mean([outcome.points_lost for outcome in outcomes]) <= 0.01
