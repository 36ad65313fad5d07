"""MCBoostClassifier: what a user may count on."""

import gc
import itertools
import pickle
import signal
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import pytest
from scipy.special import softmax
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split
from support import (
    BOTH_LOSSES,
    assert_same_ensemble,
    assert_same_model,
    embedded,
    random_problem,
)

import marginboost
from marginboost import MCBoostClassifier
from marginboost.coefficients.grid import on_grid
from marginboost.data.grouping import MOST_REPETITIONS
from marginboost.engine.native import NativeEngine
from marginboost.weak.stump import StumpLearner

DEPTHS = pytest.mark.parametrize("depth", [1, 2])


@pytest.fixture(scope="module")
def iris():
    return embedded("iris")


@pytest.fixture(scope="module")
def noisy():
    """Three classes that stumps do not tell apart, values shared by several rows."""
    X, y = random_problem(150, 4, 3, n_values=30)
    return X, np.where(np.random.default_rng(1).random(150) < 0.2, (y + 1) % 3, y)


# --- symmetries -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["iris", "wine", "digits", "breast_cancer"])
@DEPTHS
@BOTH_LOSSES
def test_permuting_the_classes_permutes_the_columns(name, depth, loss):
    X, y = embedded(name)
    new_name = np.random.default_rng(0).permutation(y.max() + 1)
    straight = MCBoostClassifier(30, loss=loss, max_depth=depth).fit(X, y)
    permuted = MCBoostClassifier(30, loss=loss, max_depth=depth).fit(X, new_name[y])
    np.testing.assert_array_equal(straight.ensemble_.feature, permuted.ensemble_.feature)
    np.testing.assert_array_equal(straight.ensemble_.threshold, permuted.ensemble_.threshold)
    np.testing.assert_array_equal(straight.coef_, permuted.coef_[:, new_name])


@pytest.mark.parametrize("max_bins", [None, 8])
@DEPTHS
@BOTH_LOSSES
def test_an_integer_weight_repeats_the_row(noisy, max_bins, depth, loss):
    X, y = noisy
    times = np.random.default_rng(2).integers(0, 4, len(y))
    model = MCBoostClassifier(40, loss=loss, max_depth=depth, max_bins=max_bins)
    weighted = clone(model).fit(X, y, sample_weight=times)
    repeated = clone(model).fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    assert_same_model(weighted, repeated)


@DEPTHS
@BOTH_LOSSES
def test_a_row_of_weight_zero_is_absent(noisy, depth, loss):
    X, y = noisy
    weight = np.random.default_rng(3).uniform(0.5, 2, len(y))
    weight[::3] = 0
    kept = weight > 0
    model = MCBoostClassifier(40, loss=loss, max_depth=depth)
    with_zeros = clone(model).fit(X, y, sample_weight=weight)
    without = clone(model).fit(X[kept], y[kept], sample_weight=weight[kept])
    assert_same_model(with_zeros, without)


@BOTH_LOSSES
def test_weights_of_one_are_no_weights(noisy, loss):
    model = MCBoostClassifier(30, loss=loss)
    assert_same_model(
        clone(model).fit(*noisy), clone(model).fit(*noisy, sample_weight=np.ones(len(noisy[1])))
    )


def test_a_class_of_weight_zero_is_never_predicted(noisy):
    X, y = noisy
    weight = (y != 1).astype(float)
    model = MCBoostClassifier(40).fit(X, y, sample_weight=weight)
    np.testing.assert_array_equal(model.classes_, [0, 1, 2])
    assert not (model.predict(X) == 1).any()
    assert np.isfinite(model.coef_).all()
    without = MCBoostClassifier(40).fit(X[y != 1], y[y != 1])
    assert model.score(X[y != 1], y[y != 1]) > without.score(X[y != 1], y[y != 1]) - 0.05


@pytest.mark.parametrize("factor", [0.3, 2.0**-70, 1e6])
def test_the_scale_of_weights_does_not_matter_for_the_exponential_loss(noisy, factor):
    X, y = noisy
    weight = np.random.default_rng(4).uniform(0.5, 2, len(y))
    model = MCBoostClassifier(40).fit(X, y, sample_weight=weight)
    scaled = MCBoostClassifier(40).fit(X, y, sample_weight=weight * factor)
    np.testing.assert_array_equal(model.ensemble_.feature, scaled.ensemble_.feature)
    np.testing.assert_array_equal(model.ensemble_.threshold, scaled.ensemble_.threshold)
    np.testing.assert_allclose(model.coef_, scaled.coef_, atol=1e-7)
    if factor == 2.0**-70:  # a power of two rounds nothing
        assert_same_model(model, scaled)


