import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.svm import SVC

from experiments.draws import Split
from experiments.features.histogram_intersection import histogram_intersection
from experiments.svms import SVMS, measure_svm


@pytest.fixture(scope="module")
def split():
    X, y = load_digits(return_X_y=True)
    return Split(X[:200], y[:200], X[200:500], y[200:500])


@pytest.mark.parametrize("method", SVMS)
def test_is_scikit_learns(method, split):
    found = measure_svm(method, split, seed=0)
    X, X_test = split.X, split.X_test
    if method == "svm-linear":
        scale = 1 / np.mean(np.sum(X**2, axis=1))
        model = SVC(kernel="linear", C=found["C"] * scale)
        predicted = model.fit(X, split.y).predict(X_test)
    elif method == "svm-rbf":
        # scikit-learn's own choice is 1 / (n_features * variance of all entries).
        model = SVC(gamma=1 / (2 * X.var(axis=0).sum()), C=found["C"])
        predicted = model.fit(X, split.y).predict(X_test)
    else:
        model = SVC(kernel="precomputed", C=found["C"] / np.mean(X.sum(axis=1)))
        model.fit(histogram_intersection(X, X), split.y)
        predicted = model.predict(histogram_intersection(X_test, X))
    wrong = np.flatnonzero(predicted != split.y_test)
    assert found["wrong"] == len(found["wrong_rows"]) == pytest.approx(len(wrong), abs=1)
    assert found["n_support"] == pytest.approx(len(model.support_), abs=2)
    assert found["wrong"] < 60
    assert found["n_features"] == 64


def test_projects_on_components_of_the_training_rows(split):
    found = measure_svm("svm-linear", split, seed=0, n_components=10)
    assert found["n_features"] == 10
    pca = PCA(10).fit(split.X)
    X = pca.transform(split.X)
    model = SVC(kernel="linear", C=found["C"] / np.mean(np.sum(X**2, axis=1))).fit(X, split.y)
    wrong = np.sum(model.predict(pca.transform(split.X_test)) != split.y_test)
    assert found["wrong"] == pytest.approx(wrong, abs=1)


def test_never_more_components_than_rows(split):
    rows = split.y < 2
    small = Split(split.X[rows], split.y[rows], split.X[rows], split.y[rows])
    found = measure_svm("svm-rbf", small, seed=0, n_components=1000)
    assert found["n_features"] == min(rows.sum(), 64)
