"""MarginBoostClassifier in use: inputs, predictions, copies, interrupts, progress."""

import gc
import io
import itertools
import pickle
import signal
import sys
import threading
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.special import softmax
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from support import (
    assert_same_ensemble,
    embedded,
    most_traced_bytes,
    noisy_problem,
    random_problem,
)
from support import assert_same_margin_boost as assert_same
from support import small_margin_boost as small

import marginboost
from marginboost.boosting import second_fit as module
from marginboost.engine import NativeTreeEngine


@pytest.fixture(scope="module")
def iris():
    return embedded("iris")


@pytest.fixture(scope="module")
def noisy():
    return noisy_problem(150, 4, 3, n_values=30)


# --- labels and inputs ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "labels",
    [
        np.array(["setosa", "versicolor", "virginica"]),
        np.array(["setosa", "versicolor", "virginica"], dtype=object),
        np.array([-7, 3, 1000]),
        np.array([0.0, 1.0, 4.0]),
    ],
    ids=["text", "objects", "gaps", "floats"],
)
def test_labels_of_any_kind(iris, labels):
    X, y = iris
    plain, named = small().fit(X, y), small().fit(X, labels[y])
    np.testing.assert_array_equal(named.classes_, labels)
    assert_same_ensemble(named.ensemble_, plain.ensemble_)
    np.testing.assert_array_equal(named.predict(X), labels[plain.predict(X)])
    assert named.predict(X).dtype == labels.dtype


def test_two_classes():
    X, y = embedded("breast_cancer")
    model = small(30).fit(X[::2], y[::2] == 1)
    np.testing.assert_array_equal(model.classes_, [False, True])
    assert model.score(X[1::2], y[1::2] == 1) > 0.93
    F = model.ensemble_.decision_function(X)
    np.testing.assert_array_equal(model.decision_function(X), F[:, 1] - F[:, 0])
    np.testing.assert_array_equal(model.predict(X), model.decision_function(X) > 0)
    np.testing.assert_allclose(model.predict_proba(X), softmax(model.probability_scale_ * F, axis=1))


def test_one_feature():
    X = np.linspace(0, 1, 90)[:, None]
    y = np.repeat([0, 1, 0], 30)
    model = small(30).fit(X, y)
    assert model.score(X, y) == 1
    np.testing.assert_array_equal(model.feature_importances_, [1.0])


def test_more_classes_than_rows_in_each():
    X, y = random_problem(80, 3, 40)
    model = small(min_samples_leaf=1).fit(X, y)
    assert model.predict_proba(X).shape == (80, 40)
    assert np.isfinite(model.predict_proba(X)).all()


def test_type_and_layout_of_X_do_not_matter():  # noqa: N802
    X, y = random_problem(120, 5, 3, n_values=50)
    plain = small().fit(X, y)
    strided = np.zeros((2 * X.shape[0], 3 * X.shape[1]))
    strided[::2, ::3] = X
    for other in (
        X.astype(np.float32), X.astype(np.int8), X.astype(np.int64), X.astype(np.float16),
        np.asfortranarray(X), strided[::2, ::3], X.astype(">f8"), X.tolist(), pd.DataFrame(X),
    ):  # fmt: skip
        model = small().fit(other, y)
        assert_same(plain, model)
        np.testing.assert_array_equal(model.decision_function(other), plain.decision_function(X))


def test_data_frame_names_are_kept_and_checked(iris):
    X, y = iris
    frame = pd.DataFrame(X, columns=["sepal length", "sepal width", "petal length", "petal width"])
    model = small().fit(frame, y)
    np.testing.assert_array_equal(model.feature_names_in_, frame.columns)
    shuffled = frame[frame.columns[::-1]]
    np.testing.assert_array_equal(model.predict_proba(shuffled), model.predict_proba(frame))


