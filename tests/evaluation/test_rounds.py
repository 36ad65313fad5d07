"""The sizes of rounds."""

from dataclasses import replace

from support import random_problem

from marginboost import MCBoostClassifier
from marginboost.evaluation.rounds import round_sizes


def test_round_sizes_without_covers():
    X, y = random_problem(60, 3, 3, seed=2)
    ensemble = replace(MCBoostClassifier(3).fit(X, y).ensemble_, leaf_cover=None)
    assert (round_sizes(ensemble) > 0).any()
