"""The comparison with other libraries, in miniature: its machinery, not its numbers."""

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "benchmarks" / "peers"
LIBRARIES = ("marginboost", "sklearn-hgb")
NUMBERS = (
    "error",
    "log_loss",
    "fit_seconds",
    "batch_microseconds",
    "row_microseconds",
    "peak_bytes",
    "model_bytes",
)

pytestmark = [
    pytest.mark.skipif(not FOLDER.is_dir(), reason="benchmarks/ is not beside the tests here"),
    pytest.mark.skipif(os.name != "posix", reason="the benchmark ends process groups"),
]


def run(*arguments, **variables):
    command = [sys.executable, str(FOLDER / "run.py"), *map(str, arguments)]
    return subprocess.run(
        command, capture_output=True, text=True, check=False, env=os.environ | variables, timeout=300
    )


@pytest.fixture(scope="module")
def iris(tmp_path_factory):
    """Return the folder of a run on iris; its claims need not hold."""
    out = tmp_path_factory.mktemp("peers")
    options = ["--sets", "iris", "--quick", "--no-growth", "--limit", 120, "--out", out]
    done = run(*options, "--libraries", *LIBRARIES)
    assert done.returncode in (0, 1), done.stderr
    return out


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_record_holds_every_measurement(iris, library):
    record = json.loads((iris / "sets" / "iris" / f"split0-{library}.json").read_text())
    assert record["request"] == {"library": library, "set": "iris", "split": 0, "quick": True}
    found = record["found"]
    assert found["status"] == "ok"
    assert (found["rows"], found["test_rows"], found["features"], found["classes"]) == (
        100,
        50,
        4,
        3,
    )
    for number in NUMBERS:
        assert isinstance(found[number], (int, float)), number
        assert found[number] >= 0, number
    assert found["error"] < 0.2
    assert record["machine"]["versions"]["marginboost"]


def test_the_page_shows_the_sets_and_the_claims(iris):
    page = (iris / "benchmarks.md").read_text()
    assert "| iris | 100 | 50 | 4 | 3 | 1 |" in page
    assert "mean rank in test error" in page
    assert (iris / "peers_error.png").is_file()


def test_only_missing_keeps_what_is_there(iris):
    path = iris / "sets" / "iris" / "split0-sklearn-hgb.json"
    before = path.stat().st_mtime_ns
    options = ["--sets", "iris", "--quick", "--no-growth", "--only-missing", "--out", iris]
    run(*options, "--libraries", "sklearn-hgb")
    assert path.stat().st_mtime_ns == before


def test_a_fit_over_the_limit_is_ended_and_said_so(tmp_path):
    options = ["--sets", "iris", "--quick", "--no-growth", "--limit", 1e-6, "--out", tmp_path]
    assert run(*options, "--libraries", "sklearn-hgb").returncode == 1
    found = json.loads((tmp_path / "sets/iris/split0-sklearn-hgb.json").read_text())["found"]
    assert found["status"] == "limit"
    assert "fit_seconds" not in found
    assert "> 1e-06 s" in (tmp_path / "benchmarks.md").read_text()


def test_missing_data_are_said_in_a_sentence(tmp_path):
    options = ["--sets", "letter", "--out", tmp_path, "--libraries", "sklearn-hgb"]
    done = run(*options, MARGINBOOST_DATA=str(tmp_path))
    assert done.returncode == 2
    assert done.stderr.startswith("MARGINBOOST_DATA must name a folder")


@pytest.mark.skipif(find_spec("lightgbm") is None, reason="needs lightgbm, of the extra bench")
def test_a_peer_is_measured_too(tmp_path):
    options = ["--sets", "iris", "--quick", "--no-growth", "--limit", 120, "--out", tmp_path]
    run(*options, "--libraries", "lightgbm")
    found = json.loads((tmp_path / "sets/iris/split0-lightgbm.json").read_text())["found"]
    assert found["status"] == "ok"
    assert found["row_way"] == "Booster.predict"
