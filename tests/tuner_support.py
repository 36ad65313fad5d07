"""A tuner of three tiny settings."""

from marginboost import MarginBoostClassifierCV
from marginboost.estimators.portfolio import TunedSettings

SETTINGS = [
    TunedSettings("first", 12, 5, "exponential", 0.3, 6, 0.5, 0.5),
    TunedSettings("second", 12, 5, "logistic", 0.3, 4, 1.0, 1.0, 2, 0.5, 16),
    TunedSettings("third", 6, 5, "logistic", 0.1, 2, 1.0, 0.8),
]
FOREVER = 1e9


def tuner(**settings):
    return MarginBoostClassifierCV(
        **{"time_limit": FOREVER, "cv": 3, "random_state": 0, "n_jobs": 1} | settings
    )
