"""What users give as costs and orders becomes a matrix, or a sentence that says what must hold."""

import re

import numpy as np
import pandas as pd
import polars as pl
import pytest

from marginboost.data.costs import order_of_labels, read_costs, read_ranks

NAMES = np.array(["high", "low", "mid"])
ORDER = ["low", "mid", "high"]
DISTANCES = [[0, 2, 1], [2, 0, 1], [1, 1, 0]]


def test_nothing_given_is_nothing():
    assert read_costs(None, NAMES) == (None, None)
    assert read_costs("equal", NAMES) == (None, None)
    assert read_ranks(None, NAMES) is None


def test_an_order_gives_distances():
    ranks = read_ranks(ORDER, NAMES)
    assert ranks.tolist() == [2, 0, 1]
    for name in (None, "ordinal"):
        costs, same = read_costs(name, NAMES, ranks)
        assert costs.tolist() == DISTANCES
        assert same is ranks
    assert read_costs("equal", NAMES, ranks)[0] is None


def test_numbers_are_ordered_by_themselves():
    costs, ranks = read_costs("ordinal", np.array([3, 5, 9]))
    assert ranks.tolist() == [0, 1, 2]
    assert costs[0].tolist() == [0, 1, 2]


def test_labels_that_are_not_there_keep_their_places():
    ranks = read_ranks(["none", "low", "some", "mid", "high"], NAMES)
    assert ranks.tolist() == [4, 1, 3]


def test_a_dictionary_says_what_is_different():
    costs, _ = read_costs({"low": {"high": 7.5, "mid": 0}, "high": {"high": 0.5}}, NAMES)
    assert costs.tolist() == [[0.5, 1, 1], [7.5, 0, 0], [1, 1, 0]]


def test_a_dictionary_may_name_what_the_order_names():
    given = {"low": {"top": 7, "mid": 3}, "top": {"low": 2}}
    costs, _ = read_costs(given, NAMES, None, ["low", "mid", "high", "top"])
    assert costs.tolist() == [[0, 1, 1], [1, 0, 3], [1, 1, 0]]


def test_a_matrix_is_copied():
    given = np.array([[0, 1, 2], [1, 0, 1], [3, 1, 0]])
    costs, _ = read_costs(given, NAMES)
    assert costs.dtype == np.float64
    given[:] = 9
    assert costs[0].tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("ordinary", 'must be "ordinal", "equal", a matrix.*got \'ordinary\''),
        ("ordinal", "needs the order of the classes.*set classes_order"),
        ([[0, 1], [1, 0]], "must have 3 rows and columns.*got 2"),
        ([0, 1, 2], r"a row per true class.*shape \(3,\)"),
        ([[0, 1, 1], [1, 0, 1]], r"got an array of shape \(2, 3\)"),
        ([[0, "a"], [1, 0]], "must hold numbers"),
        ([[0, 1, -2], [1, 0, 1], [1, 1, 0]], "finite numbers, 0 or more; got -2"),
        ([[0, 1, np.nan], [1, 0, 1], [1, 1, 0]], "finite numbers, 0 or more; got nan"),
        ([[0, 1, np.inf], [1, 0, 1], [1, 1, 0]], "finite numbers, 0 or more; got inf"),
        (
            [[0, 1, 1], [1, 2, 1], [1, 1, 0]],
            "least cost of each row on the diagonal.*'low' costs 2",
        ),
        (np.zeros((3, 3)), "some mistake that costs more"),
        ({"low": 3}, "must have a dictionary.*got 3 for 'low'"),
        ({"low": {"high": "a lot"}}, "must hold numbers"),
        ({"low": {"hihg": 2}}, "must name classes of y, 'high', 'low', 'mid'; got 'hihg'"),
        ({"lo": {"high": 2}}, "got 'lo'"),
    ],
)
def test_sentences_about_costs(given, words):
    with pytest.raises(ValueError, match=words):
        read_costs(given, NAMES)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("low,mid,high", "must be a list of labels.*got 'low,mid,high'"),
        (3, "must be a list of labels"),
        ([["low"], ["mid"]], "must be a list of labels"),
        (["low", "mid", "low", "high"], "every label once; got 'low' twice"),
        (["low", "mid"], "must name every class of y; it lacks 'high'"),
    ],
)
def test_sentences_about_orders(given, words):
    with pytest.raises(ValueError, match=words):
        read_ranks(given, NAMES)


def test_many_missing_labels_are_not_all_named():
    with pytest.raises(ValueError, match=re.escape("it lacks 0, 1, 2, 3, 4, ...")):
        read_ranks([9], np.arange(10))


def test_ordered_targets():
    y = ["low", "high", "mid"]
    ordered = pd.Categorical(y, categories=ORDER, ordered=True)
    assert order_of_labels(ordered) == ORDER
    assert order_of_labels(pd.Series(ordered)) == ORDER
    assert order_of_labels(pl.Series(y, dtype=pl.Enum(ORDER))) == ORDER


def test_targets_without_an_order():
    y = ["low", "high", "mid"]
    for target in (
        y,
        np.array(y),
        pd.Series(y),
        pd.Categorical(y),
        pl.Series(y, dtype=pl.Categorical),
    ):
        assert order_of_labels(target) is None
