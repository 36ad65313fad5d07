"""A user's program passes Pyright's strict checks, and misspelt words do not.

`make lint` lets mypy check it.
"""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest

import marginboost
from marginboost.engine import DEVICES, ENGINES
from marginboost.estimators.choices import Device, Engine, LossName
from marginboost.loss import LOSSES

SCRIPT = Path(__file__).with_name("user_script.py")
ROOT = Path(marginboost.__file__).parents[1]


def test_the_types_are_the_choices():
    assert get_args(Engine) == ENGINES
    assert get_args(Device) == DEVICES
    assert set(get_args(LossName)) == set(LOSSES)


def check(*command, folder, **environment):
    return subprocess.run(
        [sys.executable, "-m", *map(str, command)],
        cwd=folder,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


def test_pyright(tmp_path):
    checker = next(
        (name for name in ("basedpyright", "pyright") if importlib.util.find_spec(name)), None
    )
    if checker is None:
        pytest.skip("neither basedpyright nor pyright is installed")
    settings = {
        "typeCheckingMode": "strict",
        "reportUnnecessaryTypeIgnoreComment": "error",
        "enableTypeIgnoreComments": False,
        "include": [str(SCRIPT)],
        "extraPaths": [str(ROOT)],
    }
    config = tmp_path / "pyrightconfig.json"
    config.write_text(json.dumps(settings))
    found = check(
        checker, "-p", config, "--pythonpath", sys.executable, "--outputjson", folder=tmp_path
    )
    if not found.stdout.strip().startswith("{"):
        pytest.skip(f"{checker} does not run here: {found.stderr[-200:]}")
    answer = json.loads(found.stdout)
    assert answer["summary"]["filesAnalyzed"] == 1
    errors = [
        f"{d['range']['start']['line'] + 1}: {d['message']}" for d in answer["generalDiagnostics"]
    ]
    assert errors == []
