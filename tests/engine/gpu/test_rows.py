"""Rows on a device: all that is known of them is what the host would say, to the bit."""

import numpy as np
import pytest
from cuda_on_host import host_device
from scipy import sparse
from support import assert_same_rows, assert_same_sample, noisy_problem, training_set

from marginboost.data.leaf_weight import with_least_leaf_weight
from marginboost.data.row_view import RowView
from marginboost.engine.gpu.rows import rows_on_device, to_device

KINDS = pytest.mark.parametrize(
    "kind", ["plain", "wide", "weights", "extreme weights", "multiplicities", "sparse"]
)


def problem(kind, k=4):
    X, y = noisy_problem(400, 5, k, n_values=None if kind == "wide" else 7)
    rng = np.random.default_rng(1)
    weight = {
        "weights": rng.uniform(0, 3, 400),
        "extreme weights": 10.0 ** rng.uniform(-8, 8, 400),
        "multiplicities": rng.integers(1, 6, 400),
    }.get(kind)
    if kind == "sparse":
        X = sparse.csr_array(np.where(rng.random(X.shape) < 0.6, 0.0, X))
    return training_set(X, y, weight=weight, n_classes=k + 1)  # the last class has no rows


@KINDS
def test_the_rows_are_the_same(kind):
    data = problem(kind)
    rows = to_device(host_device(), data)
    for name in ("n_classes", "n_rows", "n_counted", "largest_weight"):
        assert getattr(rows, name) == getattr(data, name)
    for name in ("class_counts", "class_mass", "labels"):
        np.testing.assert_array_equal(getattr(rows, name), getattr(data, name))
    np.testing.assert_array_equal(rows.row_weight(), data.row_weight())
    np.testing.assert_array_equal(rows.copies.first(3), data.copies.first(3))
    assert rows.binned.bins.shape == (5, 400)


@KINDS
def test_masses_are_added_up_alike(kind):
    data = problem(kind)
    of = to_device(host_device(), data)
    rows = rows_on_device(host_device(), of.binned, of.class_offsets, of.weight, of.multiplicity)
    np.testing.assert_array_equal(rows.class_mass, data.class_mass)


@KINDS
@pytest.mark.parametrize("share", [0.0, 0.01, 0.2, 0.7])
def test_the_same_rows_are_held_out(kind, share):
    data = problem(kind)
    rows = to_device(host_device(), data)
    bounds = rows.hash_bounds(5, share)
    np.testing.assert_array_equal(bounds, data.hash_bounds(5, share))
    view = RowView(5, bounds, 2)
    np.testing.assert_array_equal(rows.class_mass_seen(view), data.class_mass_seen(view))
    for ours, theirs in zip(rows.seen(view), data.seen(view), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    e = np.random.default_rng(0).random((len(data.seen(view).held_out_rows), 5), dtype=np.float32)
    found = rows.describe_held_out(view, e)
    for ours, theirs in zip(found, data.describe_held_out(view, e), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    assert_same_sample(rows.sample_rows(view), data.sample_rows(view))
    rest = rows.without(view)
    assert_same_rows(rest, data.without(view))
    np.testing.assert_array_equal(rest.copies.first(3), data.without(view).copies.first(3))


@pytest.mark.parametrize("kind", ["plain", "wide", "weights", "multiplicities"])
@pytest.mark.parametrize("share", [0.0, 0.1, 0.4])
def test_the_same_thresholds_are_left_out(kind, share):
    data = problem(kind)
    rows = with_least_leaf_weight(to_device(host_device(), data), share)
    host = with_least_leaf_weight(data, share)
    np.testing.assert_array_equal(rows.binned.bins, host.binned.bins)
    for ours, theirs in zip(rows.binned.thresholds, host.binned.thresholds, strict=True):
        np.testing.assert_array_equal(ours, theirs)
    assert (rows.leaf_weight is None) == (host.leaf_weight is None) == (share == 0.0)
    if share:
        np.testing.assert_array_equal(rows.leaf_weight.rows, host.leaf_weight.rows)
        assert rows.leaf_weight.least == host.leaf_weight.least


def test_too_many_rows(monkeypatch):
    monkeypatch.setattr("marginboost.engine.gpu.rows.MOST_ROWS", 399)
    with pytest.raises(ValueError, match=r"takes up to 399 rows; got 400\. Fit on the CPU"):
        to_device(host_device(), problem("plain"))


def test_sparse_rows_that_do_not_fit(monkeypatch):
    device = host_device()
    monkeypatch.setattr(type(device), "free_bytes", lambda self: 1000)
    with pytest.raises(ValueError, match="Fit on the CPU, which keeps them sparse"):
        to_device(device, problem("sparse"))
