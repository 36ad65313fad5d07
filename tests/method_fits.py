"""Fits of every method, in all its variants."""

import numpy as np
import pytest
from sklearn.base import clone

from marginboost import (
    AdaBoostECCClassifier,
    AdaBoostMHClassifier,
    AdaBoostMOClassifier,
    AdaBoostSIPClassifier,
    GradBoostClassifier,
    JointBoostClassifier,
    MarginBoostClassifier,
    MCBoostClassifier,
    MultiBoostClassifier,
    SAMMEClassifier,
)

MODELS = {
    "MarginBoost": MarginBoostClassifier(10, min_samples_leaf=1, random_state=0),
    "MarginBoost logistic": MarginBoostClassifier(
        10, loss="logistic", min_samples_leaf=1, random_state=0, subsample=1.0
    ),
    "MCBoost": MCBoostClassifier(10),
    "MCBoost logistic": MCBoostClassifier(10, loss="logistic"),
    "MultiBoost": MultiBoostClassifier(4),
    "MultiBoost exponential": MultiBoostClassifier(4, loss="exponential"),
    "SAMME": SAMMEClassifier(10),
    "MH": AdaBoostMHClassifier(10),
    "ECC": AdaBoostECCClassifier(10, random_state=0),
    "ECC max-cut": AdaBoostECCClassifier(10, code="max-cut", random_state=0),
    "SIP": AdaBoostSIPClassifier(10),
    "MO": AdaBoostMOClassifier(4),
    "GradBoost": GradBoostClassifier(10),
    "GradBoost penalty": GradBoostClassifier(10, regularization=0.01),
    "JointBoost": JointBoostClassifier(6),
}
ALL = pytest.mark.parametrize("name", MODELS)
STUMPS_AND_TREES = pytest.mark.parametrize(
    "name",
    [name for name, model in MODELS.items() if "min_weight_fraction_leaf" in model.get_params()],
)
DEPTHS = pytest.mark.parametrize("depth", [1, 2])


def fit(name, X, y, weight=None, **settings):
    if "Margin" in name and settings.get("max_bins", 0) is None:
        settings["max_bins"] = 65535  # has no word for a bin a value
    return clone(MODELS[name]).set_params(**settings).fit(X, y, sample_weight=weight)


def weight_of(kind, n):
    rng = np.random.default_rng(9)
    return {"weights": rng.uniform(0, 3, n), "multiplicities": rng.integers(1, 6, n)}.get(kind)
