"""What rounds draw is what NumPy's generator draws."""

import numpy as np
import pytest

from marginboost.boosting.tree_draws import Sampling, TreeDraws
from marginboost.engine.trees.base import RowSample
from marginboost.engine.trees.slots import Slots


class NumPyDraws:
    def __init__(self, features, sampling, slots):
        self._rng = np.random.default_rng([3, 1])
        self._features, self._sampling, self._slots = features, sampling, slots

    def signs(self):
        if not self._slots.shares_lanes:
            return np.ones(self._slots.n_classes, dtype=np.float32)
        return (2 * self._rng.integers(0, 2, self._slots.n_classes) - 1).astype(np.float32)

    def next_round(self):
        sample, features = RowSample(), self._features
        if self._sampling.rows < 1.0:
            seed = int(self._rng.bit_generator.random_raw())
            sample = RowSample(seed, int(self._sampling.rows * 2.0**64))
        if self._sampling.features < len(features):
            drawn = self._rng.choice(
                len(features), self._sampling.features, replace=False, shuffle=False
            )
            features = features[np.sort(drawn)]
        return sample, features, self.signs()


def draws(case):
    n_features, n_drawn, rows, n_classes = case
    features = 2 * np.arange(n_features, dtype=np.int32) + 1
    setting = features, Sampling(n_drawn, rows), Slots(n_classes)
    return TreeDraws(np.random.default_rng([3, 1]), *setting), NumPyDraws(*setting)


def equal(one, other):
    return one[0] == other[0] and all(map(np.array_equal, one[1:], other[1:]))


# Features, those of a tree, share of the rows, classes.
CASES = [
    (16, 8, 0.5, 26),
    (10, 5, 1.0, 11),
    (54, 27, 0.7, 7),
    (1, 1, 0.5, 3),
    (7, 6, 0.5, 30),
    (9, 12, 1.0, 40),
    (12_000, 4_000, 0.5, 3),
    (12_000, 500, 0.5, 20),
]


@pytest.mark.parametrize("case", CASES)
def test_draws_are_those_of_numpy(case):
    ours, theirs = draws(case)
    assert np.array_equal(ours.signs(), theirs.signs())
    done = 0
    for n_rounds in (1, 32, 7, 32, 60):
        found = ours.next_rounds(n_rounds)
        assert 1 <= found.n_rounds <= n_rounds
        for j in range(found.n_rounds):
            one = RowSample(int(found.seeds[j]), found.limit), found.features[j], found.signs[j]
            assert equal(one, theirs.next_round())
        done += found.n_rounds
    assert done > 100


def test_draws_that_are_put_back_come_again():
    ours, theirs = draws(CASES[0])
    first = ours.next_rounds(10)
    ours.put_back(first.part(4, 10))
    expected = [theirs.next_round() for _ in range(12)]
    assert equal(ours.upcoming(), expected[4])
    assert equal(ours.next_round(), expected[4])
    some = ours.next_rounds(2)
    ours.put_back(some)
    assert [equal(ours.next_round(), one) for one in expected[5:]] == [True] * 7
