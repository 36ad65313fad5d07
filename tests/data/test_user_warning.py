"""Every warning names the user's line."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

from marginboost import MarginBoostClassifier, MCBoostClassifier
from marginboost.data.user_warning import warn_user

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
Y = np.arange(60) % 3
NAMED = pd.DataFrame(X, columns=list("abc"))


def constant(model):
    return model.fit(np.ones((60, 2)), Y)


def many_values(model):
    return model.fit(RNG.random((70_000, 1)), RNG.integers(0, 2, 70_000))


def again(model):
    return model.set_params(warm_start=True).fit(X, Y).fit(X, Y)


CASES = {
    "no split": constant,
    "in a pipeline": lambda model: make_pipeline(model).fit(np.ones((60, 2)), Y),
    "in a search": lambda model: cross_val_score(model, np.ones((60, 2)), Y, cv=2),
    "warm start": again,
    "unseen class": lambda model: model.fit(X, Y, X_val=X, y_val=Y + 1),
    "names gone": lambda model: model.fit(NAMED, Y).predict(X),
    "frame without names": lambda model: model.fit(NAMED, Y).predict(pd.DataFrame(X)),
    "names new": lambda model: model.fit(X, Y).predict(NAMED),
    "rare text": lambda model: model.fit(NAMED.assign(d=[f"u{n}" for n in range(60)]), Y),
    "labels in a column": lambda model: model.fit(X, Y[:, None]),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("make", [MarginBoostClassifier, MCBoostClassifier])
def test_warnings_point_here(make, case):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        CASES[case](make(2))
    assert told
    assert {warning.filename for warning in told} == {__file__}


def test_a_warning_of_the_binning_points_here():
    with pytest.warns(UserWarning, match="distinct values") as told:
        many_values(MCBoostClassifier(1))
    assert [warning.filename for warning in told] == [__file__]


def test_a_warning_from_here_points_here():
    with pytest.warns(DeprecationWarning, match="old") as told:
        warn_user("old", DeprecationWarning)
    assert told[0].filename == __file__
