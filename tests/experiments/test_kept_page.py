"""The page of the kept results, as the documentation has it."""

import json
import re
from dataclasses import replace

import pytest
from page_support import ROOT

from experiments.catalogue import EXPERIMENTS
from experiments.methods import METHODS
from experiments.page.words import FEWEST
from experiments.page.write import PAGE, PLOTS, markdown_files
from experiments.paper import FITTED
from experiments.reproduce import read_chapters
from experiments.store import read_results
from experiments.table7 import RANDOM

RESULTS, DOCS = ROOT / "experiments" / "results", ROOT / "docs"
COMMAND = "python -m experiments --page-from experiments/results --docs docs"

if not any(RESULTS.glob("*.json")):
    pytest.skip("no results are kept yet", allow_module_level=True)


@pytest.fixture(scope="module")
def chapters():
    return read_chapters(RESULTS, EXPERIMENTS)


@pytest.fixture(scope="module")
def expected(chapters):
    return markdown_files(chapters, DOCS, draw=False)[0]


@pytest.fixture(scope="module")
def written():
    paths = [DOCS / f"{PAGE}.md", *sorted((DOCS / PLOTS).glob("*.md"))]
    return {path.relative_to(DOCS).as_posix(): path.read_text("utf-8") for path in paths}


def test_every_number_on_the_pages_is_computed_from_the_kept_records(expected, written):
    assert set(written) == set(expected), f"There must be a page per experiment: {COMMAND}"
    for name, text in expected.items():
        # By lines: one that differs is then shown, not the whole page.
        assert written[name].splitlines() == text.splitlines(), f"{name} is old: {COMMAND}"


def test_the_first_page_is_read_in_two_minutes(written):
    """Its prose, at 240 words per minute; the table of claims and the list of pages are looked up."""
    text = re.sub(r"```.*?```|!\[.*?\]", "", written[f"{PAGE}.md"], flags=re.DOTALL)
    prose = [line for line in text.splitlines() if not line.startswith(("|", "- [", "#"))]
    words = " ".join(prose).split()
    assert 100 < len(words) <= 480


def test_kept_records_are_of_the_trials_that_the_experiments_have_now():
    """None is stale: another regularisation, default, row rule or number of rounds is another trial."""
    for name, kind in EXPERIMENTS.items():
        path = RESULTS / f"{name}.json"
        if not path.is_file():
            continue
        records, experiment = read_results(path), kind()
        trials = experiment.trials(1 + max(record.trial.repeat for record in records))
        known = {replace(t, conditions=experiment.conditions(t)).key for t in trials}
        stale = [str(record.trial) for record in records if record.trial.key not in known]
        assert not stale, f"{name}: {len(stale)} records, such as {stale[0]}"


def test_a_cell_of_few_repeats_says_how_long_a_fit_takes(chapters):
    """But for methods that draw nothing at random, on the fixed split of MNIST."""
    fixed = {METHODS[name].label for name in METHODS if name not in RANDOM}
    for chapter in chapters:
        for table in chapter.section.tables:
            for label, row in table.rows:
                for column, cell in zip(table.columns[1:], row, strict=True):
                    if 0 < cell.repeats < FEWEST and not (
                        chapter.name == "table7" and column in fixed
                    ):
                        assert cell.short, (chapter.name, label, column)


def test_all_kept_results_are_on_the_page():
    assert {path.stem for path in RESULTS.glob("*.json")} <= set(EXPERIMENTS)


def test_the_pages_link_to_what_is_there(written):
    for name, text in written.items():
        folder = (DOCS / name).parent
        ways = re.findall(r"\]\(([^)\s]+)\)", text)
        assert ways, name
        for way in ways:
            if "://" not in way:
                assert (folder / way).is_file(), (name, way)


def test_pictures_are_those_of_the_pages(written):
    """None is left from an earlier page."""
    shown = [way for text in written.values() for way in re.findall(r"!\[.*\]\(([^)]+)\)", text)]
    names = sorted(path.name for path in (DOCS / PLOTS).glob("*.png"))
    assert sorted(way.rsplit("/", 1)[-1] for way in shown) == names


def test_the_documentation_leads_to_the_pages():
    index = (DOCS / "index.md").read_text("utf-8")
    assert f"]({PAGE}.md)" in index
    assert ":glob:" in index
    assert f"\n{PAGE}\n{PLOTS}/*\n" in index


def test_the_readme_has_the_numbers_of_the_pages(written):
    readme = " ".join((ROOT / "README.md").read_text("utf-8").split())
    times = re.search(
        r"\(Table IV\)\. \|[^|]*\| (\d+) to (\d+) times", written["results/timing.md"]
    )
    least, most = map(int, times.groups())
    assert f"computed {least:,} to {most:,} times faster" in readme
    sets = re.search(
        r"MCBoost-log has the lower error on (\d of \d) sets", written["results/table4.md"]
    )
    assert f"in every round, on {sets[1]} sets" in readme


def test_the_time_of_the_one_command_is_the_measured_one(written):
    held = json.loads((ROOT / "benchmarks" / "reproduce.json").read_text("utf-8"))
    assert held["exit_status"] == 0
    assert held["pages"]
    assert not held["changed"]
    told = (
        f"took {held['wall_seconds'] / 60:.0f} minutes from a clean clone, its virtual environment "
        f"included, and {held['processor_seconds']:,.0f} seconds of the processor"
    )
    assert told in written["results/runs.md"]


def _percent(name, digits=1, *, right=False, **settings):
    """Return the mean error (or accuracy) of kept records, as the prose has it."""
    chosen = {"data": None, "method": None} | settings
    errors = read_results(RESULTS / f"{name}.json").of(**chosen).errors
    mean = sum(errors) / len(errors)
    return f"{100 - mean if right else mean:.{digits}f} %"


def test_numbers_in_words_are_those_of_the_records():
    """What was fitted to the paper is told in prose, with its alternatives: that must not grow old."""
    readme = " ".join((ROOT / "README.md").read_text("utf-8").split())
    weights = {
        name: _percent("texts", weighting=name)
        for name in ("unit length", "tf-idf", "there or not", "counts")
    }
    others = f"{weights['there or not'].removesuffix(' %')} and {weights['counts']} with other"
    assert f"{weights['tf-idf']} with tf-idf, {others} weights" in FITTED["news20"]
    assert f"{weights['unit length']} error; {weights['tf-idf']} with tf-idf, {others}s" in readme
    mnist = _percent("table7", 2, method="log", depth=1, features="own")
    assert f"On MNIST the error of MCBoost is {mnist}" in readme
    # After 1,000 rounds: all that fits of other features make.
    counts = _percent("table8", right=True, method="exp", features="counts")
    assert f"With other normalisations of the same counts it is {counts}" in readme
    assert "training images alone choose the same ones" in readme
    chosen = (DOCS / PLOTS / "scenes.md").read_text("utf-8")
    assert "These are the features of Table VIII." in chosen
