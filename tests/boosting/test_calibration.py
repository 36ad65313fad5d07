"""The scale of the probabilities: the best one on rows that were held out."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import logsumexp, softmax
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split
from support import BOTH_LOSSES, embedded

from marginboost import MarginBoostClassifier, _native
from marginboost.boosting import calibration
from marginboost.boosting.calibration import best_calibration, best_step, logs_of
from marginboost.data.row_view import HeldOutRows

STEP = 2 ** (1 / 32)  # of the grid


# --- the scale ------------------------------------------------------------------------------------


def scale_of(F, y, weight=None, n_rows=np.inf):
    """Give e as an engine does: in bounds, and almost 0 for a row's own class."""
    e = np.clip(np.exp(F - F[np.arange(len(y)), y][:, None]), 2.0**-60, 2.0**60)
    e[np.arange(len(y)), y] = 2.0**-60
    weight = np.ones(len(y)) if weight is None else weight
    hashes = np.random.default_rng(0).integers(2**64, size=len(y), dtype=np.uint64)
    rows = HeldOutRows(e.astype(np.float32), y, weight, np.ones(len(y), int), hashes)
    return best_scale(rows, n_rows)


def best_scale(rows, n_rows=np.inf):
    """Beside frequencies that rule out all classes but one, any scale is good enough."""
    logs, labels, weight, _ = logs_of(rows)
    return best_calibration(logs, labels, weight, np.eye(rows.e.shape[1])[0], n_rows).scale


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("n", [5, 50, 5000])
def test_rows_that_are_all_right_leave_some_doubt(k, n):
    """With equal margins m the best p of the own class is 1 - 1 / (n + 2), as Platt has it."""
    y = np.arange(n) % k
    F = np.where(np.eye(k)[y] > 0, 1.0, -100.0)
    F[np.arange(n), (y + 1) % k] = 0.0  # one class comes second, the others nowhere
    assert scale_of(F, y) == 2.0**4
    found = scale_of(F, y, n_rows=n)
    assert 1 / (1 + np.exp(-found)) == pytest.approx(1 - 1 / (n + 2), abs=0.03 / n)


@pytest.mark.parametrize("k", [2, 3, 10])
@pytest.mark.parametrize("true_scale", [0.3, 0.7, 2.0, 9.0])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_scale_of_least_log_loss(k, true_scale, weighted):
    rng = np.random.default_rng(k)
    F = rng.normal(size=(500, k)) * min(4.0, 2 / true_scale)
    y = np.array([rng.choice(k, p=p) for p in softmax(true_scale * F, axis=1)])
    weight = rng.uniform(0, 3, 500) if weighted else np.ones(500)

    def loss(log_scale):
        scaled = np.exp(log_scale) * F
        return weight @ (logsumexp(scaled, axis=1) - scaled[np.arange(500), y])

    best = minimize_scalar(
        loss, bounds=np.log([2**-14, 2**4]), method="bounded", options={"xatol": 1e-6}
    )
    found = scale_of(F, y, weight)
    # Next to the best on either side, as the grid has it.
    assert abs(np.log(found) - best.x) < np.log(STEP) * 1.01
    assert loss(np.log(found)) <= loss(best.x) + 1e-3 * abs(loss(best.x))
    assert loss(np.log(found)) <= min(loss(np.log(found * STEP)), loss(np.log(found / STEP))) + 1e-3
    assert np.log2(found) * 32 == pytest.approx(round(np.log2(found) * 32), abs=1e-9)


def test_the_scale_stays_within_bounds():
    F, y = np.eye(3)[[0, 1, 2] * 10], np.array([0, 1, 2] * 10)
    assert scale_of(F, y) == 2.0**4  # all right: the surer the better
    assert scale_of(-F, y) == 2.0**-14  # all wrong
    assert scale_of(0 * F, y) == 2.0**-14  # nothing said
    assert scale_of(-500 * F, y) == 2.0**-14


def test_small_scales_leave_out_the_own_class():
    """However small the scale, a row's own class counts once in the sum."""
    F, y = np.repeat([[20.0, 0.0]], 100, axis=0), np.repeat([0, 1], [62, 38])
    # Shares of 62 and 38 in 100: log-odds of 0.49, where the scores have 20.
    assert scale_of(F, y) == pytest.approx(np.log(62 / 38) / 20, rel=0.03)


def test_a_row_of_no_weight_does_not_count():
    rng = np.random.default_rng(0)
    F, y = rng.normal(size=(60, 3)), rng.integers(0, 3, 60)
    F[np.arange(60), y] += 1
    some = scale_of(F[:40], y[:40])
    assert scale_of(F, y, np.where(np.arange(60) < 40, 1.0, 0.0)) == some
    assert 2**-14 < some < 2**4


def some_logs(seed, k=5, n=200):
    """F[i, r] - F[i, y_i] of scores that are right more often than not, and weights."""
    rng = np.random.default_rng(seed)
    F, y = rng.normal(size=(n, k)) * 10.0 ** rng.uniform(-2, 3), rng.integers(0, k, n)
    F[np.arange(n), y] += rng.uniform(0, 3) * F.std()
    return F - F[np.arange(n), y][:, None], rng.uniform(0, 2, n)


