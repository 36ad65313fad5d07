"""Experiments run and written out."""

import io
import json
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import pytest
from experiments_support import Flowers

from experiments.data import MissingData
from experiments.page.section import Section
from experiments.progress import Bar, Lines, make_watcher
from experiments.reproduce import Request, page_from, reproduce
from experiments.store import Store
from experiments.trial import Trial


@dataclass(frozen=True)
class Broken(Flowers):
    name = "broken"
    title = "Broken"

    def run(self, trial, n_jobs):
        raise RuntimeError("It broke.")


@dataclass(frozen=True)
class Absent(Flowers):
    name = "absent"
    title = "Absent"

    def run(self, trial, n_jobs):
        if trial.data == "iris":
            return super().run(trial, n_jobs)
        raise MissingData(f"There is no {trial.data}.")


@dataclass(frozen=True)
class OnDevice(Flowers):
    name = "ondevice"
    title = "On a device"
    seen: ClassVar[list[str]] = []

    device: str = "cpu"

    def run(self, trial, n_jobs):
        self.seen.append(self.device)
        return super().run(trial, n_jobs)


ONE = Request(repeats=1, jobs=1)


def of(*kinds):
    return {kind.name: kind for kind in kinds}


def test_results_and_page_are_written(tmp_path):
    outcome = reproduce(["flowers"], Request(jobs=1), out=tmp_path, experiments=of(Flowers))
    assert outcome.good
    assert outcome.ran == ["flowers"]
    assert outcome.page == tmp_path / "results.md"
    names = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*.*")}
    assert names == {
        "results.md",
        "results.html",
        "flowers.json",
        "results/flowers.png",
        "records/flowers.jsonl",
    }
    held = json.loads((tmp_path / "flowers.json").read_text("utf-8"))
    assert {line["repeat"] for line in held["records"]} == {0, 1}  # its few repeats


def test_a_fault_of_one_does_not_stop_the_others(tmp_path):
    outcome = reproduce(["broken", "flowers"], ONE, out=tmp_path, experiments=of(Broken, Flowers))
    assert not outcome.good
    assert str(outcome.failed["broken"]) == "It broke."
    assert outcome.ran == ["flowers"]
    assert "Flowers" in outcome.page.read_text("utf-8")
    assert not (tmp_path / "broken.json").exists()


def test_data_that_are_missing_are_told_and_the_rest_is_shown(tmp_path):
    outcome = reproduce(["absent"], ONE, out=tmp_path, experiments=of(Absent))
    assert outcome.good
    assert outcome.missing == {"absent": ["There is no wine."]}
    page = outcome.page.read_text("utf-8")
    assert "- There is no wine." in page
    assert "not run<br>" in page


def test_nothing_that_could_be_run_is_not_good(tmp_path):
    outcome = reproduce(
        ["absent"], Request(1, 1, data=("wine",)), out=tmp_path, experiments=of(Absent)
    )
    assert not outcome.good
    assert outcome.page is None
    assert outcome.missing


def test_the_page_keeps_what_was_run_before(tmp_path):
    both = of(Flowers, Absent)
    reproduce(["flowers"], ONE, out=tmp_path, experiments=both)
    with pytest.MonkeyPatch.context() as patch:  # two plots of one name would not do
        section = Flowers.section
        patch.setattr(
            Absent, "section", lambda self, records: _without_plots(section, self, records)
        )
        outcome = reproduce(["absent"], ONE, out=tmp_path, experiments=both)
    page = outcome.page.read_text("utf-8")
    assert page.index("## Flowers & wines") < page.index("## Absent")


def _without_plots(section, experiment, records):
    from dataclasses import replace  # noqa: PLC0415

    return replace(section(experiment, records), plots=())


def test_some_sets_and_methods(tmp_path):
    request = Request(1, 1, data=("wine",), methods=("exp",))
    reproduce(["flowers"], request, out=tmp_path, experiments=of(Flowers))
    held = json.loads((tmp_path / "flowers.json").read_text("utf-8"))
    assert [(line["data"], line["method"]) for line in held["records"]] == [("wine", "exp")]


