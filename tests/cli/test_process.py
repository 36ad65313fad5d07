"""The command as a process of its own: status, streams, signals, and a machine without the extra."""

import gzip
import os
import signal
import subprocess
import sys
import time

import numpy as np
import polars as pl
import pytest

import marginboost

COMMAND = [sys.executable, "-m", "marginboost"]


def run(*arguments, **options):
    return subprocess.run(
        [*COMMAND, *arguments], capture_output=True, text=True, timeout=300, check=False, **options
    )


def test_a_failure(folder):
    found = run("train", "absent.csv", "--target", "t")
    assert (found.returncode, found.stdout) == (1, "")
    assert found.stderr == "marginboost: absent.csv: No such file or directory.\n"


SLOW = {"numpy", "scipy", "sklearn", "polars", "pandas", "narwhals", "rich", "marginboost._native"}


def run_and_list(*arguments, stdin=""):
    """Run a command; return its status, its errors and the slow modules that it has imported."""
    program = (
        "import atexit, sys\n"
        f"sys.argv = ['marginboost', *{arguments!r}]\n"
        f"atexit.register(lambda: print(*{SLOW!r}.intersection(sys.modules)))\n"
        "from marginboost.cli import main\n"
        "main()"
    )
    found = subprocess.run(
        [sys.executable, "-c", program],
        input=stdin, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    return found.returncode, found.stderr, set(found.stdout.splitlines()[-1].split())


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (("--version",), 0),
        (("train", "t.csv", "--target", "q"), 1),
        (("train", "t.csv"), 2),
        (("train", "t.txt.gz", "--target", "t", "--drop", "q"), 1),
        (("train", "absent.csv", "--target", "t"), 1),
        (("train", "t.csv", "--target", "t", "--test", "absent.csv"), 1),
        (("train", "t.csv", "--target", "t", "--loss", "q"), 2),
        (("train", "t.csv", "--target", "t", "--out", "t.csv"), 2),
        (("train", "t.csv", "--target", "t", "--separator", "q q"), 2),
        (("train", "t.doc", "--target", "t"), 2),
        (("predict", "absent.safetensors", "t.csv"), 1),
        (("predict", "m.safetensors", "absent.csv"), 1),
        (("predict", "m.safetensors", "t.csv", "--out", "t.doc"), 2),
        (("predict", "m.safetensors", "t.csv", "--keep", "q"), 1),
        (("report", "m.safetensors", "t.csv", "--target", "q"), 1),
        (("inspect", "t.csv"), 2),
        (("nothing",), 2),
    ],
)
def test_mistakes_are_found_before_slow_imports(folder, arguments, status):
    (folder / "t.csv").write_text("a,t\n1,x\n2,y\n")
    (folder / "t.txt.gz").write_bytes(gzip.compress(b"a\tt\n1\tx\n2\ty\n"))
    (folder / "m.safetensors").write_text("not read")
    found, errors, slow = run_and_list(*arguments)
    assert (found, slow) == (status, set()), errors


def test_wrong_names_in_parquet_are_found_without_scikit_learn(folder):
    pl.DataFrame({"a": [1, 2], "t": ["x", "y"]}).write_parquet("t.parquet")
    status, errors, slow = run_and_list("train", "t.parquet", "--target", "q")
    assert (status, "The columns are 'a', 't'." in errors) == (1, True)
    assert slow == {"polars"}


def test_missing_columns_are_found_before_the_model_is_loaded(folder):
    table = pl.DataFrame(
        {"length": [0.0, 1.0] * 50, "width": [1.0, 2.0] * 50, "t": ["x", "y"] * 50}
    )
    table.write_csv("t.csv")
    assert run("train", "t.csv", "--target", "t", "--rounds", "3", "-q").returncode == 0
    table.drop("width").rename({"length": "lenght"}).write_csv("two.csv")
    table.rename({"length": "lenght"}).write_csv("one.csv")
    for file, message in [
        ("one.csv", "it lacks 'length': did you mean 'lenght'?"),
        ("two.csv", "it lacks 2: 'length', 'width'."),
    ]:
        status, errors, slow = run_and_list("predict", "t.safetensors", file)
        assert (status, message in errors, slow) == (1, True, {"numpy"}), errors


@pytest.mark.parametrize("package", ["typer", "polars"])
def test_what_is_missing_is_named(folder, package):
    (folder / "t.jsonl").write_text('{"a": 1, "t": 2}')
    hide = (
        f"import sys; sys.modules[{package!r}] = None\n"
        "sys.argv[1:] = 'train t.jsonl --target t'.split()\n"
        "from marginboost.cli import main; main()"
    )
    found = subprocess.run(
        [sys.executable, "-c", hide], capture_output=True, text=True, timeout=300, check=False
    )
    assert found.returncode == 1
    assert found.stderr.count("\n") == 1
    assert "pip install 'marginboost[cli]'" in found.stderr


@pytest.mark.skipif(os.name != "posix", reason="signals are POSIX's")
def test_ctrl_c_keeps_the_model_so_far(folder):
    rng = np.random.default_rng(0)
    X = np.repeat(rng.random((1000, 10)), 2, axis=0)
    table = "\n".join(",".join(map(str, row)) for row in X.round(4))
    names = ",".join("abcdefghij")
    # Rows that contradict each other: no end in sight.
    labels = rng.integers(0, 4, len(X)).astype(str)
    rows = "\n".join(f"{row},{label}" for row, label in zip(table.split("\n"), labels, strict=True))
    (folder / "long.csv").write_text(f"{names},t\n{rows}\n")
    process = subprocess.Popen(
        [
            *COMMAND,
            "train",
            "long.csv",
            "--target",
            "t",
            "--rounds",
            "1000000",
            "--report",
            "long.html",
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    for line in process.stderr:  # until the first rounds are done
        if "round" in line:
            break
    time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    results, errors = process.communicate(timeout=300)
    assert process.returncode == 130, errors
    assert "Interrupted: the model so far" in errors
    assert "on 400 rows not used in training" in results
    assert "Model: long.safetensors" in results
    assert "Report: long.html" in results
    assert (folder / "long.html").stat().st_size > 1000
    assert "Traceback" not in errors
    model = marginboost.load(folder / "long.safetensors")
    assert model.stop_reason_ == "interrupted"
    assert 0 < model.n_iter_ < 1000000


@pytest.mark.skipif(os.name != "posix", reason="pipes are a shell's")
def test_a_reader_that_has_had_enough(folder):
    rng = np.random.default_rng(0)
    X = rng.random((50000, 2))
    model = marginboost.MarginBoostClassifier(2, random_state=0)  # others may not see the column
    model.fit(X[:100], X[:100, 0] > 0.5).save("m.safetensors")
    (folder / "t.csv").write_text("a,b\n" + "\n".join(f"{a:.3f},{b:.3f}" for a, b in X))
    command = " ".join(COMMAND) + " predict m.safetensors t.csv --proba | head -n 1"
    found = subprocess.run(
        ["sh", "-c", command], capture_output=True, text=True, timeout=300, check=False
    )
    assert found.stdout.startswith("prediction,")
    assert found.stderr == ""
