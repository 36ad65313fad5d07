"""Going on with a fitted model: the bits of one long fit."""

import numpy as np
import pytest
from cuda_on_host import named_device
from scipy import sparse
from sklearn.base import clone
from support import assert_same_model, embedded, noisy_problem

from marginboost import (
    AdaBoostECCClassifier,
    AdaBoostMHClassifier,
    AdaBoostMOClassifier,
    AdaBoostSIPClassifier,
    GradBoostClassifier,
    JointBoostClassifier,
    MarginBoostClassifier,
    MCBoostClassifier,
    MultiBoostClassifier,
    SAMMEClassifier,
)
from marginboost.backends import choose

CURVES = ("train_errors_", "train_losses_", "validation_errors_", "validation_losses_")


def same(ours, theirs):
    """Compare two models, and their curves."""
    assert_same_model(ours, theirs)
    for name in CURVES:
        np.testing.assert_array_equal(getattr(ours, name), getattr(theirs, name), err_msg=name)
    assert ours.validation_score_ == theirs.validation_score_ or np.isnan(theirs.validation_score_)
    assert len(ours.fit_seconds_) == len(theirs.fit_seconds_)
    assert (np.diff(ours.fit_seconds_) > 0).all()


@pytest.fixture(scope="module")
def noisy():
    return noisy_problem(200, 4, 4, n_values=25)


ALL = [
    MarginBoostClassifier(random_state=3, max_leaf_nodes=7),
    MarginBoostClassifier(random_state=3, loss="logistic", calibrate=False, max_features=1.0),
    MarginBoostClassifier(random_state=3, subsample=1.0, max_depth=2, engine="reference"),
    MCBoostClassifier(),
    MCBoostClassifier(loss="logistic", max_depth=2, max_bins=8),
    AdaBoostMHClassifier(),
    AdaBoostECCClassifier(random_state=3),
    AdaBoostECCClassifier(random_state=3, code="max-cut", max_depth=2),
    AdaBoostSIPClassifier(),
    GradBoostClassifier(max_depth=2),
    AdaBoostMOClassifier(max_depth=2, learning_rate=0.5),
    JointBoostClassifier(),
    JointBoostClassifier(max_depth=2),
]


@pytest.mark.parametrize("model", ALL, ids=str)
@pytest.mark.parametrize("validated", [False, True])
def test_some_rounds_and_some_more_are_as_good_as_all_at_once(noisy, model, validated):
    X, y = noisy
    more = {"X_val": X[::3] + 0.01, "y_val": y[::3]} if validated else {}
    long = type(model)(**model.get_params()).set_params(n_estimators=11).fit(X, y, **more)
    model = type(model)(**model.get_params()).set_params(n_estimators=4, warm_start=True)
    for n_rounds in (4, 5, 11):
        model.set_params(n_estimators=n_rounds).fit(X, y, **more)
        assert model.n_iter_ == n_rounds
    same(model, long)


@pytest.mark.parametrize("make", [MarginBoostClassifier, MCBoostClassifier])
def test_rows_that_are_held_out_are_the_same_ones(make):
    X, y = embedded("digits")
    X, y = X[:500], y[:500]
    settings = {"early_stopping": True, "n_iter_no_change": 5}
    settings |= {"random_state": 0} if make is MarginBoostClassifier else {}
    long = make(60, **settings).fit(X, y)
    model = make(2, warm_start=True, **settings).fit(X, y)
    assert model.set_params(n_estimators=60).fit(X, y).n_iter_ > 5
    same(model, long)
    assert model.stop_reason_ == "early_stopping"


def test_random_states_that_differ_at_every_fit(noisy):
    """What is drawn goes on from the first fit, whatever the state has become."""
    long = MarginBoostClassifier(9, random_state=np.random.RandomState(5), calibrate=False).fit(
        *noisy
    )
    model = MarginBoostClassifier(
        4, random_state=np.random.RandomState(5), calibrate=False, warm_start=True
    ).fit(*noisy)
    same(model.set_params(n_estimators=9).fit(*noisy), long)
    seed = model.seed_
    assert model.set_params(warm_start=False).fit(*noisy).seed_ != seed


def test_sparse_rows(noisy):
    X, y = sparse.csr_array(np.where(noisy[0] > 0.3, noisy[0], 0.0)), noisy[1]
    model = MarginBoostClassifier(4, random_state=0, warm_start=True).fit(X, y)
    long = MarginBoostClassifier(9, random_state=0).fit(X, y)
    same(model.set_params(n_estimators=9).fit(X, y), long)


