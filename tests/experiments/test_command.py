"""``python -m experiments``: lists experiments, runs them, and prints what came of it."""

import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pytest
from experiments_support import Flowers
from page_support import ROOT

from experiments import catalogue, command, reproduce


@dataclass(frozen=True)
class Result:
    exit_code: int
    stdout: str
    stderr: str


@pytest.fixture
def run(capfd):
    """Run the command in this process, and return its status and what it printed."""

    def invoke(*arguments):
        try:
            status = command.main([str(argument) for argument in arguments])
        except SystemExit as end:  # wrong usage
            status = end.code
        return Result(status, *capfd.readouterr())

    return invoke


@pytest.fixture
def flowers(monkeypatch):
    """One small experiment in place of the paper's."""
    monkeypatch.setattr(reproduce, "EXPERIMENTS", {"flowers": Flowers})


def test_experiments_are_listed(run):
    result = run()
    assert result.exit_code == 0, result.stderr
    lines = result.stdout.splitlines()
    assert [line.split()[0] for line in lines] == list(catalogue.EXPERIMENTS)
    assert [line.split()[0] for line in lines if "not in all" in line] == ["choices"]
    assert "python -m experiments NAME" in result.stderr


def test_it_is_a_program():
    """With the checkout as the current folder, and nothing of the installed command line."""
    code = (
        "import runpy, sys; sys.argv = ['experiments', '--help']\n"
        "try: runpy.run_module('experiments', run_name='__main__')\n"
        "except SystemExit as end: assert end.code == 0\n"
        "assert not any(name.startswith(('marginboost.cli', 'typer', 'polars')) for name in sys.modules)"
    )
    found = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert found.returncode == 0, found.stderr
    assert found.stdout.startswith("usage: python -m experiments")


def test_a_missing_package_is_named():
    hide = "import sys; sys.modules['joblib'] = None; from experiments.__main__ import main; main()"
    found = subprocess.run(
        [sys.executable, "-c", hide], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert found.returncode == 1
    assert found.stderr.count("\n") == 1
    assert "joblib" in found.stderr
    assert "pip install '.[experiments]'" in found.stderr


@pytest.mark.parametrize("options", ["--repeats 0", "--jobs x", "--rep 1", "--device tpu"])
def test_wrong_usage(run, options):
    result = run("table1", *options.split())
    assert result.exit_code == 2
    assert result.stderr.startswith("usage: ")


def test_a_name_that_is_not_there(run):
    result = run("tabel1")
    assert result.exit_code == 1
    assert "must be one of figure1" in result.stderr


def test_an_experiment_is_run(flowers, run, tmp_path):
    result = run("flowers", "--repeats", 1, "--jobs", 1, "--out", tmp_path)
    assert result.exit_code == 0, result.stderr
    assert f"Results: {tmp_path / 'results.md'} and {tmp_path / 'results.html'}" in result.stdout
    assert "flowers: 4 of 4 trials" in result.stderr
    assert (tmp_path / "flowers.json").is_file()


def test_a_page_from_results(flowers, run, tmp_path):
    run("flowers", "--repeats", 1, "--jobs", 1, "--out", tmp_path / "a")
    result = run("--page-from", tmp_path / "a", "--out", tmp_path / "b")
    assert result.exit_code == 0, result.stderr
    assert (tmp_path / "b" / "results.html").is_file()
    for more in ("flowers", "--small"):
        result = run(more, "--page-from", tmp_path / "a")
        assert result.exit_code == 2
        assert "takes no names and no --small" in result.stderr
    result = run("--page-from", tmp_path / "none", "--out", tmp_path / "b")
    assert result.exit_code == 1
    assert "must hold results" in result.stderr


def test_a_page_for_the_documentation(flowers, run, tmp_path):
    run("flowers", "--repeats", 1, "--jobs", 1, "--out", tmp_path / "a")
    options = ["--out", tmp_path / "b", "--docs", tmp_path / "docs"]
    result = run("--page-from", tmp_path / "a", *options)
    assert result.exit_code == 0, result.stderr
    names = {
        path.relative_to(tmp_path / "docs").as_posix() for path in (tmp_path / "docs").rglob("*.*")
    }
    pictures = {"results/flowers.png", "results/summary.png"}
    assert names == {"results.md", "results/flowers.md", "results/runs.md"} | pictures
    result = run("flowers", "--docs", tmp_path / "docs")
    assert result.exit_code == 2
    assert "--docs needs --page-from" in result.stderr


def test_where_results_go(flowers, run, tmp_path, monkeypatch):
    for name in ("OUT", "OUT_SMALL", "OUT_PAGE"):
        folder = getattr(reproduce, name)
        assert not folder.is_absolute()
        monkeypatch.setattr(reproduce, name, tmp_path / folder)
    for options, folder in (((), "reproduce"), (("--small",), "reproduce-small")):
        result = run("flowers", "--repeats", 1, "--jobs", 1, *options)
        assert result.exit_code == 0, result.stderr
        assert f"Results: {tmp_path / 'out' / folder / 'results.md'} and" in result.stdout
    result = run("--page-from", tmp_path / "out" / "reproduce-small")
    assert f"Results: {tmp_path / 'out' / 'results' / 'results.md'} and" in result.stdout
    result = run("flowers", "--small", "--out", tmp_path / "out" / "reproduce")
    assert result.exit_code == 1
    assert "must hold small results" in result.stderr


def test_what_fails_is_said_and_the_status_tells(flowers, run, tmp_path, monkeypatch):
    def fail(self, trial, n_jobs):
        raise ValueError("It must work; it did not.")

    monkeypatch.setattr(Flowers, "run", fail)
    result = run("flowers", "--jobs", 1, "--out", tmp_path)
    assert result.exit_code == 1
    assert "flowers failed: It must work; it did not." in result.stderr
    assert "Traceback" not in result.stderr
    result = run("--debug", "flowers", "--jobs", 1, "--out", tmp_path)
    assert "Traceback" in result.stderr


def test_nothing_that_can_be_run(flowers, run, tmp_path):
    result = run("flowers", "--data", "letter", "--jobs", 1, "--out", tmp_path)
    assert result.exit_code == 1
    assert "flowers has no trial of letter." in result.stderr
    assert "Nothing could be run." in result.stderr


def test_ctrl_c_says_how_to_go_on(flowers, run, tmp_path, monkeypatch):
    def interrupt(self, trial, n_jobs):
        raise KeyboardInterrupt

    monkeypatch.setattr(Flowers, "run", interrupt)
    result = run("flowers", "--jobs", 1, "--out", tmp_path)
    assert result.exit_code == 130
    assert "run the same command to continue" in result.stderr


@pytest.mark.skipif(os.name != "posix", reason="signals are POSIX's")
def test_ctrl_c_with_processes(tmp_path):
    """All processes of the terminal get the signal; one sentence is said, and records are kept."""
    shutil.copytree(ROOT / "experiments", tmp_path / "experiments",
                    ignore=shutil.ignore_patterns("__pycache__", "results"))  # fmt: skip
    program = [sys.executable, "-m", "experiments", "table1", "--jobs", "2"]
    options = ["--data", "iris", "--method", "exp", "--repeats", "1000"]
    process = subprocess.Popen(
        [*program, *options],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    records = Path(tmp_path) / "out" / "reproduce" / "records" / "table1.jsonl"
    try:
        while not (records.is_file() and records.stat().st_size) and process.poll() is None:
            time.sleep(0.05)
        os.killpg(process.pid, signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 130, errors
    assert "run the same command to continue" in errors
    assert "Traceback" not in errors
