"""Random draws of data."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.decomposition import PCA
from sklearn.feature_extraction.text import TfidfTransformer

from experiments import draws
from experiments.data import load
from experiments.draws import draw, seed_of


def rows_of(split):
    """Return all rows with their labels, in an order of their own."""
    whole = np.column_stack([np.vstack([split.X, split.X_test]), np.r_[split.y, split.y_test]])
    return whole[np.lexsort(whole.T)]


def test_three_quarters_are_to_train_on():
    split = draw("iris", 0, per_class=40)
    assert (len(split.y), len(split.y_test)) == (90, 30)
    assert len(split.X) == 90
    assert len(split.X_test) == 30


@pytest.mark.parametrize("per_class", [20, 55, None])
def test_at_most_so_many_of_each_class(per_class):
    split = draw("wine", 1, per_class=per_class)
    _, counts = np.unique(np.r_[split.y, split.y_test], return_counts=True)
    held = np.bincount(load("wine").y)
    assert list(counts) == [min(count, per_class or count) for count in held]


def test_rows_are_those_of_the_set_each_once():
    held = load("wine")
    found = rows_of(draw("wine", 2))
    whole = np.column_stack([held.X, held.y])
    assert np.array_equal(found, whole[np.lexsort(whole.T)])


def test_a_draw_is_the_same_each_time():
    one = draw("iris", 3, per_class=20)
    draw.cache_clear()
    other = draw("iris", 3, per_class=20)
    assert one is not other
    assert all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))


def test_repeats_differ_and_so_do_sets():
    one, other = draw("iris", 0, per_class=20), draw("iris", 1, per_class=20)
    assert not np.array_equal(rows_of(one), rows_of(other))
    assert len({seed_of(data, repeat) for data in ("iris", "wine") for repeat in range(50)}) == 100


def test_some_classes_are_taken():
    held = np.bincount(load("wine").y)  # 59, 71 and 48 rows
    most = draw("wine", 0, largest=1)
    assert set(most.y) | set(most.y_test) == {np.argmax(held)}
    first = draw("wine", 0, first=2)
    assert set(first.y) | set(first.y_test) == {0, 1}
    tied = draw("iris", 0, largest=2)
    assert set(tied.y) | set(tied.y_test) == {0, 1}


@pytest.mark.parametrize("weighting", [None, "tf-idf"])
def test_texts_become_the_components_that_hold_nine_tenths(monkeypatch, weighting):
    rng = np.random.default_rng(0)
    counts = csr_array(rng.poisson(0.3, (40, 60)) + np.eye(40, 60, dtype=int))
    y = np.repeat(np.arange(4), 10)

    class Texts:
        X, y = counts, np.repeat(np.arange(4), 10)

    monkeypatch.setattr(draws, "load", lambda name: Texts)
    draw.cache_clear()
    split = draw("texts", 0, weighting=weighting)
    draw.cache_clear()
    found = np.vstack([split.X, split.X_test])
    weighted = counts.toarray().astype(float)
    if weighting == "tf-idf":
        weighted = TfidfTransformer().fit_transform(weighted).toarray()
    weighted /= np.linalg.norm(weighted, axis=1)[:, None]
    pca = PCA(0.9, svd_solver="full").fit(weighted)
    assert found.shape == (len(y), pca.n_components_)
    # Components have no sign, and rows are shuffled: lengths of rows tell.
    lengths = np.linalg.norm(pca.transform(weighted), axis=1)
    assert np.allclose(np.sort(np.linalg.norm(found, axis=1)), np.sort(lengths))