def test_a_fit_ends_where_rounding_is_all_there_is_to_learn():
    """Weights have a least value; trees that go on fitting it would undo what was learned."""
    X, y = embedded("wine")
    model = small(600, learning_rate=1.0, calibrate=False).fit(X[::2], y[::2])
    assert model.stop_reason_ == "no_violated_constraint"
    assert model.n_iter_ < 300
    assert model.train_errors_[-1] == 0
    margins = np.sort(model.decision_function(X[::2]), axis=1)
    assert 25 < np.median(margins[:, -1] - margins[:, -2]) < 60  # of the order of 60 log(2)
    errors = [np.mean(stage != y) for stage in model.staged_predict(X)]
    assert errors[-1] <= errors[len(errors) // 4] + 0.01


def test_fit_leaves_its_inputs_alone(noisy):
    X, y = (np.array(part) for part in noisy)
    weight = np.arange(len(y), dtype=np.float64) + 0.5
    copies = X.copy(), y.copy(), weight.copy()
    for array in (X, y, weight):
        array.flags.writeable = False
    small().fit(X, y, sample_weight=weight)
    for array, copy in zip((X, y, weight), copies, strict=True):
        np.testing.assert_array_equal(array, copy)


@pytest.mark.parametrize("engine", ["native", "reference"])
def test_constant_columns_warn_and_give_class_frequencies(engine):
    X, y = np.full((30, 3), 2.5), np.arange(30) % 3
    with pytest.warns(UserWarning, match="constant"):
        model = small(engine=engine).fit(X, y)
    assert model.n_iter_ == 1
    assert model.stop_reason_ == "no_violated_constraint"
    np.testing.assert_array_equal(model.decision_function(X), np.zeros((30, 3)))
    np.testing.assert_allclose(model.predict_proba(X), 1 / 3)
    np.testing.assert_array_equal(model.feature_importances_, np.zeros(3))
    (staged,) = model.staged_predict(X)
    np.testing.assert_array_equal(staged, model.predict(X))


# --- sparse input ---------------------------------------------------------------------------------


SPARSE = [sparse.csr_array, sparse.csc_array, sparse.csr_matrix]


@pytest.fixture(scope="module")
def counts():
    X, y = noisy_problem(200, 8, 3, n_values=6)
    X[np.random.default_rng(0).random(X.shape) < 0.8] = 0.0
    return X, y


@pytest.mark.parametrize("form", SPARSE)
@pytest.mark.parametrize("n_jobs", [1, 3])
def test_sparse_input_gives_the_model_of_dense_input(form, n_jobs, counts):
    X, y = counts
    weight = np.random.default_rng(1).uniform(0, 2, len(y))
    assert_same(
        small(n_jobs=n_jobs).fit(form(X), y, sample_weight=weight),
        small().fit(X, y, sample_weight=weight),
    )


@pytest.mark.parametrize("form", SPARSE)
def test_predictions_for_sparse_rows(form, counts):
    X, y = counts
    model = small().fit(form(X), y)
    np.testing.assert_array_equal(model.decision_function(form(X)), model.decision_function(X))
    np.testing.assert_array_equal(model.predict_proba(form(X)), model.predict_proba(X))
    np.testing.assert_array_equal(
        list(model.staged_predict(form(X))), list(model.staged_predict(X))
    )


def test_memory_of_sparse_input_goes_with_its_entries(monkeypatch):
    n = 3000
    X = sparse.csr_array((np.ones(n), (np.arange(n), 100 * (np.arange(n) % 30))), (n, 200_000))
    monkeypatch.setattr("marginboost.data.memory.available_bytes", lambda: 1 << 28)
    model = small(2, max_features=1.0).fit(X, np.arange(n) % 3)  # dense bins: 600 MB
    assert model.n_iter_ == 2


def test_too_little_memory(monkeypatch, iris):
    monkeypatch.setattr("marginboost.data.memory.available_bytes", lambda: 1000)
    says = r"needs about .* MiB .*\(150 rows, 4 features, 3 classes\).* MiB is available"
    with pytest.raises(ValueError, match=says):
        small().fit(*iris)


@pytest.mark.filterwarnings("ignore:The number of unique classes")
def test_a_class_a_row_is_refused_before_anything_large_is_made():
    n = 200_000
    with most_traced_bytes(200 * n), pytest.raises(
        ValueError, match=r"needs about [\d,]+\.\d GiB .*200,000 classes"
    ):
        small().fit(np.arange(n)[:, None], np.arange(n))


# --- predictions and copies -----------------------------------------------------------------------


@pytest.mark.parametrize("name", ["iris", "breast_cancer"])
def test_stages_end_in_the_model(name):
    X, y = embedded(name)
    model = small(12).fit(X, y)
    scores, labels = list(model.staged_decision_function(X)), list(model.staged_predict(X))
    assert len(scores) == len(labels) == model.n_iter_ == len(model.train_errors_) == 12
    np.testing.assert_array_equal(scores[-1], model.decision_function(X))
    np.testing.assert_array_equal(labels[-1], model.predict(X))
    short = small(5).fit(X, y)
    np.testing.assert_array_equal(scores[4], short.decision_function(X))
    np.testing.assert_array_equal(labels[4], short.predict(X))


def test_training_errors_count_margins_of_zero_or_less(noisy):
    X, y = noisy
    model = small(12).fit(X, y)
    for error, F in zip(model.train_errors_, model.staged_decision_function(X), strict=True):
        rest = np.where(np.arange(3) == y[:, None], -np.inf, F).max(axis=1)
        assert error == np.mean(F[np.arange(len(y)), y] <= rest)


def test_a_copy_predicts_the_same(iris):
    X, y = iris
    model = small().fit(X, y)
    loaded = pickle.loads(pickle.dumps(model))
    assert_same(model, loaded)
    np.testing.assert_array_equal(model.predict_proba(X), loaded.predict_proba(X))
    copy = clone(model)
    assert copy.get_params() == model.get_params()
    assert not hasattr(copy, "ensemble_")
    assert_same(copy.fit(X, y), model)
    # Nothing as long as the data stays behind.
    assert max(np.size(value) for value in vars(model).values()) < len(y)


def test_a_second_fit_forgets_the_first(iris, noisy):
    assert_same(small().fit(*noisy).fit(*iris), small().fit(*iris))
    twice = small().fit(*noisy)
    twice.set_params(calibrate=False).fit(*noisy)
    assert twice.probability_scale_ == 2.0


@pytest.mark.parametrize("method", ["predict", "predict_proba", "decision_function", "staged_predict"])
def test_prediction_checks_its_input(method, iris):
    X, y = iris
    model = small(3)
    with pytest.raises(NotFittedError):
        list(getattr(model, method)(X))
    model.fit(X, y)
    with pytest.raises(ValueError, match=r"X has 2 features, but .* expecting 4"):
        list(getattr(model, method)(X[:, :2]))
    with pytest.raises(ValueError, match="Complex"):
        list(getattr(model, method)(X * 1j))


def test_progress(noisy, monkeypatch, capfd):
    small(30).fit(*noisy)
    assert capfd.readouterr() == ("", "")
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    small(30, verbose=1).fit(*noisy)
    assert stream.getvalue().splitlines()[-1].endswith("[max_rounds]")


# --- interrupts -----------------------------------------------------------------------------------


def interrupt_at(monkeypatch, call):
    """Raise KeyboardInterrupt at a given call of grow_tree in the main thread, through all fits."""
    real, calls = NativeTreeEngine.grow_tree, itertools.count(1)

    def grow_tree(self, *arguments):
        if threading.current_thread() is threading.main_thread() and next(calls) == call:
            raise KeyboardInterrupt
        return real(self, *arguments)

    monkeypatch.setattr(NativeTreeEngine, "grow_tree", grow_tree)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_an_interrupt_keeps_the_finished_rounds(noisy, monkeypatch, n_jobs):
    interrupt_at(monkeypatch, 7)
    model, threads = small(50, n_jobs=n_jobs), threading.active_count()
    with pytest.warns(UserWarning, match="keeps the 6 rounds"):
        model.fit(*noisy)
    assert threading.active_count() == threads  # the second fit has ended as well
    monkeypatch.undo()
    assert model.stop_reason_ == "interrupted"
    assert model.n_iter_ == len(model.train_errors_) == 6
    complete = small(6, calibrate=False).fit(*noisy)
    assert_same_ensemble(model.ensemble_, complete.ensemble_)
    np.testing.assert_array_equal(model.predict_proba(noisy[0]), complete.predict_proba(noisy[0]))


def test_an_interrupt_before_the_first_round_is_passed_on(noisy, monkeypatch):
    interrupt_at(monkeypatch, 1)
    model, threads = small(50), threading.active_count()
    with pytest.raises(KeyboardInterrupt):
        model.fit(*noisy)
    assert threading.active_count() == threads
    assert not hasattr(model, "ensemble_")
    monkeypatch.undo()
    assert_same(model.fit(*noisy), small(50).fit(*noisy))


@pytest.mark.parametrize("call", [9, 12])
def test_an_interrupt_of_the_calibration_keeps_the_model(noisy, monkeypatch, call):
    interrupt_at(monkeypatch, call)
    model = small(8, n_jobs=1)  # one fit after the other
    with pytest.warns(UserWarning, match="keeps the 8 rounds"):
        model.fit(*noisy)
    monkeypatch.undo()
    assert model.stop_reason_ == "interrupted"
    complete = small(8, calibrate=False).fit(*noisy)
    assert_same_ensemble(model.ensemble_, complete.ensemble_)
    assert model.probability_scale_ == complete.probability_scale_ == 2.0
    np.testing.assert_array_equal(model.predict_proba(noisy[0]), complete.predict_proba(noisy[0]))


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_an_interrupt_at_the_end_of_the_calibration_leaves_a_model(noisy, monkeypatch, n_jobs):
    def interrupted(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(module, "calibrate_held_out", interrupted)
    model = small(8, n_jobs=n_jobs)
    with pytest.warns(UserWarning, match="keeps the 8 rounds"):
        model.fit(*noisy)
    assert_same_ensemble(model.ensemble_, small(8, calibrate=False).fit(*noisy).ensemble_)
    assert np.isfinite(model.predict_proba(noisy[0])).all()
    # Nothing as long as the data stays behind.
    assert max(np.size(value) for value in vars(model).values()) < len(noisy[1])


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_an_error_of_the_second_fit_is_raised(noisy, monkeypatch, n_jobs):
    def failing(*arguments):
        raise RuntimeError("no scale")

    monkeypatch.setattr(module, "calibrate_held_out", failing)
    with pytest.raises(RuntimeError, match="no scale"):
        small(8, n_jobs=n_jobs).fit(*noisy)


def test_a_signal_ends_a_long_fit_early(noisy):
    """As Ctrl-C does: SIGINT in the main thread, at any moment of the fit."""
    assert threading.current_thread() is threading.main_thread()
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    gc.disable()  # Hypothesis watches the collector, and an interrupt inside of a callback is lost
    timer = threading.Timer(0.3, signal.raise_signal, [signal.SIGINT])
    timer.start()
    model = small(500_000, learning_rate=1e-3)
    try:
        with pytest.warns(UserWarning, match="Interrupted"):
            model.fit(*noisy)
    finally:
        timer.join()
        gc.enable()
        signal.signal(signal.SIGINT, before)
    assert model.stop_reason_ == "interrupted"
    assert 0 < model.n_iter_ == len(model.train_errors_) < 500_000
    assert np.isfinite(model.decision_function(noisy[0])).all()


@pytest.mark.filterwarnings("ignore:Interrupted")
def test_an_interrupt_at_any_line_leaves_a_sound_model():
    """KeyboardInterrupt may come between any two lines of the boosting's Python code."""
    package = Path(marginboost.__file__).parent
    watched = (str(package / "boosting"), str(package / "estimators" / "marginboost.py"))
    X, y = noisy_problem(60, 2, 2, n_values=8)
    settings = {"subsample": 1.0, "max_leaf_nodes": 3, "calibrate": True, "n_jobs": 1}
    complete, kept = small(2, **settings).fit(X, y), set()
    for at_line in itertools.count(1):
        lines = itertools.count(1)

        def trace(frame, event, _, lines=lines, at_line=at_line):
            if not frame.f_code.co_filename.startswith(watched):
                return None
            if event == "line" and next(lines) == at_line:
                raise KeyboardInterrupt
            return trace

        model, outer = small(2, **settings), sys.gettrace()
        sys.settrace(trace)
        try:
            model.fit(X, y)
        except KeyboardInterrupt:
            continue  # before the loop, in its first round, or after its last
        finally:
            sys.settrace(outer)
        n = model.n_iter_
        kept.add((n, model.probability_scale_ == complete.probability_scale_))
        first = complete.ensemble_.node_offsets[n]
        np.testing.assert_array_equal(model.ensemble_.feature, complete.ensemble_.feature[:first])
        assert len(model.train_errors_) == n
        if model.stop_reason_ == "max_rounds":  # there are not so many lines
            break
    assert {n for n, _ in kept} == {1, 2}
    assert (2, False) in kept


def test_a_sample_that_is_too_small_to_split():
    """Trees grow from all rows then, and a warning says how many of them do."""
    X, y = noisy_problem(300, 4, 3, n_values=50)
    says = (
        r"subsample=0\.02 lets a tree grow from about 6 of 300 rows\. In \d+ of 10 rounds they had no "
        r"split, and the tree was grown from all rows\. Set a larger subsample, or a min_samples_leaf "
        r"below 5\."
    )
    with pytest.warns(UserWarning, match=says) as told:
        model = marginboost.MarginBoostClassifier(10, subsample=0.02, random_state=0).fit(X, y)
    assert [warning.filename for warning in told] == [__file__]
    assert model.n_iter_ == 10
    marginboost.MarginBoostClassifier(10, subsample=0.2, random_state=0).fit(X, y)  # no warning
    marginboost.MarginBoostClassifier(10, random_state=0).fit(X[:20], y[:20])  # nor by default
    with pytest.warns(UserWarning, match=r"Set a larger subsample\.$"):
        model.set_params(subsample=0.005, min_samples_leaf=1).fit(X, y)
