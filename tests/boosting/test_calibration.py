"""The scale of the probabilities: the best one on rows that were held out."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import logsumexp, softmax
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split
from support import BOTH_LOSSES, embedded

from marginboost import MarginBoostClassifier
from marginboost.boosting.calibration import best_scale
from marginboost.data.row_view import HeldOutRows

STEP = 2 ** (1 / 32)  # of the grid


# --- the scale ------------------------------------------------------------------------------------


def scale_of(F, y, weight=None, n_rows=np.inf):
    """Give e as an engine does: in bounds, and almost 0 for a row's own class."""
    e = np.clip(np.exp(F - F[np.arange(len(y)), y][:, None]), 2.0**-60, 2.0**60)
    e[np.arange(len(y)), y] = 2.0**-60
    weight = np.ones(len(y)) if weight is None else weight
    hashes = np.random.default_rng(0).integers(2**64, size=len(y), dtype=np.uint64)
    return best_scale(HeldOutRows(e.astype(np.float32), y, weight, np.ones(len(y), int), hashes), n_rows)


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

    best = minimize_scalar(loss, bounds=np.log([2**-14, 2**4]), method="bounded", options={"xatol": 1e-6})
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


# --- the rows -------------------------------------------------------------------------------------


<<<<<<< HEAD
=======
def held_out(X, y, seed=0, **settings):
    """How many copies of each row of X, in its own order."""
    data = training_set(X, y, **settings)
    share = calibration.held_out_share(data.n_counted, data.n_classes)
    seen = data.seen(RowView(seed, data.hash_bounds(seed, share)))
    copies = np.zeros(len(y), dtype=int)
    copies[seen.held_out_rows] = 1
    if seen.copies is not None:
        copies = seen.copies - seen.multiplicity
        np.testing.assert_array_equal(np.flatnonzero(copies), seen.held_out_rows)
    chosen = np.empty_like(copies)
    chosen[np.argsort(y, kind="stable")] = copies
    return chosen


def by_cell(X, y, chosen):
    """Sum over the copies of each row."""
    cells, place = np.unique(np.column_stack([X, y]), axis=0, return_inverse=True)
    return cells, np.bincount(place.ravel(), weights=chosen)


@pytest.mark.parametrize("k", [2, 5])
@pytest.mark.parametrize("seed", range(4))
def test_a_fifth_of_every_class(k, seed):
    X, y = noisy_problem(503, 4, k)
    chosen = held_out(X, y, seed)
    for c in range(k):
        assert chosen[y == c].sum() == np.count_nonzero(y == c) // 5
    assert (held_out(X, y, seed + 10) != chosen).any()


def test_the_order_of_rows_does_not_matter():
    X, y = noisy_problem(200, 3, 3, n_values=6)
    order = np.random.default_rng(0).permutation(200)
    _, ours = by_cell(X, y, held_out(X, y))
    _, theirs = by_cell(X[order], y[order], held_out(X[order], y[order]))
    np.testing.assert_array_equal(ours, theirs)
    np.testing.assert_array_equal(held_out(sparse.csr_array(X), y), held_out(X, y))


def test_without_copies_the_rows_are_those_of_small_hashes():
    X, y = noisy_problem(200, 3, 3)
    order = np.random.default_rng(0).permutation(200)
    np.testing.assert_array_equal(held_out(X[order], y[order]), held_out(X, y)[order])


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("n_values", [2, 5])
def test_the_copies_of_a_row_are_divided(seed, n_values):
    X, y = noisy_problem(2000, 2, 2, n_values=n_values)
    chosen = held_out(X, y, seed)
    for c in range(2):
        assert chosen[y == c].sum() == np.count_nonzero(y == c) // 5
    _, n_chosen = by_cell(X, y, chosen)
    _, n_copies = by_cell(X, y, np.ones(2000))
    assert n_copies.max() > 50
    assert (abs(n_chosen - 0.2 * n_copies) < 3).all()


@pytest.mark.parametrize("seed", range(5))
def test_an_integer_weight_repeats_the_row(seed):
    X, y = noisy_problem(150, 3, 3, n_values=9)
    times = np.random.default_rng(seed).integers(1, 5, 150)
    weighted = held_out(X, y, seed, weight=times)
    repeated = held_out(np.repeat(X, times, axis=0), np.repeat(y, times), seed)
    X_times, y_times = np.repeat(X, times, axis=0), np.repeat(y, times)
    np.testing.assert_array_equal(
        by_cell(X, y, weighted)[1], by_cell(X_times, y_times, repeated)[1]
    )
    assert weighted.sum() > 50
    assert ((weighted > 0) & (weighted < times)).any()


def test_classes_of_few_rows_lose_none():
    y = np.repeat([0, 1], [4, 50])
    X = np.arange(54.0)[:, None]
    chosen = held_out(X, y)
    assert not chosen[:4].any()
    assert chosen[4:].sum() == 10
    assert not held_out(X[:8], np.repeat([0, 1], 4)).any()


def test_a_class_without_rows():
    y = np.repeat([0, 2], 20)
    assert held_out(np.arange(40.0)[:, None], y, n_classes=4).sum() == 8


def test_no_more_rows_than_are_needed(monkeypatch):
    monkeypatch.setattr(calibration, "MOST_ROWS", 30)
    X, y = noisy_problem(600, 3, 3)
    assert 27 <= held_out(X, y).sum() <= 30
    times = np.full(600, 2)
    assert 27 <= held_out(X, y, weight=times).sum() <= 30


@pytest.mark.parametrize("kind", ["plain", "weights", "multiplicities"])
@pytest.mark.parametrize("exponent", [0, 3])
def test_what_a_fit_sees(kind, exponent):
    X, y = noisy_problem(60, 2, 3)
    rng = np.random.default_rng(0)
    weight = {"weights": rng.uniform(1, 2, 60), "multiplicities": rng.integers(1, 5, 60)}.get(kind)
    data = training_set(X, y, weight=weight)
    view = RowView(4, data.hash_bounds(4, 0.2), exponent)
    seen = data.seen(view)
    assert 5 < len(seen.held_out_rows) < 40
    gone = seen.held_out_rows
    of_row = np.ones(60) if weight is None else np.asarray(weight)[np.argsort(y, kind="stable")]
    if kind == "weights":
        of_row = of_row / of_row.mean()
    left = of_row.copy()
    if kind == "multiplicities":
        left = seen.multiplicity
        gone = np.flatnonzero(left == 0)
        assert 0 < len(gone) < len(seen.held_out_rows)
        assert of_row.sum() - left.sum() == np.floor(0.2 * data.class_counts).sum()
    assert (seen.weight[gone] == 0).all()
    kept = np.delete(np.arange(60), gone)
    np.testing.assert_allclose(
        data.class_mass_seen(view), np.bincount(y[np.argsort(y, kind="stable")][kept], left[kept])
    )
    plain = of_row if kind == "weights" else np.ones(60)
    np.testing.assert_allclose(seen.weight[kept], plain[kept] / 2**exponent, rtol=1e-6)
    everything = data.seen(RowView())
    assert not len(everything.held_out_rows)
    assert (everything.weight is None) == (kind != "weights")


>>>>>>> h_words
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
