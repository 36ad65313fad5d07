"""Links of one row and of many rows."""

import numpy as np
import pytest

from marginboost.model.builder import EnsembleBuilder
from marginboost.model.compiled import CompiledModel
from marginboost.model.link import OneAgainstAll, Softmax


@pytest.mark.parametrize("link", [Softmax(), Softmax(2.0), Softmax(0.25), OneAgainstAll()])
@pytest.mark.parametrize("n_classes", [1, 2, 3, 30])
@pytest.mark.parametrize("scale", [0.0, 1.0, 100.0, 1e5])
def test_links_of_one_row_and_of_many(link, n_classes, scale):
    # A constant tree whose vector is the scores.
    rng = np.random.default_rng(n_classes)
    for _ in range(10):
        scores = scale * rng.normal(size=n_classes)
        builder = EnsembleBuilder(1, n_classes)
        builder.append(
            type("Constant", (), {"feature": [], "threshold": [], "left": [], "right": [],
                                  "leaf_value": [1.0]})(),
            builder.add_vector(scores),
        )  # fmt: skip
        builder.end_round()
        compiled = CompiledModel(builder.build(), np.arange(n_classes), link)
        label, shares = compiled([0.0])
        assert label == scores.argmax()
        with np.errstate(over="ignore", under="ignore"):
            np.testing.assert_allclose(shares, link(scores[None, :])[0], rtol=1e-12, atol=1e-300)
        assert shares.sum() == pytest.approx(1.0)
