"""The command as a process of its own: status, streams, signals, and a machine without the extra."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
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


def test_what_is_missing_is_named(folder):
    hide = "import sys; sys.modules['typer'] = None; from marginboost.cli import main; main()"
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
        [*COMMAND, "train", "long.csv", "--target", "t", "--rounds", "1000000"],
        stderr=subprocess.PIPE,
        text=True,
    )
    for line in process.stderr:  # until the first rounds are done
        if "round" in line:
            break
    time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=300)
    assert process.returncode == 130, errors
    assert "Interrupted: the model so far" in errors
    assert "Traceback" not in errors
    model = marginboost.load(folder / "long.safetensors")
    assert model.stop_reason_ == "interrupted"
    assert 0 < model.n_iter_ < 1000000


@pytest.mark.skipif(os.name != "posix", reason="pipes are a shell's")
def test_a_reader_that_has_had_enough(folder):
    rng = np.random.default_rng(0)
    X = rng.random((50000, 2))
    marginboost.MarginBoostClassifier(2).fit(X[:100], X[:100, 0] > 0.5).save("m.safetensors")
    (folder / "t.csv").write_text("a,b\n" + "\n".join(f"{a:.3f},{b:.3f}" for a, b in X))
    command = " ".join(COMMAND) + " predict m.safetensors t.csv --proba | head -n 1"
    found = subprocess.run(
        ["sh", "-c", command], capture_output=True, text=True, timeout=300, check=False
    )
    assert found.stdout.startswith("prediction,")
    assert found.stderr == ""
