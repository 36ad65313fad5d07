"""Each experiment, run small by the real runner: its results and its part of the page."""

import json
from pathlib import Path

import pytest
from experiments_support import Flowers
from jsonschema import Draft202012Validator
from markdown_it import MarkdownIt
from page_support import ROOT

from experiments.catalogue import EXPERIMENTS
from experiments.page.chapter import Chapter
from experiments.page.write import write_page
from experiments.runner import run
from experiments.store import Store, read_results, write_results
from experiments.trial import Records

pytestmark = pytest.mark.long

SCHEMA = json.loads((Path(__file__).parent / "schema.json").read_text("utf-8"))


def check(held):
    """Hold a results file against the schema."""
    Draft202012Validator(SCHEMA).validate(held)
    assert all(line["origin"] < len(held["origins"]) for line in held["records"])


def kind_of(name):
    if name == Flowers.name:
        return Flowers
    if name == "table8" and not (ROOT / "experiments" / "table8.py").is_file():
        pytest.skip(f"{name} is not written yet")
    return EXPERIMENTS[name]


@pytest.mark.parametrize("name", [Flowers.name, *EXPERIMENTS])
def test_miniature(name, tmp_path):
    kind = kind_of(name)
    experiment = kind.miniature()
    assert experiment.name == name
    repeats = 1 if name in ("table7", "table8") else 2  # one set of features per repeat
    found = run(experiment, repeats, jobs=1, store=Store(tmp_path, name))
    assert found.missing == []
    assert len(found.records) == len(list(experiment.trials(repeats)))
    assert len({record.trial.key for record in found.records}) == len(found.records)

    path = tmp_path / f"{name}.json"
    write_results(path, name, found.records)
    check(json.loads(path.read_text("utf-8")))
    # What is read back is what was measured: nothing is lost on the way through JSON.
    records = read_results(path)
    assert list(records) == list(found.records)

    section = experiment.section(records)
    assert section.title
    assert section.protocol
    assert section.tables or section.plots
    for table in section.tables:
        for label, cells in table.rows:
            assert len(cells) == len(table.columns) - 1, label
            for cell in cells:
                # Every cell says how many repeats it rests on, or that it holds no number of ours.
                assert (cell.ours is None) == (cell.repeats == 0), label
    page = write_page([Chapter(name, section, records, kind.paper_repeats, path)], tmp_path)
    shown = MarkdownIt("commonmark").enable("table").render(page.read_text("utf-8"))
    tables = len(section.tables) + 1 + 2 * bool(section.verdicts)  # with what was run, and verdicts
    assert shown.count("<table>") == tables
    assert shown.count("<img") == len(section.plots)
    text = page.with_suffix(".html").read_text("utf-8")
    assert text.count('<table class="numbers">') == len(section.tables)
    assert text.count("<img") == len(section.plots)


@pytest.mark.parametrize("name", [Flowers.name, *EXPERIMENTS])
def test_small_version(name):
    """It is the same experiment, with no more to do."""
    kind = kind_of(name)
    small, full = kind.small(), kind()
    assert type(small) is kind
    times = kind.few_repeats
    trials = list(small.trials(times))
    assert 0 < len(trials) <= len(list(full.trials(times)))
    assert len({trial.key for trial in trials}) == len(trials)
    assert small.section(Records([])).title == kind.title


@pytest.mark.parametrize(
    "path", sorted((ROOT / "experiments" / "results").glob("*.json")), ids=lambda path: path.stem
)
def test_results_that_are_kept(path):
    held = json.loads(path.read_text("utf-8"))
    check(held)
    assert held["experiment"] == path.stem
    assert not any(origin.get("small") for origin in held["origins"])


def test_the_schema_finds_faults(tmp_path):
    record = run(Flowers.miniature(), 1, jobs=1, store=Store(tmp_path, "flowers")).records[0]
    path = tmp_path / "flowers.json"
    write_results(path, "flowers", [record])
    validator = Draft202012Validator(SCHEMA)
    for change in (
        lambda held: held.pop("origins"),
        lambda held: held["records"].clear(),
        lambda held: held["records"][0].pop("settings"),
        lambda held: held["records"][0]["measures"].update(wrong=-1),
        lambda held: held["records"][0]["measures"].pop("n_test"),
        lambda held: held["origins"][0].update(commit="yesterday"),
    ):
        held = json.loads(path.read_text("utf-8"))
        change(held)
        assert not validator.is_valid(held)