def test_sets_that_an_experiment_does_not_have(tmp_path):
    request = Request(1, 1, data=("letter",))
    outcome = reproduce(["flowers"], request, out=tmp_path, experiments=of(Flowers))
    assert outcome.notes == ["flowers has no trial of letter."]
    assert not outcome.good


def test_the_device_reaches_those_that_have_one(tmp_path):
    request = Request(1, 1, device="cpu")
    reproduce(["ondevice"], request, out=tmp_path / "a", experiments=of(OnDevice))
    assert set(OnDevice.seen) == {"cpu"}
    OnDevice.seen.clear()
    request = Request(1, 1, device="cuda")
    outcome = reproduce(
        ["ondevice", "flowers"], request, out=tmp_path / "b", experiments=of(OnDevice, Flowers)
    )
    assert set(OnDevice.seen) == {"cuda"}
    assert outcome.notes == ["flowers runs on the CPU: its fits do not gain from a GPU."]
    held = json.loads((tmp_path / "b" / "ondevice.json").read_text("utf-8"))
    # The fit itself was on the CPU, and that is what its record says, whatever was asked for.
    assert held["origins"][0]["device"] == "cpu"
    held = json.loads((tmp_path / "b" / "flowers.json").read_text("utf-8"))
    assert held["origins"][0]["device"] == "cpu"


def rounds_of(path):
    held = json.loads(path.read_text("utf-8"))
    return {line["settings"]["rounds"] for line in held["records"]}


def test_small_versions(tmp_path):
    request = Request(1, 1, small=True)
    outcome = reproduce(["flowers"], request, out=tmp_path, experiments=of(Flowers))
    assert outcome.good
    assert rounds_of(tmp_path / "flowers.json") == {5}
    held = json.loads((tmp_path / "flowers.json").read_text("utf-8"))
    assert [origin["small"] for origin in held["origins"]] == [True]
    assert "This is the small version" in outcome.page.read_text("utf-8")
    # The records say it, so a page from them does too.
    page = page_from(tmp_path, tmp_path / "page", of(Flowers))
    assert "This is the small version" in page.read_text("utf-8")


@pytest.mark.parametrize("small", [False, True])
def test_small_and_full_results_are_not_mixed(tmp_path, small):
    there, asked = ("small", "full") if small else ("full", "small")
    reproduce(["flowers"], Request(1, 1, small=small), out=tmp_path, experiments=of(Flowers))
    before = (tmp_path / "flowers.json").read_bytes()
    other = Request(1, 1, small=not small)
    message = f"must hold {asked} results, .* it holds {there} ones: choose another with --out"
    for kept in ("records/flowers.jsonl", "flowers.json"):  # each of the two is enough to tell
        with pytest.raises(ValueError, match=message):
            reproduce(["absent"], other, out=tmp_path, experiments=of(Flowers, Absent))
        assert (tmp_path / "flowers.json").read_bytes() == before
        if kept != "flowers.json":
            (tmp_path / kept).unlink()


def test_a_page_is_of_full_results_or_of_small_ones(tmp_path):
    for kind, small in ((Flowers, False), (Absent, True)):
        out = tmp_path / kind.name
        reproduce([kind.name], Request(1, 1, small=small), out=out, experiments=of(kind))
        (out / f"{kind.name}.json").rename(tmp_path / f"{kind.name}.json")
    with pytest.raises(ValueError, match=r"it holds both \(flowers and absent\)"):
        page_from(tmp_path, tmp_path, of(Flowers, Absent))


def test_a_file_that_cannot_be_read_is_written_anew(tmp_path):
    for content in ("{", '{"format": 0}', '{"format": 1, "origins": []}'):
        (tmp_path / "flowers.json").write_text(content)
        assert reproduce(["flowers"], ONE, out=tmp_path, experiments=of(Flowers)).good


