"""Small models of all ten classifiers, for tests that every one of them must pass."""

import method_fits
import pytest
from sklearn.base import clone

# Variants that the tests of all methods cover.
_LEFT_OUT = {"ECC max-cut", "GradBoost penalty"}

MODELS = {
    name: clone(model).set_params(n_estimators=4)
    for name, model in method_fits.MODELS.items()
    if name not in _LEFT_OUT
}
EVERY_METHOD = pytest.mark.parametrize("name", MODELS)
