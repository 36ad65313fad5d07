"""Runs experiments and writes what comes of them: `marginboost reproduce`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import joblib

from experiments.catalogue import EXPERIMENTS, named
from experiments.experiment import Experiment
from experiments.page.chapter import Chapter
from experiments.page.write import PAGE, write_page
from experiments.runner import run
from experiments.store import Store, read_results, write_results
from experiments.trial import Records, Trial

OUT = Path("out/reproduce")


class Watcher(Protocol):
    """Hears how far it is."""

    def began(self, name: str) -> None:
        """Hear that an experiment begins."""
        ...

    def went_on(self, done: int, total: int, trial: Trial) -> None:
        """Hear that a trial is over."""
        ...

    def ended(self, name: str) -> None:
        """Hear that an experiment has ended, in whatever way."""
        ...


@dataclass
class Outcome:
    """What came of running experiments.

    Attributes
    ----------
    ran : list of str
        Those of which there are records.
    missing : dict of str to list of str
        By experiment, why some of its trials could not be run.
    failed : dict of str to Exception
        By experiment, what went wrong.
    page : Path or None
        The page in Markdown; the one in HTML is beside it.
    """

    ran: list[str] = field(default_factory=list)
    missing: dict[str, list[str]] = field(default_factory=dict)
    failed: dict[str, Exception] = field(default_factory=dict)
    page: Path | None = None

    @property
    def good(self) -> bool:
        """Whether something ran, and nothing failed."""
        return bool(self.ran) and not self.failed


def reproduce(
    names: Sequence[str],
    *,
    repeats: int | None = None,
    jobs: int | None = None,
    out: Path = OUT,
    watcher: Watcher | None = None,
    experiments: Mapping[str, type[Experiment]] = EXPERIMENTS,
) -> Outcome:
    """Run experiments, keep their records, and write the results page.

    What `out` already holds is not run again, and results of other experiments there stay on the
    page. A fault of one experiment does not keep the others from running.

    Parameters
    ----------
    names : sequence of str
        Which; "all" for all.
    repeats : int, optional
        How many random draws; if None, as few as each experiment gives for a first look.
    jobs : int, optional
        How many trials at a time; as many as there are cores if None.
    out : Path
        Folder for everything that is written.
    watcher : Watcher, optional
        Hears how far it is.
    experiments : mapping, optional
        To choose from.

    Returns
    -------
    Outcome
        What ran, what did not, and why.
    """
    chosen = named(list(names)) if experiments is EXPERIMENTS else list(names)
    outcome = Outcome()
    for name in chosen:
        try:
            _run(name, experiments, repeats, jobs or joblib.cpu_count(), out, watcher, outcome)
        except Exception as error:  # told at the end; the others must go on
            outcome.failed[name] = error
    if outcome.ran:
        try:
            chapters = read_chapters(out, experiments, outcome.missing)
            outcome.page = write_page(chapters, out)
        except Exception as error:  # what has run must be told in any case
            outcome.failed[PAGE] = error
    return outcome


def _run(
    name: str,
    experiments: Mapping[str, type[Experiment]],
    repeats: int | None,
    jobs: int,
    out: Path,
    watcher: Watcher | None,
    outcome: Outcome,
) -> None:
    """Run one experiment, and write its results."""
    experiment = experiments[name]()
    times = experiment.few_repeats if repeats is None else repeats
    store = Store(out / "records", name)
    if watcher is not None:
        watcher.began(name)
    try:
        told = None if watcher is None else watcher.went_on
        found = run(experiment, times, jobs=jobs, store=store, progress=told)
    finally:
        if watcher is not None:
            watcher.ended(name)
    if found.missing:
        outcome.missing[name] = found.missing
    if len(found.records):
        write_results(out / f"{name}.json", name, found.records)
        outcome.ran.append(name)


def page_from(
    results: Path, out: Path, experiments: Mapping[str, type[Experiment]] = EXPERIMENTS
) -> Path:
    """Write the results page from results that are kept in a folder; nothing is run.

    Parameters
    ----------
    results : Path
        Folder with a JSON file for each experiment that was run, or with the records of a run that
        has not come to its end.
    out : Path
        Folder for the page.
    experiments : mapping, optional
        Those to look for.

    Returns
    -------
    Path
        The page in Markdown; the one in HTML is beside it.
    """
    chapters = read_chapters(results, experiments)
    if not chapters:
        raise ValueError(
            f"The folder {results} must hold results, such as table1.json; it holds none: "
            "run `marginboost reproduce NAME` first."
        )
    return write_page(chapters, out)


def read_chapters(
    folder: Path,
    experiments: Mapping[str, type[Experiment]] = EXPERIMENTS,
    missing: Mapping[str, Sequence[str]] | None = None,
) -> list[Chapter]:
    """Read what a folder holds of each experiment, as chapters of the page."""
    missing = missing or {}
    chapters = []
    for name in experiments:
        source = folder / f"{name}.json"
        records = read_results(source) if source.is_file() else _unfinished(folder, name)
        reasons = tuple(missing.get(name, ()))
        if len(records):
            experiment = experiments[name]()
            chapters.append(
                Chapter(
                    name=name,
                    section=experiment.section(records),
                    records=records,
                    paper_repeats=experiment.paper_repeats,
                    source=source if source.is_file() else None,
                    missing=reasons,
                )
            )
    return chapters


def _unfinished(folder: Path, name: str) -> Records:
    return Store(folder / "records", name).read()
