"""Every example in a docstring runs, and every public name is in the reference."""

import doctest
import importlib
import pkgutil

import pytest
from page_support import ROOT

import marginboost

EXTRAS = (
    "cupy",
    "distributed",
    "dask",
    "typer",
    "polars",
    "rich",
    "matplotlib",
    "onnx",
    "skl2onnx",
)


def with_shared_docs():
    """Yield the tests of all modules that can be imported here."""
    finder = doctest.DocTestFinder(exclude_empty=True)
    for module in pkgutil.walk_packages(marginboost.__path__, "marginboost."):
        if module.name.endswith("__main__"):
            continue
        try:
            found = importlib.import_module(module.name)
        except ModuleNotFoundError as error:
            if error.name is None or error.name.split(".")[0] not in EXTRAS:
                raise
            continue
        yield from (test for test in finder.find(found) if test.examples)


@pytest.mark.parametrize("test", list(with_shared_docs()), ids=lambda test: test.name)
def test_docstring(test, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    lines = []
    runner.run(test, out=lines.append)
    assert not runner.failures, "".join(lines)


def test_the_reference_is_complete():
    reference = (ROOT / "docs" / "api.rst").read_text("utf-8")
    for name in marginboost.__all__:
        assert name == "__version__" or f":: marginboost.{name}\n" in reference, name
