"""Imports by name, which import-linter (see pyproject.toml) cannot see."""

import ast
from pathlib import Path

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
