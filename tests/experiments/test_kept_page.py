"""The page of the kept results, as the documentation has it."""

import re

import pytest
from page_support import ROOT

from experiments.catalogue import EXPERIMENTS
from experiments.page.markdown import markdown_page
from experiments.page.words import slug
from experiments.page.write import PAGE, PLOTS
from experiments.reproduce import read_chapters

RESULTS, DOCS = ROOT / "experiments" / "results", ROOT / "docs"
COMMAND = "python -m experiments --page-from experiments/results --docs docs"

if not any(RESULTS.glob("*.json")):
    pytest.skip("no results are kept yet", allow_module_level=True)


@pytest.fixture(scope="module")
def text():
    path = DOCS / f"{PAGE}.md"
    assert path.is_file(), f"There must be a page of the kept results: {COMMAND}"
    return path.read_text("utf-8")


def test_the_page_is_what_the_kept_results_give(text):
    expected = markdown_page(read_chapters(RESULTS, EXPERIMENTS), DOCS, PLOTS)
    # By lines: one that differs is then shown, not the whole page.
    assert text.splitlines() == expected.splitlines(), f"The page is of other results: {COMMAND}"


def test_all_kept_results_are_on_the_page():
    assert {path.stem for path in RESULTS.glob("*.json")} <= set(EXPERIMENTS)


def test_the_page_links_to_what_is_there(text):
    titles = re.findall("^#+ (.*)$", text, re.MULTILINE)
    headings = {slug(re.sub(r"\\(.)", r"\1", title)) for title in titles}
    ways = re.findall(r"\]\(([^)\s]+)\)", text)
    assert ways
    for way in ways:
        if way.startswith("#"):
            assert way[1:] in headings
        elif "://" not in way:
            assert (DOCS / way).is_file(), way


def test_pictures_are_those_of_the_page(text):
    """None is left from an earlier page."""
    shown = re.findall(rf"!\[.*\]\({PLOTS}/([^)]+)\)", text)
    assert sorted(shown) == sorted(path.name for path in (DOCS / PLOTS).glob("*"))


def test_the_documentation_leads_to_the_page():
    index = (DOCS / "index.md").read_text("utf-8")
    assert f"]({PAGE}.md)" in index
    assert f"\n{PAGE}\n" in index
