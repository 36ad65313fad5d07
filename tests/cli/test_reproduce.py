"""``marginboost reproduce``: finds the experiments, runs them, and says what came of it."""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from page_support import ROOT

if not (ROOT / "experiments" / "__init__.py").exists():
    pytest.skip("a source distribution has no experiments", allow_module_level=True)
pytest.importorskip("pooch")
pytest.importorskip("matplotlib")

from experiments_support import Flowers

from experiments import catalogue, reproduce
from marginboost.cli.reproduction import find_checkout


@pytest.fixture
def checkout(monkeypatch):
    """The repository as the current folder, with one small experiment in it."""
    monkeypatch.chdir(ROOT)
    monkeypatch.delenv("MARGINBOOST_DEBUG", raising=False)
    monkeypatch.setattr(reproduce, "EXPERIMENTS", {"flowers": Flowers})
    return ROOT


def test_experiments_are_listed(folder, run, monkeypatch):
    monkeypatch.chdir(ROOT / "docs")  # below the checkout does as well
    result = run("reproduce")
    assert result.exit_code == 0, result.stderr
    lines = result.stdout.splitlines()
    assert [line.split()[0] for line in lines] == list(catalogue.EXPERIMENTS)
    assert [line.split()[0] for line in lines if "not in all" in line] == ["choices"]
    assert "marginboost reproduce NAME" in result.stderr


def test_outside_of_a_checkout(folder, run):
    result = run("reproduce", "table1")
    assert result.exit_code == 1
    assert result.stderr.count("\n") == 1
    assert "must be run inside a checkout" in result.stderr


def test_another_project_with_experiments_is_not_taken(folder):
    (folder / "experiments").mkdir()
    (folder / "experiments" / "__init__.py").touch()
    for content in ('[project]\nname = "other"', "not [toml"):
        (folder / "pyproject.toml").write_text(content)
        with pytest.raises(ValueError, match="inside a checkout"):
            find_checkout(folder)
    (folder / "pyproject.toml").write_text('[project]\nname = "marginboost"')
    (folder / "deep" / "down").mkdir(parents=True)
    assert find_checkout(folder / "deep" / "down") == folder


def test_a_name_that_is_not_there(run, monkeypatch):
    monkeypatch.chdir(ROOT)
    result = run("reproduce", "tabel1")
    assert result.exit_code == 1
    assert "must be one of figure1" in result.stderr


def test_an_experiment_is_run(checkout, run, tmp_path):
    result = run("reproduce", "flowers", "--repeats", 1, "--jobs", 1, "--out", tmp_path)
    assert result.exit_code == 0, result.stderr
    assert f"Results: {tmp_path / 'results.md'} and {tmp_path / 'results.html'}" in result.stdout
    assert "flowers: 4 of 4 trials" in result.stderr
    assert (tmp_path / "flowers.json").is_file()


def test_a_page_from_results(checkout, run, tmp_path):
    run("reproduce", "flowers", "--repeats", 1, "--jobs", 1, "--out", tmp_path / "a")
    result = run("reproduce", "--page-from", tmp_path / "a", "--out", tmp_path / "b")
    assert result.exit_code == 0, result.stderr
    assert (tmp_path / "b" / "results.html").is_file()
    for more in ("flowers", "--small"):
        result = run("reproduce", more, "--page-from", tmp_path / "a")
        assert result.exit_code == 1
        assert "without names and without --small" in result.stderr
    result = run("reproduce", "--page-from", tmp_path / "none", "--out", tmp_path / "b")
    assert result.exit_code == 1
    assert "must hold results" in result.stderr


def test_a_page_for_the_documentation(checkout, run, tmp_path):
    run("reproduce", "flowers", "--repeats", 1, "--jobs", 1, "--out", tmp_path / "a")
    options = ["--out", tmp_path / "b", "--docs", tmp_path / "docs"]
    result = run("reproduce", "--page-from", tmp_path / "a", *options)
    assert result.exit_code == 0, result.stderr
    names = {path.relative_to(tmp_path / "docs").as_posix() for path in (tmp_path / "docs").rglob("*.*")}
    assert names == {"results.md", "results/flowers.png"}
    result = run("reproduce", "flowers", "--docs", tmp_path / "docs")
    assert result.exit_code == 1
    assert "--docs must stand with --page-from" in result.stderr


