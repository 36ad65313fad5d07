"""The logarithm that every engine takes in float32."""

import numpy as np

from marginboost.engine.trees.row_loss import log_one_plus


def test_the_logarithm_of_the_logistic_loss():
    e = np.exp2(np.linspace(-60, 60, 50_001)).astype(np.float32)
    np.testing.assert_allclose(log_one_plus(e), np.log1p(e.astype(np.float64)), rtol=5e-7)
    assert log_one_plus(np.zeros(1, dtype=np.float32)) == 0.0
