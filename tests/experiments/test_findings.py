"""The scripts of the findings: each shows what the results page says of it."""

import pytest

from experiments.findings import balancing, starting_point, untuned_svm


def test_coefficients_balance_the_matrix_and_are_scipys():
    assert balancing.main() < 1e-5


def test_the_linear_machine_loses_only_if_it_is_not_tuned():
    untuned, tuned, boosted = untuned_svm.main(rounds=150).values()
    assert untuned < boosted - 1.0
    assert tuned > boosted - 1.0


@pytest.mark.long
def test_from_zero_is_another_method_than_from_the_last_round():
    warm, zero, _ = starting_point.main("wine", draws=2, rounds=20).values()
    assert 0 <= min(warm, zero) <= max(warm, zero) < 30
