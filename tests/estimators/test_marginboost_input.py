"""What MarginBoostClassifier takes: labels, types, frames, sparse rows, and how much memory."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.special import softmax
from support import assert_same_ensemble, embedded, most_traced_bytes, noisy_problem, random_problem
from support import assert_same_margin_boost as assert_same
from support import small_margin_boost as small

import marginboost


@pytest.fixture(scope="module")
def iris():
    return embedded("iris")


@pytest.fixture(scope="module")
def noisy():
    return noisy_problem(150, 4, 3, n_values=30)


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
    np.testing.assert_allclose(
        model.predict_proba(X), softmax(model.probability_scale_ * F, axis=1)
    )


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


def test_memory_of_sparse_input_goes_with_its_entries(monkeypatch):
    n = 3000
    X = sparse.csr_array((np.ones(n), (np.arange(n), 100 * (np.arange(n) % 30))), (n, 200_000))
    monkeypatch.setattr("marginboost.data.memory.available_bytes", lambda: 1 << 28)
    model = small(2, max_features=1.0).fit(X, np.arange(n) % 3)  # dense bins: 600 MB
    assert model.n_iter_ == 2


def test_too_little_memory(monkeypatch, iris):
    monkeypatch.setattr("marginboost.data.memory.available_bytes", lambda: 1000)
    says = r"needs about .* MiB .*\(150 rows, 4 features, 3 classes{}\).* MiB is available"
    with pytest.raises(ValueError, match=says.format("")):
        small(n_jobs=1).fit(*iris)
    twice = "; about .* MiB with n_jobs=1 if X is dense: one fit after the other"
    with pytest.raises(ValueError, match=says.format(twice)):
        small(n_jobs=2, calibrate=True).fit(*iris)


@pytest.mark.filterwarnings("ignore:The number of unique classes")
def test_a_class_a_row_is_refused_before_anything_large_is_made():
    n = 200_000
    with (
        most_traced_bytes(200 * n),
        pytest.raises(ValueError, match=r"needs about [\d,]+\.\d GiB .*200,000 classes"),
    ):
        small().fit(np.arange(n)[:, None], np.arange(n))


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
