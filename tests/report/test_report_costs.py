"""The report on a model with costs or ordered classes."""

import numpy as np
import pytest

from marginboost import MarginBoostClassifier, mean_cost
from marginboost.evaluation.evaluate import evaluate
from marginboost.report import write_report
from marginboost.report.facts import Facts
from marginboost.report.verdict import verdict

LABELS = np.array(["<low>", "mid", "top"])
ORDER = ["<low>", "mid", "top"]


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 300)
    return y[:, None] + rng.normal(0, 1.0, (300, 3)), LABELS[y]


def sentences(model, X, y):
    return [str(sentence) for sentence in verdict(Facts(model, evaluate(model, X, y)))]


def test_costs_and_steps_are_shown(rows, tmp_path):
    X, y = rows
    model = MarginBoostClassifier(5, random_state=0, classes_order=ORDER).fit(X[:200], y[:200])
    write_report(model, tmp_path / "r.html", X[200:], y[200:])
    text = (tmp_path / "r.html").read_text("utf-8")
    cost = mean_cost(y[200:], model.predict(X[200:]), "ordinal", classes_order=ORDER)
    assert "mean absolute error" in text
    assert "in steps from class to class" in text
    assert f">{cost:.2g}" in text
    assert "&lt;low&gt; &lt; mid &lt; top" in text
    first = sentences(model, X[200:], y[200:])[0]
    assert "costs " in first
    assert "saves" in first


def test_a_model_without_costs_says_nothing_of_them(rows, tmp_path):
    X, y = rows
    model = MarginBoostClassifier(5, random_state=0).fit(X, y)
    write_report(model, tmp_path / "r.html", X, y)
    text = (tmp_path / "r.html").read_text("utf-8")
    assert "mean cost" not in text
    assert "mean absolute error" not in text


def test_few_right_answers_are_no_blame_where_costs_ask_for_them(rows):
    X, y = rows
    costs = {"mid": {"<low>": 100, "top": 100}}
    model = MarginBoostClassifier(5, random_state=0, cost_matrix=costs).fit(X, y)
    here = np.flatnonzero(y != "mid")[:60]
    found = " ".join(sentences(model, X[here], y[here]))
    assert "no better than that" not in found.split("right on")[1]
    assert "so that mistakes cost little" in found