@DEPTHS
@BOTH_LOSSES
def test_large_integer_weights_are_close_to_repetition(noisy, depth, loss):
    """Beyond `MOST_REPETITIONS` in all they count as real numbers; the model is the same then."""
    X, y = noisy
    times = np.random.default_rng(5).integers(1, 4, len(y))
    small = MCBoostClassifier(20, loss="exponential", max_depth=depth)
    large = clone(small).fit(X, y, sample_weight=times * MOST_REPETITIONS)
    small.fit(X, y, sample_weight=times)
    np.testing.assert_allclose(small.coef_, large.coef_, atol=1e-6)


@BOTH_LOSSES
def test_class_weight_is_a_factor_on_the_rows(noisy, loss):
    X, y = noisy
    factors = {0: 0.5, 1: 2.25, 2: 1.0}
    by_class = MCBoostClassifier(30, loss=loss, class_weight=factors).fit(X, y)
    by_row = MCBoostClassifier(30, loss=loss).fit(
        X, y, sample_weight=np.array([factors[label] for label in y])
    )
    assert_same_model(by_class, by_row)


def test_balanced_class_weight(noisy):
    X, y = noisy
    rare = np.flatnonzero(y == 1)[9:]  # leaves nine rows of this class
    X, y = np.delete(X, rare, axis=0), np.delete(y, rare)
    balanced = MCBoostClassifier(30, class_weight="balanced").fit(X, y)
    factors = len(y) / (3 * np.bincount(y))
    by_row = MCBoostClassifier(30).fit(X, y, sample_weight=factors[y])
    assert_same_model(balanced, by_row)
    plain = MCBoostClassifier(30).fit(X, y)
    assert (balanced.predict(X) == 1).sum() > (plain.predict(X) == 1).sum()


def test_class_weight_and_repetition_together(noisy):
    X, y = noisy
    times = np.random.default_rng(6).integers(1, 4, len(y))
    model = MCBoostClassifier(30, class_weight={0: 0.7, 2: 1.9})
    assert_same_model(
        clone(model).fit(X, y, sample_weight=times),
        clone(model).fit(np.repeat(X, times, axis=0), np.repeat(y, times)),
        cover_rtol=1e-12,  # weights that are not whole, added up one by one
    )


# --- labels and inputs ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "labels",
    [
        np.array(["setosa", "versicolor", "virginica"]),
        np.array(["setosa", "versicolor", "virginica"], dtype=object),
        np.array([-7, 3, 1000]),
        np.array([0, 5, 200], dtype=np.uint8),
        np.array([0.0, 1.0, 4.0]),
    ],
    ids=["text", "objects", "gaps", "uint8", "floats"],
)
def test_labels_of_any_kind(iris, labels):
    X, y = iris
    plain = MCBoostClassifier(20).fit(X, y)
    named = MCBoostClassifier(20).fit(X, labels[y])
    np.testing.assert_array_equal(named.classes_, labels)
    np.testing.assert_array_equal(named.coef_, plain.coef_)
    np.testing.assert_array_equal(named.predict(X), labels[plain.predict(X)])
    assert named.predict(X).dtype == labels.dtype
    assert named.score(X, labels[y]) == plain.score(X, y)


def test_bool_labels():
    X, y = embedded("breast_cancer")
    model = MCBoostClassifier(20).fit(X, y == 1)
    np.testing.assert_array_equal(model.classes_, [False, True])
    np.testing.assert_array_equal(model.coef_, MCBoostClassifier(20).fit(X, y).coef_)
    assert model.predict(X).dtype == bool


@pytest.mark.parametrize("max_bins", [None, 5])
@pytest.mark.parametrize("depth", [1, 2])
def test_type_and_layout_of_X_do_not_matter(max_bins, depth):  # noqa: N802
    X, y = random_problem(120, 5, 3, n_values=50)
    plain = MCBoostClassifier(20, max_bins=max_bins, max_depth=depth).fit(X, y)
    strided = np.zeros((2 * X.shape[0], 3 * X.shape[1]))
    strided[::2, ::3] = X
    for other in (
        X.astype(np.float32), X.astype(np.int64), X.astype(np.int16), X.astype(np.uint8),
        X.astype(np.float16), np.asfortranarray(X), strided[::2, ::3], X.astype(">f8"),
        X.tolist(), pd.DataFrame(X), pd.DataFrame(X.astype(int)),
    ):  # fmt: skip
        model = MCBoostClassifier(20, max_bins=max_bins, max_depth=depth).fit(other, y)
        assert_same_model(plain, model)
        np.testing.assert_array_equal(model.decision_function(other), plain.decision_function(X))


