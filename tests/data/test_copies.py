"""Numbers and hashes of the copies of rows."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import random_problem, training_set

from marginboost import _native
from marginboost.data import copies as module
from marginboost.data.copies import (
    STEP,
    copy_numbers,
    count_copies,
    each_copy,
    merged,
)
from marginboost.data.row_view import RowView


def test_rows_without_copies_have_no_numbers():
    assert copy_numbers(np.array([5, 3, 9], dtype=np.uint64), None, None) is None
    assert copy_numbers(np.empty(0, dtype=np.uint64), None, None) is None
    assert copy_numbers(np.array([5, 3], dtype=np.uint64), None, np.array([7, 2])) is None


@given(st.lists(st.integers(0, 6), min_size=1, max_size=40), st.randoms(use_true_random=False))
def test_the_copies_of_a_cell_have_the_first_numbers(cells, random):
    hashes = np.array(cells, dtype=np.uint64) * np.uint64(3**35)
    numbers = copy_numbers(hashes, None, None)
    if numbers is None:
        numbers = np.zeros(len(cells), dtype=int)
    for cell in set(cells):
        here = numbers[np.array(cells) == cell]
        assert sorted(here) == list(range(len(here)))
    times = np.array([random.randint(1, 5) for _ in cells])
    firsts = copy_numbers(hashes, None, times)
    firsts = np.zeros(len(cells), dtype=int) if firsts is None else firsts
    for cell in set(cells):
        here = np.flatnonzero(np.array(cells) == cell)
        taken = [
            first + j for first, m in zip(firsts[here], times[here], strict=True) for j in range(m)
        ]
        assert sorted(taken) == list(range(times[here].sum()))


def test_lighter_copies_come_first_by_rank_alone():
    rng = np.random.default_rng(0)
    hashes = rng.integers(0, 4, 60).astype(np.uint64)
    weight = rng.uniform(0.1, 5, 60)
    numbers = copy_numbers(hashes, weight, None)
    for cell in range(4):
        here = np.flatnonzero(hashes == cell)
        np.testing.assert_array_equal(numbers[here], weight[here].argsort().argsort())
    np.testing.assert_array_equal(copy_numbers(hashes, 7.3e50 * weight, None), numbers)
    np.testing.assert_array_equal(copy_numbers(hashes, np.exp(weight), None), numbers)


@pytest.mark.parametrize("threads", [1, 5])
@pytest.mark.parametrize("n", [0, 1, 30, 20_000])
def test_repeated_hashes_are_found(n, threads):
    rng = np.random.default_rng(n)
    hashes = rng.integers(2**64, size=n, dtype=np.uint64)
    hashes[n // 2 :] = hashes[rng.integers(0, max(n // 2, 1), n - n // 2)] if n > 1 else hashes
    _, place, counts = np.unique(hashes, return_inverse=True, return_counts=True)
    found = _native.find_repeated(hashes, threads)
    np.testing.assert_array_equal(found, counts[place] > 1)


@pytest.mark.parametrize("chunk", [1, 7, 1 << 20])
def test_every_copy_once(monkeypatch, chunk):
    monkeypatch.setattr(module, "_CHUNK", chunk)
    hashes = np.array([2**64 - 5, 11, 3], dtype=np.uint64)
    times = np.array([4, 1, 20], dtype=np.int32)
    found = [pair for both in each_copy(hashes, times) for pair in zip(*both, strict=True)]
    expected = [
        (r, (int(hashes[r]) + j * int(STEP)) % 2**64) for r in range(3) for j in range(times[r])
    ]
    assert found == expected
    counts = count_copies(hashes, times, lambda rows, of_copy: of_copy < np.uint64(2**62))
    np.testing.assert_array_equal(
        counts, [sum(h < 2**62 for row, h in expected if row == r) for r in range(3)]
    )


@pytest.mark.parametrize("share", [0.1, 0.2, 0.5])
def test_copies_are_spread_evenly(share):
    """Of n copies of any row, n * share have a hash below that share, give or take two."""
    starts = np.random.default_rng(0).integers(2**64, size=50, dtype=np.uint64)
    for n in (1, 2, 5, 30, 1000):
        hashes = starts[:, None] + np.arange(n, dtype=np.uint64) * STEP
        below = (hashes < np.uint64(int(share * 2**64))).sum(axis=1)
        assert (abs(below - n * share) <= 2).all()


def test_equal_rows_become_one():
    labels = np.array([1, 0, 1, 1, 0])
    hashes = np.array([4, 9, 4, 4, 2], dtype=np.uint64)
    weight = np.array([0.5, 1.0, 0.25, 0.5, 1.0])
    places, total = merged(labels, hashes, weight, np.array([1, 2, 3, 4, 5]))
    assert places.tolist()[:3] == [4, 1, 2]
    assert places[3] in (0, 3)
    assert total.tolist() == [5, 2, 3, 5]
    none = np.empty(0, dtype=np.int64)
    assert [len(part) for part in merged(none, none.astype(np.uint64), none, none)] == [0, 0]


@pytest.mark.parametrize("seed", [0, 7])
def test_repeated_rows_and_integer_weights_have_the_same_hashes(seed):
    X, y = random_problem(80, 2, 3, n_values=3)
    times = np.random.default_rng(2).integers(1, 6, 80)
    weighted = training_set(X, y, weight=times)
    repeated = training_set(np.repeat(X, times, axis=0), np.repeat(y, times))
    of_copies = np.concatenate(
        [part for _, part in each_copy(weighted.copies.first(seed), weighted.multiplicity)]
    )
    assert len(np.unique(of_copies)) == times.sum()
    np.testing.assert_array_equal(np.sort(of_copies), np.sort(repeated.copies.first(seed)))
    # And so have those that a view leaves: they are numbered anew.
    view = RowView(seed, weighted.hash_bounds(seed, 0.3))
    np.testing.assert_array_equal(view.hash_bounds, repeated.hash_bounds(seed, 0.3))
    left = weighted.without(view)
    of_copies = [part for _, part in each_copy(left.copies.first(seed), left.multiplicity)]
    np.testing.assert_array_equal(
        np.sort(np.concatenate(of_copies)), np.sort(repeated.without(view).copies.first(seed))
    )


def test_a_training_set_made_of_another_forgets_its_hashes():
    """Other bins or weights have other hashes and copies."""
    X, y = random_problem(60, 2, 2, n_values=3)
    data = training_set(X, y, weight=np.random.default_rng(0).uniform(1, 2, 60))
    first = data.copies.first(3)
    other = replace(data, weight=data.weight[::-1].copy())
    assert (other.copies.first(3) != first).any()
    np.testing.assert_array_equal(data.copies.first(3), first)


@pytest.mark.parametrize("real", [False, True])
def test_rows_that_were_written_down_again_are_held_out_together(real):
    """But for class 2, of which a fifth has copies."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(150, 3)), np.repeat(np.arange(3), 50)
    times = rng.integers(2, 5, 150)
    times[100:] = 1 + (np.arange(50) < 10)
    repeated = np.repeat(X, times, axis=0), np.repeat(y, times)
    weight = rng.uniform(1, 2, len(repeated[1])) if real else None
    data = training_set(*repeated, weight=weight)
    assert data.copies.independent(3).tolist() == [False, False, True]
    view = RowView(3, data.hash_bounds(3, 0.3))
    held_out = data.seen(view).held_out_rows
    assert 0.2 < len(held_out) / data.n_rows <= 0.3
    inside, contents = np.zeros(data.n_rows, dtype=bool), data.copies.of_content(3)
    inside[held_out] = True
    shares = [inside[contents == content].mean() for content in np.unique(contents)]
    labels = [data.labels[contents == content][0] for content in np.unique(contents)]
    split = {label for label, share in zip(labels, shares, strict=True) if 0 < share < 1}
    assert split == {2}
    if not real:
        counted = training_set(X, y, weight=times)
        assert counted.copies.independent(3).tolist() == [False, False, True]
        np.testing.assert_array_equal(counted.hash_bounds(3, 0.3), view.hash_bounds)
        np.testing.assert_array_equal(counted.class_mass_seen(view), data.class_mass_seen(view))
