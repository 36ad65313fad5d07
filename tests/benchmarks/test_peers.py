"""The comparison with other libraries, in miniature: its machinery, not its numbers."""

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from subprocess import PIPE
from typing import NamedTuple

import pytest

FOLDER = Path(__file__).parents[2] / "benchmarks" / "peers"
LIBRARIES = ("marginboost", "marginboost-100", "sklearn-hgb")
HAVE_LIGHTGBM = find_spec("lightgbm") is not None
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
    pytest.mark.long,
    pytest.mark.skipif(not FOLDER.is_dir(), reason="benchmarks/ is not beside the tests here"),
    pytest.mark.skipif(os.name != "posix", reason="the benchmark ends process groups"),
]


# Runs scripts one after the other, each as it would run alone, but imports what they need once.
PROGRAM = """
import contextlib, io, json, os, runpy, sys
sys.path.insert(0, os.path.dirname(sys.argv[1]))
for line in sys.stdin:
    sys.argv, variables = json.loads(line)
    os.environ.update(variables)
    with contextlib.redirect_stdout(io.StringIO()) as out:
        with contextlib.redirect_stderr(io.StringIO()) as err:
            try:
                runpy.run_path(sys.argv[0], run_name="__main__")
                code = 0
            except SystemExit as end:
                code = end.code
    print(json.dumps([code or 0, out.getvalue(), err.getvalue()]), flush=True)
"""


class Done(NamedTuple):
    returncode: int
    stdout: str
    stderr: str


@pytest.fixture(scope="module")
def run():
    """Return a function that runs a script and returns what it said."""
    command = [sys.executable, "-c", PROGRAM, str(FOLDER / "run.py")]
    with subprocess.Popen(command, stdin=PIPE, stdout=PIPE, text=True) as process:

        def run(*arguments, script="run.py", **variables):
            request = [[str(FOLDER / script), *map(str, arguments)], variables]
            process.stdin.write(json.dumps(request) + "\n")
            process.stdin.flush()
            return Done(*json.loads(process.stdout.readline()))

        yield run


@pytest.fixture(scope="module")
def iris(run, tmp_path_factory):
    """Return the folder of a run on iris; its claims need not hold."""
    out = tmp_path_factory.mktemp("peers")
    options = ["--sets", "iris", "--quick", "--no-growth", "--limit", 120, "--out", out]
    peers = ["lightgbm"] if HAVE_LIGHTGBM else []
    done = run(*options, "--libraries", *LIBRARIES, *peers)
    assert done.returncode in (0, 1), done.stderr
    return out


def record_of(out, library):
    return json.loads((out / f"{library}.json").read_text())["sets/iris/split0"]


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_record_holds_every_measurement(iris, library):
    record = record_of(iris, library)
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


def test_only_missing_keeps_what_is_there(iris, run):
    path = iris / "sklearn-hgb.json"
    before = path.stat().st_mtime_ns
    options = ["--sets", "iris", "--quick", "--no-growth", "--only-missing", "--out", iris]
    run(*options, "--libraries", "sklearn-hgb")
    assert path.stat().st_mtime_ns == before


def test_a_fit_over_the_limit_is_ended_and_said_so(run, tmp_path):
    options = ["--sets", "iris", "--quick", "--no-growth", "--limit", 1e-6, "--out", tmp_path]
    assert run(*options, "--libraries", "sklearn-hgb").returncode == 1
    found = record_of(tmp_path, "sklearn-hgb")["found"]
    assert found["status"] == "limit"
    assert "fit_seconds" not in found
    assert "> 1e-06 s" in (tmp_path / "benchmarks.md").read_text()


def test_missing_data_are_said_in_a_sentence(run, tmp_path):
    options = ["--sets", "letter", "--out", tmp_path, "--libraries", "sklearn-hgb"]
    done = run(*options, MARGINBOOST_DATA=str(tmp_path))
    assert done.returncode == 2
    assert done.stderr.startswith("MARGINBOOST_DATA must name a folder")


def put(out, name, library, **found):
    """Write a record as a run would have."""
    machine = {
        "time": "2026-01-01T00:00:00",
        "cpu": "a",
        "cpus": 2,
        "commit": "0",
        "changed": False,
    }
    request = {"library": library, "set": name, "split": 0, "quick": False}
    path = out / f"{library}.json"
    kept = json.loads(path.read_text()) if path.is_file() else {}
    kept[f"sets/{name}/split0"] = {"request": request, "found": found, "machine": machine}
    path.write_text(json.dumps(kept))


def test_what_was_cut_off_comes_last_and_counts_as_the_limit(run, tmp_path):
    common = {"status": "ok", "log_loss": 1.0, "batch_microseconds": 1.0, "row_microseconds": 9.0}
    for name, error in (("letter", 0.1), ("isolet", 0.3)):
        put(tmp_path, name, "marginboost", error=error, fit_seconds=4.0, peak_bytes=8, **common)
        put(tmp_path, name, "marginboost-100", error=0.3, fit_seconds=2.0, peak_bytes=4, **common)
    put(tmp_path, "letter", "lightgbm", error=0.2, fit_seconds=8.0, peak_bytes=8, **common)
    put(tmp_path, "isolet", "lightgbm", status="limit", limit=200.0, peak_bytes=12)
    done = run(tmp_path, tmp_path, script="table.py")
    for words in (
        "mean rank in test error, with the best peer's as the bound: 1 (at most 2)",
        "error is no higher than the best peer's: 1 (at least 0.667)",
        "mean rank in log loss, with the best peer's as the bound: 1.25 (at most 1.75)",
        "fit that decides, times as fast as LightGBM, geometric mean: 10 (at least 4)",
        "100 rounds, times as fast as LightGBM, geometric mean: 20 (at least 5)",  # of 4 and 100
        "fit of 100 rounds, times as fast as LightGBM, isolet: 100 (at least 10)",
        "decides, LightGBM's over ours, on the set that suits us least: 1 (at least 1)",
        "rounds, LightGBM's over ours, on the set that suits us least: 2 (at least 1)",
    ):
        assert words in done.stdout, done.stdout + done.stderr
    page = (tmp_path / "benchmarks.md").read_text()
    assert "| isolet | **30.00** | **30.00** | > 200 s |" in page
    assert "| isolet | 2 | >100 | 100 |" in page
    assert "| mean rank (2 sets) | 1.00 | 1.50 | 2.00 |" in page  # 0.3 against 0.2, then none


def test_no_claim_of_time_holds_where_ours_was_cut_off(run, tmp_path):
    put(tmp_path, "isolet", "marginboost", status="limit", limit=200.0)
    put(tmp_path, "isolet", "lightgbm", status="ok", error=0.2, log_loss=1.0, fit_seconds=800.0)
    done = run(tmp_path, tmp_path, script="table.py")
    assert "PASS" not in done.stdout
    assert "error is no higher than the best peer's: 0 " in done.stdout


@pytest.mark.skipif(not HAVE_LIGHTGBM, reason="needs lightgbm, of the extra bench")
def test_a_peer_is_measured_too(iris):
    found = record_of(iris, "lightgbm")["found"]
    assert found["status"] == "ok"
    assert found["row_way"] == "Booster.predict"