def test_data_frame_names_are_kept_and_checked(iris):
    X, y = iris
    frame = pd.DataFrame(X, columns=["sepal length", "sepal width", "petal length", "petal width"])
    model = MCBoostClassifier(20).fit(frame, y)
    np.testing.assert_array_equal(model.feature_names_in_, frame.columns)
    np.testing.assert_array_equal(model.predict(frame), MCBoostClassifier(20).fit(X, y).predict(X))
    shuffled = frame[frame.columns[::-1]]
    np.testing.assert_array_equal(model.predict_proba(shuffled), model.predict_proba(frame))
    with pytest.raises(ValueError, match="unseen at fit time"):
        model.predict(frame.rename(columns={"sepal length": "length"}))


def test_fit_leaves_its_inputs_alone(noisy):
    X, y = (np.array(part) for part in noisy)
    weight = np.arange(len(y), dtype=np.float64)
    copies = X.copy(), y.copy(), weight.copy()
    for array in (X, y, weight):
        array.flags.writeable = False
    MCBoostClassifier(5).fit(X, y, sample_weight=weight)
    for array, copy in zip((X, y, weight), copies, strict=True):
        np.testing.assert_array_equal(array, copy)


# --- predictions ----------------------------------------------------------------------------------


@BOTH_LOSSES
@pytest.mark.parametrize("name", ["iris", "breast_cancer"])
def test_probabilities_follow_from_the_scores(name, loss):
    X, y = embedded(name)
    model = MCBoostClassifier(30, loss=loss).fit(X, y)
    F = model.ensemble_.decision_function(X)
    c = 2 if loss == "exponential" else 1
    np.testing.assert_allclose(model.predict_proba(X), softmax(c * F, axis=1), rtol=1e-12)
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)
    np.testing.assert_array_equal(
        model.classes_[model.predict_proba(X).argmax(axis=1)], model.predict(X)
    )
    shown = model.decision_function(X)
    expected = F[:, 1] - F[:, 0] if len(model.classes_) == 2 else F
    np.testing.assert_array_equal(shown, expected)


@BOTH_LOSSES
def test_probabilities_of_a_group_are_its_shares(loss):
    """Rows that look alike: the pairwise losses are least where softmax gives the shares."""
    X = np.repeat([0.0, 0.0, 0.0, 1.0, 1.0, 1.0], [60, 30, 10, 15, 35, 50])[:, None]
    y = np.repeat([0, 1, 2, 0, 1, 2], [60, 30, 10, 15, 35, 50])
    # One stump is odd around zero, so two columns give the constant that it lacks.
    X = np.hstack([X, np.zeros_like(X)])
    X = np.vstack([X, [[0, 1], [1, 1]]])
    y = np.append(y, [0, 0])
    weight = np.append(np.ones(200), [1e-9, 1e-9])
    model = MCBoostClassifier(400, loss=loss, learning_rate=1.0, regularization=0.0)
    model.fit(X, y, sample_weight=weight)
    found = model.predict_proba([[0, 0], [1, 0]])
    np.testing.assert_allclose(found, [[0.6, 0.3, 0.1], [0.15, 0.35, 0.5]], atol=0.02)


@BOTH_LOSSES
def test_probabilities_beat_the_class_shares(loss):
    X, y = embedded("wine")
    X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0, stratify=y)
    model = MCBoostClassifier(20, loss=loss).fit(X_train, y_train)
    dummy = DummyClassifier(strategy="prior").fit(X_train, y_train)
    assert log_loss(y_test, model.predict_proba(X_test)) < 0.5 * log_loss(
        y_test, dummy.predict_proba(X_test)
    )