def test_the_page_can_be_made_from_kept_results(tmp_path):
    done = reproduce(["flowers"], ONE, out=tmp_path / "run", experiments=of(Flowers))
    page = page_from(tmp_path / "run", tmp_path / "docs", of(Flowers))
    expected = done.page.read_text("utf-8").replace("(flowers.json)", "(../run/flowers.json)")
    assert page.read_text("utf-8") == expected
    assert not (tmp_path / "docs" / "flowers.json").exists()
    again = page_from(tmp_path / "run", tmp_path / "out", of(Flowers), docs=tmp_path / "pages")
    assert again == tmp_path / "out" / "results.md"
    assert "(results/flowers.md)" in (tmp_path / "pages" / "results.md").read_text("utf-8")
    assert (tmp_path / "pages" / "results" / "flowers.md").is_file()
    assert (tmp_path / "pages" / "results" / "flowers.png").is_file()
    assert not (tmp_path / "pages" / "results.html").exists()


def test_the_page_can_be_made_of_a_run_that_has_not_ended(tmp_path):
    def stop(done, total, trial):
        if done == 2:
            raise KeyboardInterrupt

    class Stopping(Lines):
        def went_on(self, done, total, trial):
            stop(done, total, trial)

    with pytest.raises(KeyboardInterrupt):
        reproduce(
            ["flowers"], ONE, out=tmp_path, watcher=Stopping(io.StringIO()), experiments=of(Flowers)
        )
    assert not (tmp_path / "flowers.json").exists()
    text = page_from(tmp_path, tmp_path, of(Flowers)).read_text("utf-8")
    assert text.count("| not run") == 2
    assert text.count(": not run") == 2  # listed among the cells with few repeats


def test_a_folder_without_results_is_refused(tmp_path):
    with pytest.raises(ValueError, match="must hold results"):
        page_from(tmp_path, tmp_path)


class Terminal(io.StringIO):
    def isatty(self):
        return True


TRIAL = Trial("iris", "exp", 0, {"odd": "[bold]"})


def test_progress_in_lines():
    stream = io.StringIO()
    watcher = make_watcher(stream)
    assert isinstance(watcher, Lines)
    watcher.began("table1")
    for done in range(1, 101):
        watcher.went_on(done, 100, TRIAL)
    watcher.ended("table1")
    lines = stream.getvalue().splitlines()
    assert lines[0] == "table1: begins"
    assert len(lines) == 11
    assert lines[-1].startswith("table1: 100 of 100 trials, ")


def test_progress_in_a_terminal_is_one_line():
    pytest.importorskip("rich")
    stream = Terminal()
    watcher = make_watcher(stream)
    assert isinstance(watcher, Bar)
    watcher.began("table1")
    for done in range(1, 4):
        watcher.went_on(done, 3, TRIAL)
    watcher.ended("table1")
    shown = stream.getvalue()
    assert "3/3" in shown
    assert "[bold]" in shown
    assert shown.count("\n") <= 2


def test_an_experiment_that_ends_at_once_can_be_shown():
    """All its trials were there before."""
    pytest.importorskip("rich")
    watcher = Bar(Terminal())
    watcher.began("table1")
    watcher.ended("table1")


def test_records_of_a_run_are_beside_its_results(tmp_path):
    reproduce(["flowers"], ONE, out=tmp_path, experiments=of(Flowers))
    assert len(Store(Path(tmp_path) / "records", "flowers").read()) == 4


@dataclass(frozen=True)
class Today(Flowers):
    """Two experiments with the same fit of a modern classifier."""

    name = "today"
    title = "Today"
    seen: ClassVar[list[str]] = []

    def trials(self, repeats):
        for repeat in range(repeats):
            yield Trial("iris", "lightgbm", repeat)

    def run(self, trial, n_jobs):
        self.seen.append(self.name)
        return {"wrong": 1, "n_test": 20}

    def section(self, records):
        return Section(self.title, "")


@dataclass(frozen=True)
class TodayAgain(Today):
    name = "again"


def test_a_fit_that_two_experiments_share_is_made_once(tmp_path):
    both = of(Today, TodayAgain)
    outcome = reproduce(["today", "again"], ONE, out=tmp_path, experiments=both)
    assert outcome.good
    assert Today.seen == ["today"]
    held = [json.loads((tmp_path / f"{name}.json").read_text("utf-8")) for name in both]
    assert held[0]["records"] == held[1]["records"]
