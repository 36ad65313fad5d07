"""The guide's tables of parameters are complete, and their defaults are right."""

import ast
import re

import pytest
from page_support import ROOT

from marginboost import MarginBoostClassifier, MCBoostClassifier

ROW = re.compile(r"^\| (?P<names>`[^|]+`) \| (?P<default>[^|]*) \|", re.MULTILINE)


@pytest.mark.parametrize("classifier", [MarginBoostClassifier, MCBoostClassifier])
def test_parameters(classifier):
    guide = (ROOT / "docs" / "guide.md").read_text("utf-8").split("\n## All parameters\n")[1]
    own = guide.split(f"Of `{classifier.__name__}`:")[1].split("\nOf `")[0]
    known = classifier().get_params()
    for row in ROW.finditer(own):
        names = re.findall(r"`(\w+)`", row["names"])
        assert set(names) <= set(known), names
        if row["default"].strip():
            assert len(names) == 1
            assert ast.literal_eval(row["default"].strip(" `")) == known[names[0]], names[0]
    everywhere = set(re.findall(r"`(\w+)`", guide))
    assert set(known) <= everywhere