@pytest.mark.parametrize("name", ["iris", "breast_cancer"])
@DEPTHS
def test_stages_end_in_the_model(name, depth):
    X, y = embedded(name)
    model = MCBoostClassifier(25, max_depth=depth).fit(X, y)
    scores = list(model.staged_decision_function(X))
    labels = list(model.staged_predict(X))
    assert len(scores) == len(labels) == model.n_iter_ == 25
    np.testing.assert_array_equal(scores[-1], model.decision_function(X))
    np.testing.assert_array_equal(labels[-1], model.predict(X))
    short = MCBoostClassifier(10, max_depth=depth).fit(X, y)
    np.testing.assert_array_equal(scores[9], short.decision_function(X))
    np.testing.assert_array_equal(labels[9], short.predict(X))
    np.testing.assert_array_equal(model.coef_[:10], short.coef_)
    assert not np.shares_memory(scores[0], scores[1])


@DEPTHS
def test_training_errors_count_margins_of_zero_or_less(noisy, depth):
    X, y = noisy
    model = MCBoostClassifier(30, max_depth=depth).fit(X, y)
    for error, F in zip(model.train_errors_, model.staged_decision_function(X), strict=True):
        rest = np.where(np.arange(3) == y[:, None], -np.inf, F).max(axis=1)
        assert error == np.mean(F[np.arange(len(y)), y] <= rest)


def test_feature_importances():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(250, 4))
    y = (X[:, 2] > 0).astype(int) + (X[:, 2] > 1) + (X[:, 0] > 1.5)
    X[:, 3] = 1.0
    for depth in (1, 3):
        model = MCBoostClassifier(30, max_depth=depth).fit(X, y)
        assert model.feature_importances_.shape == (4,)
        assert model.feature_importances_.sum() == pytest.approx(1)
        assert (model.feature_importances_ >= 0).all()
        assert model.feature_importances_.argmax() == 2
        assert model.feature_importances_[3] == 0
    stumps = MCBoostClassifier(30).fit(X, y)
    sizes = stumps.explain(X).importances()  # all rows are in the sample
    np.testing.assert_allclose(stumps.feature_importances_, sizes / sizes.sum(), rtol=1e-4)


# --- settings -------------------------------------------------------------------------------------


@BOTH_LOSSES
def test_learning_rate_shortens_the_first_step(noisy, loss):
    full = MCBoostClassifier(1, loss=loss, learning_rate=1.0).fit(*noisy)
    quarter = MCBoostClassifier(1, loss=loss, learning_rate=0.25).fit(*noisy)
    np.testing.assert_allclose(quarter.coef_, 0.25 * full.coef_, rtol=0, atol=2.0**-40)


@BOTH_LOSSES
def test_max_step_bounds_each_coefficient(noisy, loss):
    free = MCBoostClassifier(20, loss=loss).fit(*noisy)
    bound = on_grid(0.5 * free.coef_[0].max())
    bounded = MCBoostClassifier(20, loss=loss, max_step=bound).fit(*noisy)
    assert bounded.coef_.max() == bound
    np.testing.assert_array_equal(bounded.coef_[0], np.minimum(free.coef_[0], bound))
    assert_same_model(MCBoostClassifier(20, loss=loss, max_step=1e3).fit(*noisy), free)


@pytest.mark.parametrize("learning_rate", [0.5, 1.0])
@BOTH_LOSSES
def test_regularization_stops_the_fit(noisy, loss, learning_rate):
    X, y = noisy
    nu = 0.05 if loss == "exponential" else 10.0
    model = MCBoostClassifier(2000, loss=loss, learning_rate=learning_rate, regularization=nu)
    model.fit(X, y)
    # No stump has an edge above nu any more: g and the edges from the scores, in float64.
    F = model.decision_function(X)
    e = np.exp(F - F[np.arange(len(y)), y][:, None])
    own = np.arange(3) == y[:, None]
    u = np.where(own, 0, e / e.sum() if loss == "exponential" else e / (1 + e))
    g = np.where(own, u.sum(axis=1)[:, None], -u)
    edges = [
        np.abs(np.where(X[:, f] > t, 1, -1) @ g).max()
        for f in range(X.shape[1])
        for t in np.unique(X[:, f])[:-1]
    ]
    assert max(edges) <= nu + 1e-6 * u.sum()
    assert model.stop_reason_ == "no_violated_constraint"
    assert 0 < model.n_iter_ < 2000
    assert model.coef_.any(axis=1).all()  # a round that changes nothing is none


def test_n_estimators_ends_the_fit(noisy):
    model = MCBoostClassifier(7).fit(*noisy)
    assert model.n_iter_ == len(model.coef_) == len(model.train_errors_) == 7
    assert len(model.optimality_errors_) == 7
    assert model.stop_reason_ == "max_rounds"


