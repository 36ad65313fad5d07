"""Our tuner beside other libraries tuned by Optuna: benchmarks/unfamiliar/tuned.py."""

import json
from pathlib import Path

from benchmarks.unfamiliar import tuned


def test_ties_are_no_victories():
    results = {
        "marginboost/a/60": {"error": 0.1, "log_loss": 0.2},
        "lightgbm/a/60": {"error": 0.1, "log_loss": 0.4},
        "marginboost/b/60": {"error": 0.1, "log_loss": 0.8},
        "lightgbm/b/60": {"error": 0.2, "log_loss": 0.4},
        "marginboost/c/60": {"error": 0.3, "log_loss": 0.8},  # not measured with the other
        "lightgbm/b/300": {"error": 0.0, "log_loss": 0.0},
    }
    *_, row = tuned.report(results).splitlines()
    assert row == "| 60 | LightGBM | 2 | 50 % | 50 % | 50 % | 0.709 | 1.000 |"


def test_the_page_has_the_numbers_of_the_tuner():
    page = (Path(__file__).parents[2] / "docs" / "defaults.md").read_text()
    assert tuned.report(json.loads(tuned.FILE.read_text())["results"]) in page
