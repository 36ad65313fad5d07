"""The log loss over known labels."""

import numpy as np
import pytest

from marginboost.data.classes import UNSEEN
from marginboost.evaluation.probabilities import mean_log_loss

# Class 3 has no row, class 1 is never predicted, and two rows have a label of no class.
Y = np.array([0, 0, 0, 1, 2, 2, UNSEEN, UNSEEN])
K = 4


def test_log_loss_is_over_the_known_labels():
    rng = np.random.default_rng(0)
    probabilities = rng.dirichlet(np.ones(K), len(Y))
    known = Y != UNSEEN
    expected = -np.log(probabilities[known, Y[known]]).mean()
    assert mean_log_loss(probabilities, Y) == pytest.approx(expected, rel=1e-14)
    # One class alone is no less a loss over all of them.
    assert mean_log_loss(probabilities[:3], Y[:3]) == pytest.approx(
        -np.log(probabilities[:3, 0]).mean(), rel=1e-14
    )


def test_log_loss_of_a_class_that_was_ruled_out_is_finite():
    loss = mean_log_loss(np.array([[1.0, 0.0], [1.0, 0.0]]), np.array([0, 1]))
    assert loss == pytest.approx(-np.log(np.finfo(np.float64).eps) / 2)
