"""The benchmark of rows in files, in miniature: its machinery, not its numbers."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

FILE = Path(__file__).parents[2] / "benchmarks" / "out_of_core.py"

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(not FILE.is_file(), reason="benchmarks/ is not beside the tests here"),
]


def test_a_small_fit_is_measured(tmp_path):
    out = tmp_path / "found.json"
    (tmp_path / "files").mkdir()
    given = ("--rows", "3000", "--columns", "4", "--rounds", "2", "--folder", tmp_path / "files")
    command = [sys.executable, FILE, *given, "--out", out]
    subprocess.run(command, check=True, capture_output=True)
    found = json.loads(out.read_text())
    assert list(found["passes"]) == ["labels", "features", "rounds"]
    assert found["file_bytes"] > 3000 * 24
    assert found["peak_bytes"] >= found["bytes_before"] > 0
    assert not list((tmp_path / "files").iterdir())
