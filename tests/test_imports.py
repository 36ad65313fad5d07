"""Imports by name, which import-linter (see pyproject.toml) cannot see, and imports that wait."""

import ast
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

import marginboost

PACKAGE = Path(marginboost.__file__).parent
ALLOWED = {
    "cupy": {"engine/gpu/device.py"},
    "dask": {"estimators/dask_predict.py"},
    "distributed": set(),
}


def imported_by_name(path):
    """Return the packages whose names a module passes to import_module or __import__."""
    calls = [node for node in ast.walk(ast.parse(path.read_bytes())) if isinstance(node, ast.Call)]
    return {
        argument.value.split(".")[0]
        for call in calls
        if ast.unparse(call.func).split(".")[-1] in ("import_module", "__import__")
        for argument in call.args
        if isinstance(argument, ast.Constant) and isinstance(argument.value, str)
    }


def test_optional_packages_are_imported_by_name_only_where_they_belong():
    found = {package: set() for package in ALLOWED}
    for path in PACKAGE.rglob("*.py"):
        for package in imported_by_name(path) & set(ALLOWED):
            found[package].add(path.relative_to(PACKAGE).as_posix())
    assert found == ALLOWED


def imported_by(statement):
    """Return the modules that a fresh interpreter has imported after a statement."""
    program = f"{statement}\nimport sys\nprint(*sorted(sys.modules))"
    found = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=300, check=True
    )
    return set(found.stdout.split())


def test_importing_the_package_imports_nothing_large():
    found = imported_by("import marginboost; marginboost.__version__")
    assert "marginboost" in found
    assert not found & {"numpy", "scipy", "sklearn", "narwhals", "marginboost._native"}


def test_the_classifier_imports_little_beside_scikit_learn():
    found = imported_by("from marginboost import MarginBoostClassifier")
    assert "marginboost._native" in found
    slow = {"sklearn.metrics", "sklearn.model_selection", "sklearn.preprocessing"}
    optional = {"matplotlib", "dask", "distributed", "cupy", "onnx", "skl2onnx", "polars", "typer"}
    others = {
        "marginboost.model.onnx_model",
        "marginboost.report",
        "marginboost.plot",
        "marginboost.cli",
        "marginboost.engine.cluster",
    }
    allowed = imported_by("import sklearn.base, sklearn.utils, narwhals.stable.v2")
    with suppress(subprocess.CalledProcessError):
        allowed |= imported_by("import sklearn.callback")  # scikit-learn has it from version 1.9 on
    assert not (found - allowed) & (slow | optional | others)


def test_every_public_name_is_found_and_listed():
    for name in marginboost.__all__:
        assert getattr(marginboost, name) is not None
    assert set(marginboost.__all__) <= set(dir(marginboost))
    with pytest.raises(AttributeError, match="no attribute 'Missing'"):
        _ = marginboost.Missing


def test_a_model_is_loaded_before_any_class_is_used(tmp_path):
    X = np.arange(20.0)[:, None]
    path = tmp_path / "m.safetensors"
    marginboost.AdaBoostMHClassifier(2).fit(X, X[:, 0] > 8).save(path)
    assert "marginboost.estimators.adaboost_mh" in imported_by(
        f"import marginboost; marginboost.load({str(path)!r})"
    )
