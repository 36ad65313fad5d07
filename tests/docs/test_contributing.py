"""CONTRIBUTING names files, folders and functions that are there, and files that a fit goes through."""

import ast
import re
import sys

import pytest
from page_support import ROOT

PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
LINK = re.compile(r"\[([^]]+)\]\((src/[^)]+)\)")
MADE = {"", "out", "build", "dist", ".dist-info"}
# Where the page's table of rooms names folders inside of a room.
ROOMS = (
    "",
    "src/marginboost/",
    "src/marginboost/engine/",
    "src/marginboost/boosting/",
    "native/src/",
    "tests/",
)


def defined(file):
    """Return the names of a module's functions and classes, methods as `Class.method`."""
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    kinds = (ast.FunctionDef, ast.ClassDef)
    names = {node.name for node in tree.body if isinstance(node, kinds)}
    for outer in tree.body:
        if isinstance(outer, ast.ClassDef):
            inner = (node for node in outer.body if isinstance(node, kinds))
            names |= {f"{outer.name}.{node.name}" for node in inner}
    return names


@pytest.mark.parametrize(("text", "file"), LINK.findall(PAGE))
def test_a_link_leads_to_what_it_names(text, file):
    name = text.strip("`")
    assert (ROOT / file).is_file()
    assert name.endswith(".py") or not text.startswith("`") or name in defined(file)


def named():
    """Return the files and folders that the page names, but for those that a command makes."""
    found = set(re.findall(r"`([\w./]+/(?:[\w.]+)?)`", PAGE))
    return sorted(name for name in found if name.split("/")[0] not in MADE)


@pytest.mark.parametrize("name", named())
def test_files_and_folders_are_there(name):
    assert any((ROOT / room / name).exists() for room in ROOMS), name


def test_a_fit_goes_the_way_that_the_page_describes():
    sys.path.insert(0, str(ROOT / "tools"))
    try:
        from fit_walk import fit_walk  # noqa: PLC0415
    finally:
        sys.path.pop(0)
    section = PAGE.split("## What happens in `fit`")[1].split("\n## ")[0].split("`predict` is")[0]
    steps = re.findall(r"^\d+\. ", section, flags=re.MULTILINE)
    files = [file.removeprefix("src/marginboost/") for _, file in LINK.findall(section)]
    assert len(steps) <= 20
    assert len(set(files)) <= 15
    visited = {function.file for function in fit_walk("MarginBoostClassifier")}
    with_rounds = {function.file for function in fit_walk("MarginBoostClassifier", n_estimators=20)}
    assert set(files) <= visited | with_rounds
