"""The colourings of AdaBoost.ECC."""

import numpy as np
import pytest
from support import noisy_problem

from marginboost import AdaBoostECCClassifier
from marginboost.boosting.methods.adaboost_ecc import max_cut, random_half

CODES = pytest.mark.parametrize("code", ["random-half", "max-cut"])


def cut(mass, mu):
    return sum(mass[a, b] + mass[b, a] for a in range(len(mu)) for b in range(a) if mu[a] != mu[b])


@pytest.mark.parametrize("k", [2, 3, 4, 7, 26])
def test_max_cut_is_no_worse_than_random_and_locally_best(k):
    rng = np.random.default_rng(k)
    for seed in range(20):
        mass = rng.exponential(size=(k, k)) * (rng.random((k, k)) < 0.7) + 1e-3
        np.fill_diagonal(mass, rng.exponential(size=k))  # counts for nothing
        drawn = random_half(k, np.random.default_rng(seed))
        found = max_cut(mass, np.random.default_rng(seed))
        assert sorted(drawn) == [-1] * (k - k // 2) + [1] * (k // 2)
        assert set(found) == {-1, 1}
        assert cut(mass, found) >= cut(mass, drawn) * (1 - 1e-12)
        for a in range(k):
            flipped = found.copy()
            flipped[a] = -flipped[a]
            assert cut(mass, flipped) <= cut(mass, found) * (1 + 1e-9)


@CODES
def test_seeds_give_the_colourings(code):
    X, y = noisy_problem(200, 4, 6)

    def fit(seed):
        return AdaBoostECCClassifier(12, code=code, random_state=seed).fit(X, y)

    np.testing.assert_array_equal(fit(3).code_, fit(3).code_)
    np.testing.assert_array_equal(fit(3).votes_, fit(3).votes_)
    first, second = (fit(np.random.RandomState(5)) for _ in range(2))
    np.testing.assert_array_equal(first.code_, second.code_)
    assert (fit(3).code_ != fit(4).code_).any()
    np.random.seed(0)  # noqa: NPY002 - None is NumPy's global state, as in scikit-learn
    first, second = fit(None), fit(None)
    assert (first.code_ != second.code_).any()


def test_random_halves_are_halves():
    X, y = noisy_problem(200, 4, 7)
    model = AdaBoostECCClassifier(40, random_state=0).fit(X, y)
    assert (np.sum(model.code_ > 0, axis=1) == 3).all()
    assert len(np.unique(model.code_, axis=0)) > 15  # of 35
