"""scikit-learn's own suite, without an expected failure."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from marginboost import MCBoostClassifier


@parametrize_with_checks(
    [
        MCBoostClassifier(),
        MCBoostClassifier(n_estimators=20, loss="logistic"),
        MCBoostClassifier(n_estimators=20, max_depth=2),
        MCBoostClassifier(n_estimators=20, max_bins=16),
        MCBoostClassifier(n_estimators=5, engine="reference"),
        MCBoostClassifier(n_estimators=5, engine="reference", loss="logistic", max_depth=2),
    ]
)
def test_sklearn_check(estimator, check):
    check(estimator)
