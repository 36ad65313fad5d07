"""Small models of all ten classifiers, for tests that every one of them must pass."""

import pytest

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
    "MarginBoost": MarginBoostClassifier(4, min_samples_leaf=1, random_state=0),
    "MarginBoost logistic": MarginBoostClassifier(
        4, loss="logistic", min_samples_leaf=1, random_state=0, subsample=1.0
    ),
    "MCBoost": MCBoostClassifier(4),
    "MCBoost logistic": MCBoostClassifier(4, loss="logistic"),
    "MultiBoost": MultiBoostClassifier(4),
    "MultiBoost exponential": MultiBoostClassifier(4, loss="exponential"),
    "SAMME": SAMMEClassifier(4),
    "MH": AdaBoostMHClassifier(4),
    "ECC": AdaBoostECCClassifier(4, random_state=0),
    "SIP": AdaBoostSIPClassifier(4),
    "MO": AdaBoostMOClassifier(4),
    "GradBoost": GradBoostClassifier(4),
    "JointBoost": JointBoostClassifier(4),
}
EVERY_METHOD = pytest.mark.parametrize("name", MODELS)
