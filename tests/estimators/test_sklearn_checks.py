"""scikit-learn's own suite for every classifier as it comes, without an expected failure."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from marginboost import (
    AdaBoostECCClassifier,
    AdaBoostMHClassifier,
    AdaBoostMOClassifier,
    AdaBoostSIPClassifier,
    GradBoostClassifier,
    JointBoostClassifier,
    MarginBoostClassifier,
    MarginBoostClassifierCV,
    MCBoostClassifier,
    MultiBoostClassifier,
    SAMMEClassifier,
)

# Some checks fit labels that are drawn at random, or that weights leave one class of: there the class
# frequencies are the best model, and the warning that says so is right.
pytestmark = pytest.mark.filterwarnings(
    "ignore:On the rows that were held out:UserWarning",
    "ignore:No split lowers the loss:UserWarning",
)


@parametrize_with_checks(
    [
        MarginBoostClassifier(),
        MarginBoostClassifier(n_estimators=20, loss="logistic"),
        MarginBoostClassifier(n_estimators=5, engine="reference"),
        MarginBoostClassifierCV(time_limit=1e-9, cv=2),
        MCBoostClassifier(),
        MCBoostClassifier(n_estimators=20, loss="logistic"),
        MCBoostClassifier(n_estimators=20, max_depth=2),
        MCBoostClassifier(n_estimators=20, max_bins=16),
        MultiBoostClassifier(),
        MultiBoostClassifier(n_estimators=5, loss="exponential", max_depth=2, keep_path=True),
        SAMMEClassifier(),
        SAMMEClassifier(n_estimators=20, max_depth=2),
        AdaBoostMHClassifier(),
        AdaBoostECCClassifier(),
        AdaBoostECCClassifier(code="max-cut"),
        AdaBoostECCClassifier(n_estimators=20, max_depth=2),
        AdaBoostMOClassifier(),
        AdaBoostSIPClassifier(),
        GradBoostClassifier(),
        JointBoostClassifier(),
    ]
)
def test_sklearn_check(estimator, check):
    check(estimator)