def test_the_slope_is_that_of_the_log_loss():
    logs, weight = some_logs(0)
    logs /= np.abs(logs).max()
    offset = np.random.default_rng(1).normal(size=logs.shape)
    for offsets in (None, offset):
        added = 0.0 if offsets is None else offsets

        def loss(scale, added=added):
            return weight @ logsumexp(scale * logs + added, axis=1)

        slope, curvature = _native.scale_slope(logs, weight, 0.7, offsets)
        h = 1e-4
        assert slope == pytest.approx((loss(0.7 + h) - loss(0.7 - h)) / (2 * h), rel=1e-6)
        second = (loss(0.7 + h) - 2 * loss(0.7) + loss(0.7 - h)) / h**2
        assert curvature == pytest.approx(second, rel=1e-3)
    with pytest.raises(ValueError, match="one entry per row"):
        _native.scale_slope(logs, weight[:-1], 1.0)
    with pytest.raises(ValueError, match="the shape of logs"):
        _native.scale_slope(logs, weight, 1.0, offset[:, :-1].copy())


@pytest.mark.parametrize("seed", range(30))
def test_wherever_the_search_starts_it_finds_the_best_step(seed, monkeypatch):
    logs, weight = some_logs(seed, k=2 + seed % 4)
    offset = None if seed % 3 else np.random.default_rng(seed).normal(size=logs.shape)
    steps = np.arange(calibration.LEAST_STEP, calibration.MOST_STEP + 1)
    added = 0.0 if offset is None else offset
    losses = [
        weight @ logsumexp(calibration.scale_of(int(step)) * logs + added, axis=1) for step in steps
    ]
    best = best_step(logs, weight, offset=offset)
    assert losses[best - steps[0]] <= min(losses) * (1 + 1e-12)
    for near in (steps[0], best - 40, best - 1, best, best + 1, best + 40, steps[-1]):
        assert best_step(logs, weight, offset=offset, near=int(near)) == best
    monkeypatch.setattr(calibration, "MOST_NEWTON", 0)  # by halves only
    assert best_step(logs, weight, offset=offset) == best


def test_a_few_tries_find_the_best_step(monkeypatch):
    tries = []
    plain = _native.scale_slope
    monkeypatch.setattr(
        calibration._native, "scale_slope", lambda *args: tries.append(1) or plain(*args)
    )
    for seed in range(20):
        logs, weight = some_logs(seed)
        best_step(logs, weight, 100.0)
    assert len(tries) < 20 * 8  # halves would take ten


# --- the rows -------------------------------------------------------------------------------------


def test_the_order_of_held_out_rows_does_not_matter():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 50)
    rows = HeldOutRows(
        rng.uniform(0.1, 3, (50, 3)).astype(np.float32), y, rng.uniform(0, 2, 50),
        rng.integers(1, 4, 50), rng.integers(2**64, size=50, dtype=np.uint64),
    )  # fmt: skip
    order = rng.permutation(50)
    shuffled = HeldOutRows(*(values[order] for values in rows))
    times = np.repeat(np.arange(50), rows.copies)
    repeated = HeldOutRows(*(values[times] for values in rows))
    repeated = repeated._replace(copies=np.ones(len(times), dtype=int))
    for other in (shuffled, repeated):
        for ours, theirs in zip(rows.in_order(), other.in_order(), strict=True):
            np.testing.assert_array_equal(ours, theirs)
    assert best_scale(repeated) == best_scale(rows)


# --- what it is good for --------------------------------------------------------------------------


@BOTH_LOSSES
def test_probabilities_get_better_on_rows_not_seen(loss):
    X, y = embedded("digits")
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, random_state=0)
    settings = {"n_estimators": 25, "loss": loss, "random_state": 0, "learning_rate": 0.3}
    plain = MarginBoostClassifier(calibrate=False, **settings).fit(X_train, y_train)
    model = MarginBoostClassifier(**settings).fit(X_train, y_train)
    np.testing.assert_array_equal(model.decision_function(X_test), plain.decision_function(X_test))
    assert plain.probability_scale_ == (2.0 if loss == "exponential" else 1.0)
    F = model.decision_function(X_test)
    np.testing.assert_allclose(
        model.predict_proba(X_test), softmax(model.probability_scale_ * F, axis=1)
    )
    losses = {
        scale: log_loss(y_test, softmax(scale * F, axis=1))
        for scale in (plain.probability_scale_, model.probability_scale_)
    }
    if loss == "exponential":  # the logistic loss's own scale is near the best one
        assert losses[model.probability_scale_] < losses[plain.probability_scale_]
    # And not far from what the test rows themselves would have chosen.
    best = min(log_loss(y_test, softmax(s * F, axis=1)) for s in 2 ** np.linspace(-3, 4, 60))
    assert losses[model.probability_scale_] < best * 1.4
