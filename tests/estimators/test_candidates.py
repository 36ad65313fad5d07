"""The settings that a fit chooses from."""

import numpy as np
import pandas as pd
import pytest

from marginboost import MarginBoostClassifier
from marginboost.estimators import candidates


@pytest.mark.parametrize(
    ("shape", "most"),
    [
        ((1_000, 500, 100), 300),  # few rows
        ((16_000, 16, 26), 300),  # letter: quick rounds
        ((50_000, 20, 10), 300),
        ((50_001, 2, 2), 100),
        ((7_291, 256, 10), 150),  # usps
        ((60_000, 784, 10), 100),
    ],
)
def test_large_trees_have_fewer_rounds_where_a_round_takes_long(shape, most):
    rounds = candidates.rounds_of_candidates(*shape)
    assert rounds == {"margin": (100, most), "large": (0, most), "small": (0, 300)}


def test_few_columns_of_few_values_have_a_candidate():
    """Three quarters of the features must have at most eight values; rows and columns must be few."""
    few, many = np.int32([8] * 6 + [9] * 2), np.int32([8] * 5 + [9] * 3)
    assert candidates.may_follow_rules(8_000, 64, few)
    assert not candidates.may_follow_rules(8_000, 64, many)
    assert not candidates.may_follow_rules(8_001, 64, few)
    assert not candidates.may_follow_rules(8_000, 65, few)
    rounds = candidates.rounds_of_candidates(1_000, 8, 3, rules=True)
    assert list(rounds) == ["margin", "rules", "large", "small"]  # those for clean data first
    assert rounds["rules"] == rounds["margin"] == (100, 300)
    settings = MarginBoostClassifier()._settings("rules", 1_000, 9)
    assert (settings.loss, settings.max_features, settings.subsample) == ("exponential", 1.0, 0.5)


@pytest.mark.parametrize(("n_columns", "shares"), [(8, (0.5, 1.0, 1.0)), (9, (0.5, 0.75, 0.5))])
def test_trees_see_all_of_few_columns(n_columns, shares):
    """Columns of X count, not the orders of their categories; a share that is given stays."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.random((200, n_columns))).add_prefix("x")
    X["x0"] = rng.choice(list("abc"), 200)
    model = MarginBoostClassifier(random_state=0).fit(X, (3 * X["x1"]).astype(int))
    names = ("margin", "large", "small")
    found = [model._settings(name, 200, model.n_features_in_).max_features for name in names]
    assert tuple(found) == shares
    given = MarginBoostClassifier(max_features=0.3)._settings("large", 200, n_columns)
    assert given.max_features == 0.3


@pytest.mark.parametrize(("n_columns", "share"), [(200, 0.5), (800, 0.25), (20_000, 0.05)])
def test_trees_see_a_smaller_share_of_many_columns(n_columns, share):
    """Those of one candidate see most, and where nothing is chosen the share is fixed."""
    model = MarginBoostClassifier()
    names = ("margin", "large", "small", "given")
    found = [model._settings(name, 5000, n_columns).max_features for name in names]
    assert found == [share, 0.75, share, 0.5]
