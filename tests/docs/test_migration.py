"""The tables of the migration guide name parameters that there are."""

import inspect
import re

import pytest
from page_support import ROOT

from marginboost import MarginBoostClassifier

ROW = re.compile(r"^\| (?P<theirs>[^|]+) \| (?P<ours>[^|]+) \|", re.MULTILINE)


def names_in(section):
    """Return (their parameters, ours) of a section's table."""
    text = (ROOT / "docs" / "migrating.md").read_text("utf-8")
    body = text.split(f"\n## From {section}\n")[1].split("\n## ")[0]
    rows = list(ROW.finditer(body))[1:]  # the first is the table's head
    assert len(rows) > 10
    return [set(re.findall(r"`(\w+)", "".join(row[c] for row in rows))) for c in ("theirs", "ours")]


@pytest.mark.parametrize("section", ["XGBoost", "LightGBM"])
def test_our_names(section):
    known = set(MarginBoostClassifier().get_params()) | set(dir(MarginBoostClassifier))
    words = {"fit", "X_val", "y_val", "sample_weight", "sample_weight_val", "True", "False", "None"}
    assert names_in(section)[1] <= known | words | {"feature_names_in_", "feature_importances_"}


def test_xgboost_names():
    xgboost = pytest.importorskip("xgboost")
    known = set(xgboost.XGBClassifier().get_params()) | set(dir(xgboost.XGBClassifier))
    arguments = set(inspect.signature(xgboost.XGBClassifier.fit).parameters)
    assert names_in("XGBoost")[0] <= known | arguments


def test_lightgbm_names():
    lightgbm = pytest.importorskip("lightgbm")
    known = set(lightgbm.LGBMClassifier().get_params()) | set(dir(lightgbm.LGBMClassifier))
    # Parameters of the library that its scikit-learn interface passes through.
    passed_on = {"max_bin", "device_type", "interaction_constraints", "monotone_constraints"}
    arguments = set(inspect.signature(lightgbm.LGBMClassifier.fit).parameters)
    assert names_in("LightGBM")[0] <= known | passed_on | arguments | {"early_stopping"}