@pytest.mark.parametrize("max_bins", [2, 3, 255])
def test_max_bins_limits_the_thresholds(max_bins):
    X, y = random_problem(2000, 3, 3)
    model = MCBoostClassifier(200, max_bins=max_bins).fit(X, y)
    for f in range(3):
        used = np.unique(model.ensemble_.threshold[model.ensemble_.feature == f])
        assert 1 <= len(used) < max_bins
    few = np.rint(X)
    exact = MCBoostClassifier(20).fit(few, y)
    assert_same_model(MCBoostClassifier(20, max_bins=255).fit(few, y), exact)


@pytest.mark.parametrize("n_jobs", [None, 1, 2, 5, -1])
def test_n_jobs_does_not_change_the_model(n_jobs):
    X, y = random_problem(5000, 8, 4)
    assert_same_model(
        MCBoostClassifier(10, n_jobs=1).fit(X, y), MCBoostClassifier(10, n_jobs=n_jobs).fit(X, y)
    )


# --- degenerate data ------------------------------------------------------------------------------


@pytest.mark.parametrize("engine", ["native", "reference"])
@DEPTHS
def test_constant_columns_warn_and_give_class_frequencies(engine, depth):
    X, y = np.full((30, 3), 2.5), np.arange(30) % 3
    model = MCBoostClassifier(engine=engine, max_depth=depth)
    with pytest.warns(UserWarning, match="constant"):
        model.fit(X, y)
    assert model.n_iter_ == 1
    assert model.stop_reason_ == "no_violated_constraint"
    np.testing.assert_array_equal(model.decision_function(X), np.zeros((30, 3)))
    np.testing.assert_allclose(model.predict_proba(X), 1 / 3)
    np.testing.assert_array_equal(model.feature_importances_, np.zeros(3))
    (staged,) = model.staged_predict(X)
    np.testing.assert_array_equal(staged, model.predict(X))


def test_two_rows_are_enough():
    model = MCBoostClassifier().fit([[0.0], [1.0]], ["a", "b"])
    np.testing.assert_array_equal(model.predict([[-1.0], [2.0]]), ["a", "b"])
    assert np.isfinite(model.coef_).all()


def test_values_at_the_ends_of_float64():
    big = np.finfo(np.float64).max
    X = np.array([[-big], [-1.0], [0.0], [5e-324], [1.0], [big]])
    model = MCBoostClassifier(50).fit(X, [0, 0, 1, 0, 1, 1])
    np.testing.assert_array_equal(model.predict(X), [0, 0, 1, 0, 1, 1])


# --- copies, threads, interrupts ------------------------------------------------------------------


@pytest.mark.parametrize("copy", ["pickle", "joblib"])
@DEPTHS
def test_a_copy_predicts_the_same(iris, copy, depth, tmp_path):
    X, y = iris
    model = MCBoostClassifier(15, max_depth=depth).fit(X, y)
    if copy == "pickle":
        loaded = pickle.loads(pickle.dumps(model))
    else:
        joblib.dump(model, tmp_path / "model")
        loaded = joblib.load(tmp_path / "model")
    assert_same_model(model, loaded)
    np.testing.assert_array_equal(model.predict_proba(X), loaded.predict_proba(X))


def test_clone_is_unfitted_with_equal_settings(iris):
    model = MCBoostClassifier(15, loss="logistic", max_depth=2, max_step=0.3).fit(*iris)
    copy = clone(model)
    assert copy.get_params() == model.get_params()
    assert not hasattr(copy, "coef_")
    assert_same_model(copy.fit(*iris), model)


def test_a_second_fit_forgets_the_first(iris, noisy):
    model = MCBoostClassifier(15).fit(*noisy).fit(*iris)
    assert_same_model(model, MCBoostClassifier(15).fit(*iris))


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_fits_in_several_threads_at_once(n_jobs):
    problems = [random_problem(3000, 6, k, seed=k) for k in (2, 3, 5, 9)]
    alone = [MCBoostClassifier(15, n_jobs=n_jobs).fit(X, y) for X, y in problems]
    with ThreadPoolExecutor(4) as pool:
        together = list(
            pool.map(lambda p: MCBoostClassifier(15, n_jobs=n_jobs).fit(*p), problems * 4)
        )
    for i, model in enumerate(together):
        assert_same_model(model, alone[i % 4])


