"""The scripts of the findings: each shows what the results page says of it."""

import pytest

from experiments.findings import balancing, starting_point, untuned_svm
from experiments.findings.starting_point import SMALLEST, USUAL


def test_coefficients_balance_the_matrix_and_are_scipys():
    assert balancing.main() < 1e-5


def test_the_linear_machine_loses_only_if_it_is_not_tuned():
    untuned, tuned, boosted = untuned_svm.main(rounds=150).values()
    assert untuned < boosted - 1.0
    assert tuned > boosted - 1.0


@pytest.mark.long
def test_where_the_solver_starts_matters_only_if_nu_is_tiny():
    found = starting_point.main(draws=1, rounds=100)
    small, usual = (found[nu, False] - found[nu, True] for nu in (SMALLEST, USUAL))
    assert small > 5
    assert abs(usual) < 5
