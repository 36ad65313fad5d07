"""The numbering of copies in several shards, without a cluster: what is asked, and what is sent."""

import numpy as np
import pytest

from marginboost.data.training_set import make_training_set
from marginboost.engine.cluster import hash_ranges
from marginboost.engine.cluster.copy_agreement import find_independence, set_independence
from marginboost.engine.cluster.copy_numbers import find_shifts, shift_copies


class Shards:
    """Stands in for a session: answers requests with the rows of some shards."""

    def __init__(self, every):
        self.every = every
        self.asked = []
        self.sent_bytes = 0

    def send(self, request):
        self.asked.append(request.function.__name__)
        answers = [request.function(data, *request.args) for data in self.every]
        for answer in answers:
            arrays = answer if isinstance(answer, tuple) else [answer]
            self.sent_bytes += sum(a.nbytes for a in arrays if isinstance(a, np.ndarray))
        return answers


def shard(X, y, weight=None):
    data = make_training_set(
        X, y, 2, sample_weight=weight, class_weight=None, max_bins=None, n_threads=1
    )
    data.copies.first(3)  # numbers the copies of the shard alone
    return data


def test_rows_that_differ_cost_four_bytes_each():
    X = np.arange(2000.0)[:, None]
    y = np.arange(2000) % 2
    thresholds = shard(X, y).binned.thresholds
    halves = []
    for rows in (slice(0, 900), slice(900, None)):
        data = shard(X, y)
        bins = np.array([t.searchsorted(X[:, 0]) for t in thresholds], dtype=np.uint16)
        order = np.concatenate([np.flatnonzero(y == c) for c in range(2)])
        inside = order[(order >= (rows.start or 0)) & (order < (rows.stop or 2000))]
        halves.append(_with_bins(data, bins[:, inside], np.bincount(y[inside], minlength=2)))
    shards = Shards(halves)
    assert find_shifts(shards, "all", 3, 2000) is None
    assert shards.asked == ["_halves"]
    assert shards.sent_bytes == 4 * 2000


@pytest.mark.parametrize("most_hashes", [1 << 22, 5])
@pytest.mark.parametrize("weighted", [False, True])
def test_copies_get_the_numbers_that_they_have_in_one_place(monkeypatch, most_hashes, weighted):
    monkeypatch.setattr(hash_ranges, "MOST_HASHES", most_hashes)
    rng = np.random.default_rng(0)
    X = rng.integers(0, 4, (60, 2)).astype(float)
    y = rng.integers(0, 2, 60)
    X[:4], y[:4] = [[0, 0], [3, 3], [1, 1], [2, 2]], [0, 1, 0, 1]
    weight = rng.integers(1, 4, 60) / 2 + 0.1 if weighted else None
    whole = shard(X, y, weight)
    order = np.argsort(y, kind="stable")
    parts = [
        _with_bins(
            whole,
            whole.binned.bins[:, which],
            np.bincount(y[order][which], minlength=2),
            None if whole.weight is None else whole.weight[which],
        )
        for which in (np.arange(60) % 3 == remainder for remainder in range(3))
    ]
    shards = Shards(parts)
    shifts = find_shifts(shards, "all", 3, 60)
    assert shifts is not None
    for number, part in enumerate(parts):
        shift_copies(part, shifts[number])
    # Copies of one weight are exchangeable, so the sets of hashes are compared.
    found = np.concatenate([part.copies.first(3) for part in parts])
    np.testing.assert_array_equal(np.sort(found), np.sort(whole.copies.first(3)))


@pytest.mark.parametrize("most_hashes", [1 << 22, 5])
@pytest.mark.parametrize("kind", ["observed", "written again", "without copies"])
def test_shards_find_out_together_whether_copies_are_observations(monkeypatch, most_hashes, kind):
    monkeypatch.setattr(hash_ranges, "MOST_HASHES", most_hashes)
    rng = np.random.default_rng(0)
    X = np.arange(60.0)[:, None] if kind == "without copies" else rng.integers(0, 9, (60, 1)) / 2
    y = (X[:, 0] % 2 > 0.7).astype(int)
    if kind == "observed":
        y[::9] = 1 - y[::9]
    whole = shard(X, y)
    order = np.argsort(y, kind="stable")
    parts = []
    for remainder in range(3):
        which = np.arange(60) % 3 == remainder
        counts = np.bincount(y[order][which], minlength=2)
        parts.append(_with_bins(whole, whole.binned.bins[:, which], counts))
    shards = Shards(parts)
    shifts = find_shifts(shards, "all", 3, 60)
    for number, part in enumerate(parts):
        shift_copies(part, None if shifts is None else shifts[number])
    found = find_independence(shards, 3, 60, whole.class_counts)
    if kind == "without copies":
        assert found is None
        assert shards.asked[-1] == "_has_copies"
        return
    np.testing.assert_array_equal(found, whole.copies.independent(3))
    assert found.tolist() == [kind == "observed"] * 2
    for part in parts:
        set_independence(part, 3, found)
        np.testing.assert_array_equal(part.copies.independent(3), found)
    counts = [part.copies.dividing(3)[0] for part in parts]
    np.testing.assert_array_equal(
        np.sort(np.concatenate(counts)), np.sort(whole.copies.dividing(3)[0])
    )


def test_shards_without_rows():
    data = shard(np.arange(4.0)[:, None], np.array([0, 1, 0, 1]))
    empty = _with_bins(data, data.binned.bins[:, :0], np.zeros(2, dtype=np.int64))
    assert find_shifts(Shards([empty, empty]), "all", 3, 1) is None
    assert find_shifts(Shards([data, empty]), "all", 3, 4) is None


def _with_bins(data, bins, counts, weight=None):
    """Return a training set of other rows with the same thresholds."""
    binned = type(data.binned)(np.ascontiguousarray(bins), data.binned.thresholds)
    offsets = np.concatenate(([0], np.cumsum(counts)))
    made = type(data)(binned, offsets, weight, None, counts.astype(float))
    made.copies.first(3)
    return made
