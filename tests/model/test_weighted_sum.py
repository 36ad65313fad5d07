"""The weighted sum of ensembles scores as the sum of their scores."""

import numpy as np
import pytest
from random_ensembles import KINDS, random_ensemble, random_rows

from marginboost.coefficients.grid import on_grid
from marginboost.model.weighted_sum import weighted_sum


@pytest.mark.parametrize("kind", KINDS)
def test_it_scores_as_the_sum_of_the_parts(kind):
    rng = np.random.default_rng(0)
    parts = [random_ensemble(rng, sizes, kind=kind) for sizes in ([3, 1], [5], [2, 0, 4])]
    factors = [0.5, 0.25, 2.0]
    X = random_rows(rng, 50)
    both = weighted_sum(parts, factors)
    expected = sum(
        part.decision_function(X) * factor for part, factor in zip(parts, factors, strict=True)
    )
    np.testing.assert_allclose(both.decision_function(X), expected, rtol=1e-9, atol=1e-9)
    assert both.n_rounds == sum(part.n_rounds for part in parts)
    assert both.n_trees == sum(part.n_trees for part in parts)


def test_the_parts_keep_their_order():
    rng = np.random.default_rng(0)
    first, second = (random_ensemble(rng, [3, 2], kind="own", round_size=2) for _ in range(2))
    both = weighted_sum([first, second], [1.0, 3.0])
    np.testing.assert_array_equal(both.vectors[: len(first.vectors)], on_grid(first.vectors))
    np.testing.assert_array_equal(both.feature[: len(first.feature)], first.feature)
    np.testing.assert_array_equal(
        both.leaf_vector[len(first.leaf_vector) :], second.leaf_vector + len(first.vectors)
    )
    assert both.round_offsets.tolist() == [0, 2, 4]
