"""Every example in a docstring runs, and every public name is in the reference."""

import doctest
import importlib
import importlib.util
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


def reference():
    path = ROOT / "docs" / "reference_pages.py"
    spec = importlib.util.spec_from_file_location("reference_pages", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_reference_is_complete():
    named = {name for _, pages in reference().SECTIONS for page in pages for name in page}
    assert {f"marginboost.{name}" for name in marginboost.__all__ if name != "__version__"} <= named


def test_the_reference_has_a_page_per_class(tmp_path):
    pytest.importorskip("matplotlib")
    pytest.importorskip("skl2onnx")
    (tmp_path / "Gone.rst").touch()  # of a class that is no more
    reference().write_pages(tmp_path)
    pages = {path.stem: path.read_text("utf-8") for path in tmp_path.glob("*.rst")}
    assert "Gone" not in pages
    assert all(f"   {name}\n" in pages["index"] for name in pages if name != "index")
    for name in marginboost.__all__:
        kind = getattr(marginboost, name)
        if name.endswith("Classifier"):
            page = pages[name]
            assert f".. autoclass:: marginboost.{name}\n" in page
            for method in ("fit", "predict_proba", "explain", "save", "load", "compile", "score"):
                assert f".. automethod:: marginboost.{name}.{method}\n" in page
            assert ("predict_set" in page) == hasattr(kind, "predict_set")
            assert "More" not in reference().methods_of(kind), "methods below no heading"
