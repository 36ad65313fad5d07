"""What changes of the rules of the defaults do: benchmarks/unfamiliar/rules.py."""

import argparse
import json
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from benchmarks.unfamiliar import rule_sets, rules


@pytest.mark.parametrize("name", rules.RULES)
def test_a_rule_was_compared_as_the_package_has_it(name):
    rule = rules.RULES[name]
    module, _, constant = rule.constant.rpartition(".")
    assert getattr(import_module(f"marginboost.{module}"), constant) == rule.after
    with rules.changed(rule.constant, rule.before):
        assert getattr(import_module(f"marginboost.{module}"), constant) == rule.before
    assert getattr(import_module(f"marginboost.{module}"), constant) == rule.after != rule.before


def test_a_rare_class_stands_against_all_others():
    assert np.bincount(rule_sets.load("iris=1").y).tolist() == [100, 50]


def test_integer_weights_are_drawn_where_the_name_asks_for_them():
    assert len(rule_sets.load("iris~3").y) == 150
    assert set(rule_sets.weights("iris~3", 150)) == {1, 2, 3}
    assert rule_sets.weights("iris~bag", 150).sum() == 150
    assert rule_sets.weights("iris", 150) is None


def test_sets_are_made_or_drawn_as_the_name_asks(monkeypatch):
    made = rule_sets.load("made:90:30:5:10")
    assert made.X.shape == (90, 30)
    assert set(made.y) == {0, 1, 2, 3}
    y = np.repeat([0, 1, 2], [60, 30, 1])  # a single row cannot be drawn evenly
    test = np.arange(91) % 3 == 0
    monkeypatch.setattr(rule_sets.data, "read", lambda name: (np.arange(91.0)[:, None], y, test))
    drawn = rule_sets.load("letter:30")
    assert np.bincount(drawn.y).tolist() == [20, 10]


def test_sparse_rows_keep_their_classes():
    X = csr_matrix(np.arange(40.0).reshape(20, 2))
    rare = np.repeat(["a", "b", "c"], [10, 9, 1])
    sparse = rule_sets.sparse_problem(X, rare)  # without the class of one row
    np.testing.assert_array_equal(sparse.X.toarray(), X.toarray()[:19])
    assert np.bincount(sparse.y).tolist() == [10, 9]


def test_a_set_that_fails_does_not_end_the_others(monkeypatch, tmp_path, capsys):
    rule = rules.Rule(*("estimators.candidates.WIDE", 3, 200), ("nothing", "made:60:4:3:0"))
    monkeypatch.setattr(rules, "RULES", {"few": rule})
    out = tmp_path / "rules.json"
    given = {"rules": ["few"], "processes": 1, "gpu": False, "commit": "", "out": out}
    rules.run(argparse.Namespace(**given))
    assert "few nothing " in capsys.readouterr().out
    (found,) = json.loads(out.read_text())["few"]["results"].values()
    assert set(found) == {"before", "after", "source"}


def test_ratios_of_rules_are_after_over_before():
    one = {
        "before": {"wrong": 10, "loss": 4.0, "seconds": 2.0},
        "after": {"wrong": 9, "loss": 3.0, "seconds": 3.0},
    }
    np.testing.assert_allclose(
        np.exp(rules.logs_of_ratios({"set": one})), [[9.5 / 10.5, 0.75, 1.5]]
    )


@pytest.mark.parametrize("name", rules.RULES)
def test_the_page_has_the_numbers_of_the_rules(name):
    page_text = (Path(__file__).parents[2] / "docs" / "defaults.md").read_text()
    ratios = rules.logs_of_ratios(json.loads(rules.FILE.read_text())[name]["results"])
    changed = rules.where_changed(ratios)
    error, loss, seconds = np.exp(changed.mean(axis=0))
    assert len(ratios) == len(rules.RULES[name].sets)
    assert (
        f"| {len(changed)} of {len(ratios)} | {error:.3f} | {loss:.3f} | {seconds:.2f} |"
        in page_text
    )