def test_many_classes_share_lanes():
    """The signs of classes that share a lane are drawn as well."""
    X, y = noisy_problem(600, 4, 40)
    model = MarginBoostClassifier(3, random_state=0, warm_start=True, calibrate=False).fit(X, y)
    long = MarginBoostClassifier(6, random_state=0, calibrate=False).fit(X, y)
    same(model.set_params(n_estimators=6).fit(X, y), long)


def test_after_an_interrupt_and_after_max_time(noisy):
    def interrupt(finished):
        if finished.number == 5:
            raise KeyboardInterrupt

    long = MCBoostClassifier(12).fit(*noisy)
    model = MCBoostClassifier(12, warm_start=True, callbacks=[interrupt])
    with pytest.warns(UserWarning, match="keeps the 5 rounds"):
        model.fit(*noisy)
    model.set_params(callbacks=None, max_time=1e-9).fit(*noisy)
    assert (model.n_iter_, model.stop_reason_) == (6, "max_time")
    same(model.set_params(max_time=None).fit(*noisy), long)


def test_settings_may_change(noisy):
    model = MCBoostClassifier(5, warm_start=True).fit(*noisy)
    first = model.coef_.copy()
    model.set_params(n_estimators=9, learning_rate=0.1).fit(*noisy)
    np.testing.assert_array_equal(model.coef_[:5], first)
    assert model.n_iter_ == 9


@pytest.mark.parametrize("make", [MultiBoostClassifier, SAMMEClassifier])
def test_what_cannot_be_gone_on_with(noisy, make):
    model = make(3, warm_start=True).fit(*noisy)
    with pytest.raises(ValueError, match=r"cannot resume a fitted model: .* Set warm_start=False"):
        model.fit(*noisy)


def test_what_does_not_fit_the_model(noisy):
    X, y = noisy
    model = MCBoostClassifier(3, warm_start=True).fit(X, y)
    with pytest.raises(ValueError, match="n_estimators must be at least 3, the rounds"):
        model.set_params(n_estimators=2).fit(X, y)
    model.set_params(n_estimators=5)
    with pytest.raises(ValueError, match="classes of the fit that warm_start resumes"):
        model.fit(X, y + 1)
    model = MCBoostClassifier(5, warm_start=True).fit(X, y).set_params(n_estimators=6)
    with pytest.raises(ValueError, match="the 4 columns of the fit that warm_start"):
        model.fit(X[:, :3], y)
    model = MCBoostClassifier(5, warm_start=True).fit(X, y).set_params(n_estimators=6)
    with pytest.raises(ValueError, match=r"no threshold at .* the same rows and max_bins"):
        model.fit(X * 1.01, y)


def test_no_round_more(noisy):
    model = MCBoostClassifier(3, warm_start=True).fit(*noisy)
    with pytest.warns(UserWarning, match="adds no round"):
        model.fit(*noisy)
    same(model, MCBoostClassifier(3).fit(*noisy))


# --- elsewhere ------------------------------------------------------------------------------------

ELSEWHERE = pytest.mark.parametrize(
    "model",
    [
        MarginBoostClassifier(random_state=0, max_leaf_nodes=6),
        MCBoostClassifier(),
        JointBoostClassifier(),
    ],
    ids=str,
)


@pytest.mark.parametrize("device", ["emulated", "cuda"])
@ELSEWHERE
def test_on_a_gpu(monkeypatch, noisy, device, model):
    there = named_device(device)
    monkeypatch.setattr(choose, "cuda_device", lambda: there)
    long = clone(model).set_params(n_estimators=5).fit(*noisy)
    model = clone(model).set_params(n_estimators=3, warm_start=True, device="cuda").fit(*noisy)
    same(model.set_params(n_estimators=5).fit(*noisy), long)


@pytest.mark.filterwarnings("ignore:Sending large graph:UserWarning")
@ELSEWHERE
def test_on_a_cluster(client, noisy, model):
    da = pytest.importorskip("dask.array")
    rows = [da.from_array(values, chunks=((70, 130), *values.shape[1:])) for values in noisy]
    long = clone(model).set_params(n_estimators=5).fit(*noisy)
    # Begun here and gone on with there.
    model = clone(model).set_params(n_estimators=3, warm_start=True).fit(*noisy)
    same(model.set_params(n_estimators=5).fit(*rows), long)
