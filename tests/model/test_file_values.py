"""Values of parameters as text, and back."""

import numpy as np
import pytest

from marginboost import ModelFileError
from marginboost.model.file_text import as_text, from_text
from marginboost.model.file_values import from_plain, to_plain


@pytest.mark.parametrize(
    "value",
    [
        None, True, 5, -0.0, 1e-300, "text", [], (), {}, [1, (2.5, "a")], {1: 2.0, "1": 3, None: []},
        {True: 0.5, "yes": 1}, float("inf"), -float("inf"), 10**30,
        {3}, {"a"}, set(), {("good", "bad"): 1, 2: {(1, None): -1}}, [{0}, (1, 2)],
    ],
)  # fmt: skip
def test_values_of_parameters_survive(value):
    found = from_plain(from_text(as_text(to_plain(value))))
    assert repr(found) == repr(value)


def test_sets_are_written_in_order():
    assert to_plain({3, "b", 1, "a"}) == {"set": [1, 3, "a", "b"]}
    assert from_plain(to_plain(frozenset({2, 1}))) == {1, 2}


def test_numpy_values_of_parameters_become_those_of_python():
    assert repr(to_plain(np.float64(0.1))) == "0.1"
    assert repr(to_plain({np.int8(3): np.bool_(True)})) == "{'dict': [[3, True]]}"
    assert to_plain(np.array([[1, 2]])) == [[1, 2]]
    assert np.isnan(from_plain(to_plain(np.nan)))


@pytest.mark.parametrize(
    "value", [print, object(), {1: b"x"}, b"bytes", np.array(["2020"], "M8[D]")]
)
def test_values_that_cannot_be_saved(value):
    with pytest.raises(ValueError, match="A saved parameter must be text"):
        to_plain(value)


@pytest.mark.parametrize(
    "plain",
    [
        {}, {"float": "1"}, {"float": 1}, {"tuple": 1}, {"dict": [1]}, {"dict": [[[], 1]]},
        {"dict": [[1, 2], [1, 3]]}, {"dict": [[1, 2], [True, 3]]}, {"list": []}, {"a": 1, "b": 2},
        {"set": 1}, {"set": [1, 1]}, {"set": [[]]}, {"dict": [[{"tuple": 1}, 1]]},
        {"dict": [[{"tuple": [[]]}, 1]]}, {"dict": [[{"set": [1]}, 1]]},
    ],
)  # fmt: skip
def test_values_that_are_not_written_so(plain):
    with pytest.raises(ModelFileError, match="a value must be of a known type"):
        from_plain(plain)
