"""A tuner of three tiny settings, and rows of all kinds for it."""

import numpy as np
import pandas as pd

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


def mixed_frame(n_rows=240):
    """Numbers with and without gaps, text, and numbers as categories; some categories are rare."""
    rng = np.random.default_rng(3)
    y = np.array(["no", "perhaps", "yes"])[rng.integers(0, 3, n_rows)]
    place = np.unique(y, return_inverse=True)[1]
    towns = np.array(["Bonn", "Graz", "Oslo", "Rome", "Ulm"])
    frame = pd.DataFrame({
        "size": rng.normal(size=n_rows) + place,
        "gaps": np.where(rng.random(n_rows) < 0.3, np.nan, rng.normal(size=n_rows) - place),
        "town": towns[np.minimum((rng.integers(0, 3, n_rows) + place), 4)],
        "rare": [f"r{number}" for number in rng.integers(0, 18, n_rows)],
        "code": pd.Categorical(rng.integers(0, 3, n_rows)),
    })  # fmt: skip
    frame.loc[rng.random(n_rows) < 0.1, "town"] = None
    frame.loc[5, "size"] = np.nan  # a gap in the training rows of all folds but one
    return frame, y
