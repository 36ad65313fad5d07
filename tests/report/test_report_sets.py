"""The report's table of prediction sets."""

import re

import pytest
from sklearn.datasets import load_wine

from marginboost import MarginBoostClassifier, SAMMEClassifier
from marginboost.evaluation.evaluate import evaluate
from marginboost.evaluation.sets import set_coverage, set_sizes
from marginboost.report import write_report
from marginboost.report.facts import Facts
from marginboost.report.sets import prediction_sets
from marginboost.report.summary import percent


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True)
    return MarginBoostClassifier(10, random_state=0).fit(X[::2], y[::2]), X[1::2], y[1::2]


def test_its_numbers_are_those_of_predict_set(wine):
    model, X, y = wine
    text = str(prediction_sets(Facts(model, evaluate(model, X, y))))
    lines = re.findall(r"<tr>((?:<td.*?</td>)+)</tr>", text)
    assert len(lines) == 6
    cells = re.findall(r"<td[^>]*>(.*?)</td>", lines[1])
    sets = model.predict_set(X, 0.9)
    found, by_class = set_coverage(sets, y)
    sizes = set_sizes(sets)
    assert cells == [
        percent(0.9),
        "all rows",
        percent(found),
        percent(by_class.min()),
        f"{sizes.mean():.2f}",
        percent((sizes == 1).mean()),
        str(sizes.max()),
    ]


def test_it_is_in_the_report_of_models_that_have_sets(wine, tmp_path):
    model, X, y = wine
    write_report(model, tmp_path / "a.html", X, y)
    assert "Prediction sets" in (tmp_path / "a.html").read_text("utf-8")
    write_report(model, tmp_path / "b.html")
    assert "Prediction sets" not in (tmp_path / "b.html").read_text("utf-8")
    write_report(SAMMEClassifier(5).fit(X, y), tmp_path / "c.html", X, y)
    assert "Prediction sets" not in (tmp_path / "c.html").read_text("utf-8")
