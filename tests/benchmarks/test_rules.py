"""What changes of the rules of the defaults do: benchmarks/unfamiliar/rules.py."""

import json
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from benchmarks.unfamiliar import rules


@pytest.mark.parametrize("name", rules.RULES)
def test_a_rule_was_compared_as_the_package_has_it(name):
    rule = rules.RULES[name]
    module, _, constant = rule.constant.rpartition(".")
    assert getattr(import_module(f"marginboost.{module}"), constant) == rule.after
    with rules.changed(rule.constant, rule.before):
        assert getattr(import_module(f"marginboost.{module}"), constant) == rule.before
    assert getattr(import_module(f"marginboost.{module}"), constant) == rule.after != rule.before


def test_a_rare_class_stands_against_all_others():
    assert np.bincount(rules.load("iris=1").y).tolist() == [100, 50]


def test_integer_weights_are_drawn_where_the_name_asks_for_them():
    assert len(rules.load("iris~3").y) == 150
    assert set(rules.weights("iris~3", 150)) == {1, 2, 3}
    assert rules.weights("iris~bag", 150).sum() == 150
    assert rules.weights("iris", 150) is None


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
