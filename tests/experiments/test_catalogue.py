"""Which experiments there are."""

import importlib
import sys

import pytest

from experiments.catalogue import EXPERIMENTS, LINES, named
from experiments.table1 import Table1


def test_experiments_are_found_by_name_in_the_order_of_the_paper():
    assert EXPERIMENTS["table1"] is Table1
    tables = [name for name in EXPERIMENTS if name.startswith("table")]
    assert tables == [f"table{n}" for n in range(1, 9)]
    assert list(LINES) == list(EXPERIMENTS)
    with pytest.raises(KeyError):
        EXPERIMENTS["table9"]


def test_names_that_are_meant():
    assert named(["table2", "table1", "table2"]) == ["table1", "table2"]
    assert named(["table2", "all"]) == [name for name in EXPERIMENTS if name != "choices"]
    assert named(["all", "choices"]) == list(EXPERIMENTS)
    assert named(["choices"]) == ["choices"]
    with pytest.raises(ValueError, match=r"must be one of figure1, .*, or all; got 'table9'"):
        named(["table1", "table9"])


def test_a_package_that_is_missing_is_named_with_the_extra(monkeypatch):
    monkeypatch.delitem(sys.modules, "experiments.table2", raising=False)
    monkeypatch.setitem(sys.modules, "scipy.stats", None)
    with pytest.raises(
        ImportError, match=r"scipy\.stats, which is not installed: pip install '\.\["
    ):
        EXPERIMENTS["table2"]


def test_a_fault_of_our_own_is_not_taken_for_one(monkeypatch):
    def fail(name):
        raise ModuleNotFoundError("No module named 'experiments.gone'", name="experiments.gone")

    monkeypatch.setattr("experiments.catalogue.import_module", fail)
    with pytest.raises(ModuleNotFoundError, match=r"experiments\.gone"):
        EXPERIMENTS["table2"]
    assert importlib.import_module("experiments.table2")
