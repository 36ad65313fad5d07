"""Which rows a fit sees, and which are held out."""

import numpy as np
import pytest
from scipy import sparse
from support import noisy_problem, training_set

from marginboost.boosting import calibration
from marginboost.data.row_view import HeldOutRows, RowView


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


@pytest.mark.parametrize("kind", ["plain", "weights", "multiplicities", "counts"])
@pytest.mark.parametrize("exponent", [0, 3])
def test_what_a_fit_sees(kind, exponent):
    """Rows of few levels differ in class, so that counts are of observations."""
    X, y = noisy_problem(60, 2, 3)
    if kind == "counts":
        X = (X > 0).astype(float)
    rng = np.random.default_rng(0)
    weight = {"plain": None, "weights": rng.uniform(1, 2, 60)}.get(kind, rng.integers(1, 5, 60))
    data = training_set(X, y, weight=weight)
    view = RowView(4, data.hash_bounds(4, 0.2), exponent)
    seen = data.seen(view)
    assert 5 < len(seen.held_out_rows) < 40
    gone = seen.held_out_rows
    of_row = np.ones(60) if weight is None else np.asarray(weight)[np.argsort(y, kind="stable")]
    if kind == "weights":
        of_row = of_row / of_row.mean()
    left = of_row.copy()
    if kind in ("multiplicities", "counts"):
        left, most = seen.multiplicity, np.floor(0.2 * data.class_counts).sum()
        gone = np.flatnonzero(left == 0)
        if kind == "counts":
            assert 0 < len(gone) < len(seen.held_out_rows)
            assert of_row.sum() - left.sum() == most
        else:
            np.testing.assert_array_equal(gone, seen.held_out_rows)
            assert most - 3 * 3 <= of_row.sum() - left.sum() <= most
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


def test_a_known_order_is_used_for_the_same_rows_alone():
    rng = np.random.default_rng(0)
    hashes = rng.integers(0, 5, 30).astype(np.uint64)
    labels = rng.integers(0, 2, 30)
    e = rng.random((30, 2)).astype(np.float32)
    rows = HeldOutRows(e, labels, np.ones(30), np.ones(30, dtype=np.int64), hashes)
    order = rows.order()
    again = rows._replace(e=e + 1.0).in_order(order)
    for found, expected in zip(again, rows._replace(e=e + 1.0).in_order(), strict=True):
        np.testing.assert_array_equal(found, expected)
    turned = HeldOutRows(*(part[::-1] for part in rows))
    for found, expected in zip(turned.in_order(order), turned.in_order(), strict=True):
        np.testing.assert_array_equal(found, expected)