def test_where_results_go(checkout, run, tmp_path, monkeypatch):
    for name in ("OUT", "OUT_SMALL", "OUT_PAGE"):
        folder = getattr(reproduce, name)
        assert not folder.is_absolute()
        monkeypatch.setattr(reproduce, name, tmp_path / folder)
    for options, folder in (((), "reproduce"), (("--small",), "reproduce-small")):
        result = run("reproduce", "flowers", "--repeats", 1, "--jobs", 1, *options)
        assert result.exit_code == 0, result.stderr
        assert f"Results: {tmp_path / 'out' / folder / 'results.md'} and" in result.stdout
    result = run("reproduce", "--page-from", tmp_path / "out" / "reproduce-small")
    assert f"Results: {tmp_path / 'out' / 'results' / 'results.md'} and" in result.stdout
    result = run("reproduce", "flowers", "--small", "--out", tmp_path / "out" / "reproduce")
    assert result.exit_code == 1
    assert "must hold small results" in result.stderr


def test_what_fails_is_said_and_the_status_tells(checkout, run, tmp_path, monkeypatch):
    def fail(self, trial, n_jobs):
        raise ValueError("It must work; it did not.")

    monkeypatch.setattr(Flowers, "run", fail)
    result = run("reproduce", "flowers", "--jobs", 1, "--out", tmp_path)
    assert result.exit_code == 1
    assert "flowers failed: It must work; it did not." in result.stderr
    assert "Traceback" not in result.stderr
    result = run("--debug", "reproduce", "flowers", "--jobs", 1, "--out", tmp_path)
    assert "Traceback" in result.stderr


def test_nothing_that_can_be_run(checkout, run, tmp_path):
    result = run("reproduce", "flowers", "--data", "letter", "--jobs", 1, "--out", tmp_path)
    assert result.exit_code == 1
    assert "flowers has no trial of letter." in result.stderr
    assert "Nothing could be run." in result.stderr


def test_ctrl_c_says_how_to_go_on(checkout, run, tmp_path, monkeypatch):
    def interrupt(self, trial, n_jobs):
        raise KeyboardInterrupt

    monkeypatch.setattr(Flowers, "run", interrupt)
    result = run("reproduce", "flowers", "--jobs", 1, "--out", tmp_path)
    assert result.exit_code == 130
    assert "the same command goes on from there" in result.stderr


@pytest.mark.skipif(os.name != "posix", reason="signals are POSIX's")
def test_ctrl_c_with_processes(tmp_path):
    """All processes of the terminal get the signal; one sentence is said, and records are kept."""
    shutil.copytree(ROOT / "experiments", tmp_path / "experiments",
                    ignore=shutil.ignore_patterns("__pycache__", "results"))  # fmt: skip
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "marginboost"')
    command = [sys.executable, "-m", "marginboost", "reproduce", "table1", "--jobs", "2"]
    options = ["--data", "iris", "--method", "exp", "--repeats", "1000"]
    environment = {k: v for k, v in os.environ.items() if k != "MARGINBOOST_DEBUG"}
    process = subprocess.Popen(
        [*command, *options],
        cwd=tmp_path,
        env=environment,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    records = Path(tmp_path) / "out" / "reproduce" / "records" / "table1.jsonl"
    try:
        while not (records.is_file() and records.stat().st_size) and process.poll() is None:
            time.sleep(0.05)
        os.killpg(process.pid, signal.SIGINT)
        _, errors = process.communicate(timeout=300)
    finally:
        process.kill()
    assert process.returncode == 130, errors
    assert "the same command goes on from there" in errors
    assert "Traceback" not in errors