def test_predictions_in_several_threads_at_once(iris):
    model = MCBoostClassifier(50, n_jobs=2).fit(*iris)
    X = np.tile(iris[0], (50, 1))
    expected = model.decision_function(X)
    with ThreadPoolExecutor(4) as pool:
        for F in pool.map(lambda _: model.decision_function(X), range(20)):
            np.testing.assert_array_equal(F, expected)


def test_an_interrupt_keeps_the_finished_rounds(noisy, monkeypatch):
    real = NativeEngine.load

    def load(self, data, weighting):
        real(self, data, weighting)
        search, calls = self.best_stump, iter(range(100))

        def best_stump(*criterion):
            if next(calls) == 6:
                raise KeyboardInterrupt
            return search(*criterion)

        self.best_stump = best_stump

    monkeypatch.setattr(NativeEngine, "load", load)
    model = MCBoostClassifier(50)
    with pytest.warns(UserWarning, match="keeps the 6 rounds"):
        model.fit(*noisy)
    monkeypatch.undo()
    assert model.stop_reason_ == "interrupted"
    assert model.n_iter_ == 6
    complete = MCBoostClassifier(6).fit(*noisy)
    assert_same_ensemble(model.ensemble_, complete.ensemble_)
    np.testing.assert_array_equal(model.predict(noisy[0]), complete.predict(noisy[0]))


def test_an_interrupt_before_the_first_round_is_passed_on(noisy, monkeypatch):
    def find(self, engine, criterion=0):
        raise KeyboardInterrupt

    monkeypatch.setattr(StumpLearner, "find", find)
    model = MCBoostClassifier(50)
    with pytest.raises(KeyboardInterrupt):
        model.fit(*noisy)
    assert not hasattr(model, "coef_")


@pytest.fixture
def ctrl_c_interrupts():
    """Python's usual handler: a program started in the background may have been told to ignore it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def no_gc_callbacks():
    """Hypothesis watches the garbage collector, and an interrupt inside of a callback is lost."""
    gc.disable()
    yield
    gc.enable()


def test_a_signal_ends_a_long_fit_early(noisy, no_gc_callbacks, ctrl_c_interrupts):
    """As Ctrl-C does: SIGINT in the main thread, at any moment of the fit."""
    assert threading.current_thread() is threading.main_thread()
    n_rounds = 500_000  # far more than there are before the signal comes
    is_under_way = threading.Event()

    def interrupt():
        is_under_way.wait()
        signal.raise_signal(signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    callbacks = [lambda finished: is_under_way.set() if finished.number >= 20 else None]
    model = MCBoostClassifier(n_rounds, learning_rate=1e-3, callbacks=callbacks)
    with pytest.warns(UserWarning, match="Interrupted"):
        model.fit(*noisy)
    thread.join()
    assert model.stop_reason_ == "interrupted"
    assert 0 < model.n_iter_ < n_rounds
    assert len(model.coef_) == len(model.train_errors_) == model.n_iter_
    assert np.isfinite(model.decision_function(noisy[0])).all()


@pytest.mark.filterwarnings("ignore:Interrupted")
def test_an_interrupt_at_any_line_leaves_a_sound_model(noisy):
    """KeyboardInterrupt may come between any two lines of the package's Python code."""
    package = str(Path(marginboost.__file__).parent)
    complete = MCBoostClassifier(3).fit(*noisy)
    kept = set()
    for at_line in itertools.count(1):
        lines = itertools.count(1)

        def trace(frame, event, _, lines=lines, at_line=at_line):
            if not frame.f_code.co_filename.startswith(package):
                return None
            if event == "line" and next(lines) == at_line:
                raise KeyboardInterrupt
            return trace

        model, outer = MCBoostClassifier(3), sys.gettrace()
        sys.settrace(trace)
        try:
            model.fit(*noisy)
        except KeyboardInterrupt:
            continue  # before the loop, in its first round, or after its last
        finally:
            sys.settrace(outer)
        n = model.n_iter_
        kept.add(n)
        assert len(model.coef_) == len(model.train_errors_) == n
        np.testing.assert_array_equal(model.coef_, complete.coef_[:n])
        np.testing.assert_array_equal(model.ensemble_.feature, complete.ensemble_.feature[:n])
        if model.stop_reason_ == "max_rounds":  # there are not so many lines
            break
    assert kept == {1, 2, 3}
