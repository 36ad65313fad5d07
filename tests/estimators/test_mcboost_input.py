"""What MCBoostClassifier takes: labels, types, frames, few rows, large numbers."""

import numpy as np
import pandas as pd
import pytest
from support import assert_same_model, embedded, random_problem

from marginboost import MCBoostClassifier

DEPTHS = pytest.mark.parametrize("depth", [1, 2])


@pytest.fixture(scope="module")
def iris():
    return embedded("iris")


@pytest.fixture(scope="module")
def noisy():
    """Three classes that stumps do not tell apart, values shared by several rows."""
    X, y = random_problem(150, 4, 3, n_values=30)
    return X, np.where(np.random.default_rng(1).random(150) < 0.2, (y + 1) % 3, y)


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
