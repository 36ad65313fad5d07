"""Predictions of the time with more threads."""

import importlib
from pathlib import Path

import numpy as np
import pytest

from marginboost import MarginBoostClassifier, _native


@pytest.fixture(name="tool")
def fixture_tool(monkeypatch):
    monkeypatch.syspath_prepend(Path(__file__).parents[2] / "benchmarks")
    return importlib.import_module("work_and_span")


@pytest.mark.parametrize(
    ("tasks", "threads", "expected"),
    [
        ([], 4, 0),
        ([7], 4, 7),
        ([1, 1, 1, 1, 4], 2, 6),  # the long one comes last
        ([4, 1, 1, 1, 1], 2, 4),
        ([3, 3, 3, 3, 3, 3], 4, 6),
        ([5, 2, 8], 1, 15),
    ],
)
def test_makespan(tool, tasks, threads, expected):
    assert tool.makespan(np.array(tasks, dtype=np.int64), threads) == expected


def test_a_traced_fit_gives_the_model_of_any_other(tool):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((6000, 5))
    y = rng.integers(0, 3, 6000)

    def fit(threads):
        return MarginBoostClassifier(3, calibrate=False, random_state=0, n_jobs=threads).fit(X, y)

    models = {}
    found = tool.traced_fit(lambda: models.setdefault("traced", fit(8)), 1e-6)
    assert np.array_equal(models["traced"].decision_function(X), fit(1).decision_function(X))
    assert found["calls"] > 0
    assert found["dispatch"] == found["calls"] * 1e-6
    assert 0.0 < found["span"] < found["work"]
    assert sum(part["work"] for part in found["parts"].values()) == pytest.approx(found["work"])
    assert sum(found["serial_between"].values()) <= found["serial"] + 1e-9
    _native.start_trace()  # the one before has ended
    assert _native.stop_trace()[0] == []
