"""What the tuner takes: weights, labels, groups, and what it refuses."""

import numpy as np
import pytest
from sklearn.base import clone
from support import noisy_problem
from tuner_support import SETTINGS, tuner

from marginboost import MarginBoostClassifier
from marginboost.estimators import marginboost_cv as module
from marginboost.estimators.portfolio import portfolio


@pytest.fixture(autouse=True)
def few_settings(monkeypatch):
    monkeypatch.setattr(module, "portfolio", lambda *_: SETTINGS)


def test_weights_count_rows():
    X, y = noisy_problem(150, 4, 3)
    weight = np.random.default_rng(0).integers(0, 3, 150)
    every = np.repeat(np.arange(150), weight)
    cv = [
        (np.flatnonzero(np.arange(150) % 3 != n), np.flatnonzero(np.arange(150) % 3 == n))
        for n in range(3)
    ]
    repeated = [tuple(np.flatnonzero(np.isin(every, part)) for part in pair) for pair in cv]
    weighted = tuner(cv=cv).fit(X, y, sample_weight=weight)
    plain = tuner(cv=repeated).fit(X[every], y[every])
    np.testing.assert_array_equal(weighted.decision_function(X), plain.decision_function(X))
    assert weighted.oof_error_ == pytest.approx(plain.oof_error_, rel=1e-12)
    assert weighted.oof_loss_ == pytest.approx(plain.oof_loss_, rel=1e-12)
    np.testing.assert_array_equal(weighted.class_count_, plain.class_count_)


def test_class_weights_are_those_of_all_rows():
    X, y = noisy_problem(160, 4, 3)
    labels = np.array(["x", "y", "z"])[y]
    counts = np.bincount(y)
    balanced = tuner(class_weight="balanced").fit(X, labels)
    factors = dict(zip("xyz", 160 / (3 * counts), strict=True))
    given = tuner(class_weight=factors).fit(X, labels)
    np.testing.assert_array_equal(balanced.decision_function(X), given.decision_function(X))
    ignored = tuner(class_weight={"x": 0.0}).fit(X, labels)
    assert ignored.classes_.tolist() == ["x", "y", "z"]
    assert "x" not in ignored.predict(X)
    assert ignored.class_count_.tolist() == [0, *counts[1:]]


@pytest.mark.parametrize("labels", [
    np.array(["no", "yes"], dtype=object), np.array([False, True]), np.array([-3, 10**12]),
    np.array([0.5, 2.5]).astype(str),
])  # fmt: skip
def test_labels_of_any_kind(labels):
    X, y = noisy_problem(100, 4, 2)
    model = tuner(cv=2).fit(X, labels[y])
    assert set(model.predict(X)) <= set(labels)
    assert model.classes_.tolist() == labels.tolist()


def test_groups_reach_the_splits(monkeypatch):
    X, y = noisy_problem(150, 4, 3)
    groups = np.arange(150) % 10
    found, real = [], module.make_folds
    monkeypatch.setattr(module, "make_folds", lambda *a, **k: found.extend(real(*a, **k)) or found)
    tuner().fit(X, y, groups=groups)
    for fold in found:
        assert not set(groups[fold.train]) & set(groups[fold.test])
    with pytest.raises(ValueError, match="groups must have one entry per row, 150; got 10"):
        tuner().fit(X, y, groups=groups[:10])


def test_a_class_with_a_single_row():
    X, y = noisy_problem(90, 4, 3)
    y = np.where(np.arange(90) == 17, 3, y)
    with pytest.warns(UserWarning, match="fewer rows than there are folds"):
        model = tuner().fit(X, y)
    assert model.classes_.tolist() == [0, 1, 2, 3]
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)


@pytest.mark.parametrize(("settings", "message"), [
    ({"time_limit": 0}, "time_limit must be a finite number above 0"),
    ({"time_limit": None}, "time_limit must be"),
    ({"cv": 1}, "cv must be an integer of at least 2"),
    ({"cv": 20}, "at least as many rows as there are folds, 20"),
    ({"n_jobs": 0}, "n_jobs must be"),
    ({"engine": "steam"}, "engine must be"),
    ({"device": "tpu"}, "device must be"),
    ({"class_weight": "even"}, "class_weight must be"),
    ({"verbose": -1}, "verbose must be"),
])  # fmt: skip
def test_errors_say_what_must_hold(settings, message):
    X, y = noisy_problem(40, 4, 3)
    model = tuner(**settings)
    with pytest.raises(ValueError, match=message):
        model.fit(X, y)
    assert not hasattr(model, "n_features_in_")


def test_collections_are_refused():
    array = pytest.importorskip("dask.array")
    X, y = noisy_problem(40, 4, 3)
    with pytest.raises(ValueError, match="X must be in memory"):
        tuner().fit(array.from_array(X), y)


@pytest.mark.parametrize("n_columns", [8, 9])
@pytest.mark.parametrize("n_rows", [50, 5_000, 10**6])
def test_the_portfolio_begins_with_what_the_defaults_choose_from(n_rows, n_columns):
    found = portfolio(n_rows, n_columns)
    assert 12 <= len(found) <= 20
    assert len({one.name for one in found}) == len(found)
    assert len({one[1:] for one in found}) == len(found)
    for one, name in zip(found, ("margin", "large", "small"), strict=False):
        settings = MarginBoostClassifier()._settings(name, n_rows, n_columns)
        assert {part: getattr(one, part) for part in settings._fields} == settings._asdict()
    for one in found:
        clone(MarginBoostClassifier(**one.parameters))._check_parameters()
