"""What the README and the first page claim about unfamiliar data is what was measured."""

from pathlib import Path

import pytest

from benchmarks.unfamiliar import catalogue, results
from benchmarks.unfamiliar.comparison import METRICS, Comparison
from benchmarks.unfamiliar.libraries import PEERS

ROOT = Path(__file__).parents[2]
WORDS = ("none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
NAMES = {
    "catboost": "CatBoost",
    "chimeraboost": "ChimeraBoost",
    "extra-trees": "ExtraTrees, 500 trees",
    "xgboost-0.1": "XGBoost with a rate of 0.1",
    "xgboost": "XGBoost",
    "hgb": "HistGradientBoosting",
    "xgboost-vector": "XGBoost with vector leaves",
    "lightgbm": "LightGBM",
    "catboost-100": "CatBoost, 100 rounds",
}


@pytest.fixture(scope="module")
def measured():
    files = results.read_all(results.FOLDER)
    return Comparison(files, "marginboost-auto", list(PEERS), list(catalogue.of_group("fresh")))


def plain(page):
    return " ".join((ROOT / page).read_text().split())


def test_the_readme_has_the_ratios(measured):
    text = (ROOT / "README.md").read_text()
    ratios = [measured.ratios(metric) for metric in METRICS]
    assert set(NAMES) == set(PEERS)
    for peer, name in NAMES.items():
        cells = [f"{r[peer].mean:.2f} [{r[peer].low:.2f}, {r[peer].high:.2f}]" for r in ratios]
        assert f"| {name} | {' | '.join(cells)} |" in text


def test_the_readme_has_the_shares_and_the_losses(measured):
    text = plain("README.md")
    shares = measured.shares_no_worse("error").values()
    assert f"no higher on {100 * min(shares):.0f} to {100 * max(shares):.0f} % of the sets" in text
    of_nine = (
        f"the lowest of the nine on {100 * measured.share_no_worse('error'):.0f} % of the sets"
    )
    assert of_nine in text
    lost = WORDS[len(measured.defeats("error"))]
    assert f"on {lost} of the {len(measured.sets)} it is worse" in text
    name, ratio = measured.without_largest_gain("error", "catboost")
    assert f"without {name}, on which we gain most, our error is {ratio:.3f} of CatBoost's" in text


def test_the_first_page_has_the_ratios(measured):
    text = plain("docs/index.md")
    for metric, others in (("error", " with a rate of 0.1"), ("log_loss", "")):
        found = measured.ratios(metric)
        light, xgb, cat = (f"{found[p].mean:.2f}" for p in ("lightgbm", "xgboost-0.1", "catboost"))
        assert (
            f"{light} times LightGBM's, {xgb} times XGBoost's{others}, {cat} times CatBoost's"
            in text
        )
    assert f"on {100 * measured.share_no_worse('error'):.0f} % of them" in text
    assert f"clearly higher on {WORDS[len(measured.defeats('error'))]}." in text
