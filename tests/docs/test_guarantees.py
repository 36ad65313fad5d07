"""Every test that the page of guarantees names is there."""

import re

import pytest
from page_support import ROOT

NAMED = re.compile(r"`(tests/[\w/]+\.py)(?:::(\w+))?`")


def test_the_tests_that_are_named():
    page = (ROOT / "docs" / "guarantees.md").read_text("utf-8")
    named = NAMED.findall(page)
    assert len(named) > 15
    for file, function in named:
        path = ROOT / file
        assert path.is_file(), file
        assert not function or f"def {function}(" in path.read_text("utf-8"), f"{file}::{function}"


@pytest.mark.parametrize("heading", ["## The same bits", "## Safe files", "## Exact explanations"])
def test_headings(heading):
    assert heading in (ROOT / "docs" / "guarantees.md").read_text("utf-8")
