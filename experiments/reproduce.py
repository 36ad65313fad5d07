"""Run experiments and write their results: what `python -m experiments` does."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Protocol, cast

import joblib

from experiments.catalogue import EXPERIMENTS, named
from experiments.experiment import Experiment
from experiments.methods import TODAY
from experiments.page.chapter import Chapter
from experiments.page.write import PAGE, write_markdown, write_page
from experiments.runner import run
from experiments.store import Store, read_results, write_results
from experiments.trial import PROCESSOR, Record, Records, Trial

# Folders for results, below the root of the checkout: full, small, and a page without a run.
OUT = Path("out/reproduce")
OUT_SMALL = Path("out/reproduce-small")
OUT_PAGE = Path("out/results")
# What the repository holds.
RESULTS = Path(__file__).parent / "results"


class Watcher(Protocol):
    """Follows the progress of a run."""

    def began(self, name: str) -> None:
        """Handle the begin of an experiment."""
        ...

    def went_on(self, done: int, total: int, trial: Trial) -> None:
        """Handle the end of a trial."""
        ...

    def ended(self, name: str) -> None:
        """Handle the end of an experiment, also after an error."""
        ...


@dataclass
class Outcome:
    """The outcome of running experiments.

    Attributes
    ----------
    ran : list of str
        The experiments with records.
    missing : dict of str to list of str
        By experiment, why some of its trials were not run.
    failed : dict of str to Exception
        By experiment, the error.
    notes : list of str
        Other remarks on the request.
    page : Path or None
        The Markdown page; the HTML page is beside it.
    """

    ran: list[str] = field(default_factory=list)
    missing: dict[str, list[str]] = field(default_factory=dict)
    failed: dict[str, Exception] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    page: Path | None = None

    @property
    def good(self) -> bool:
        """Whether something ran, and nothing failed."""
        return bool(self.ran) and not self.failed


@dataclass(frozen=True)
class Request:
    """How to run experiments.

    Attributes
    ----------
    repeats : int or None
        Number of random draws; each experiment's own default if None.
    jobs : int or None
        Number of trials at a time; one per core if None.
    data, methods : tuple of str
        Only trials of these; all if empty.
    device : {"cpu", "cuda"}
        Where our classifiers fit, in the experiments that gain from a GPU.
    small : bool
        Whether to run the experiments' small versions, which take minutes.
    only_missing : bool
        Whether trials of `RESULTS` need not be run again.
    """

    repeats: int | None = None
    jobs: int | None = None
    data: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()
    device: str = "cpu"
    small: bool = False
    only_missing: bool = False


def reproduce(
    names: Sequence[str],
    request: Request | None = None,
    *,
    out: Path,
    watcher: Watcher | None = None,
    experiments: Mapping[str, type[Experiment]] | None = None,
) -> Outcome:
    """Run experiments, store their records, and write the results page.

    Trials whose records are already in `out` are not run again, nor fits that another experiment has
    made there, and results of other experiments stay on the page. If one experiment fails, the others
    still run.

    Parameters
    ----------
    names : sequence of str
        The experiments to run; "all" for all.
    request : Request, optional
        How to run them.
    out : Path
        Folder for all output. It holds full results or small ones, never both.
    watcher : Watcher, optional
        Follows the progress.
    experiments : mapping, optional
        The experiments to choose from; those of the catalogue if None.

    Returns
    -------
    Outcome
        What ran, what did not, and why.
    """
    experiments = EXPERIMENTS if experiments is None else experiments
    request = request or Request()
    outcome = Outcome()
    wanted = named(names, experiments)
    _check_size(out, experiments, request.small)
    for name in wanted:
        try:
            kind = experiments[name]
            _run(name, kind.small() if request.small else kind(), request, out, watcher, outcome)
        except Exception as error:  # reported at the end; the others must run
            outcome.failed[name] = error
    if outcome.ran:
        try:
            chapters = read_chapters(out, experiments, outcome.missing)
            outcome.page = write_page(chapters, out)
        except Exception as error:  # what has run must be reported in any case
            outcome.failed[PAGE] = error
    return outcome


def _run(
    name: str,
    experiment: Experiment,
    request: Request,
    out: Path,
    watcher: Watcher | None,
    outcome: Outcome,
) -> None:
    """Run one experiment and write its results."""
    experiment = _on_device(experiment, request.device, outcome)
    times = experiment.few_repeats if request.repeats is None else request.repeats
    if not _has_any(experiment, request):
        wanted = ", ".join((*request.data, *request.methods))
        outcome.notes.append(f"{name} has no trial of {wanted}.")
        return
    store = Store(out / "records", name)
    kept = [*_same_fits(out / "records", name), *(_kept(name) if request.only_missing else ())]
    if watcher is not None:
        watcher.began(name)
    try:
        told = None if watcher is None else watcher.went_on
        found = run(
            experiment,
            times,
            jobs=request.jobs or joblib.cpu_count(),
            store=store,
            data=request.data,
            methods=request.methods,
            small=request.small,
            kept=Records(kept),
            progress=told,
        )
    finally:
        if watcher is not None:
            watcher.ended(name)
    if found.missing:
        outcome.missing[name] = found.missing
    if len(found.records):
        write_results(out / f"{name}.json", name, found.records)
        outcome.ran.append(name)


def _kept(name: str) -> Records:
    """Return the records of an experiment that the repository holds."""
    path = _results(RESULTS, name)
    return read_results(path) if path.is_file() else Records([])


def keep(out: Path, results: Path | None = None) -> dict[str, tuple[int, int]]:
    """Add the records of a folder to those that the repository holds.

    Records of trials that their experiment no longer has, such as those under other conditions, are
    dropped: the page never shows them. Several tables have the same fit of a modern classifier, whose
    settings no experiment changes, and Table IV has fits that were timed as well: one record, with its
    origin, then serves all of them.

    Parameters
    ----------
    out : Path
        Folder of a run, finished or not.
    results : Path, optional
        Folder to add to; that of the repository if None.

    Returns
    -------
    dict
        By experiment, how many records are kept, and how many were dropped.
    """
    results = RESULTS if results is None else results
    held: dict[str, dict[str, Record]] = {}
    for name in EXPERIMENTS:
        path = _results(results, name)
        old = read_results(path) if path.is_file() else Records([])
        both = [*old, *Store(out / "records", name).read()]
        if both:
            held[name] = {record.trial.key: record for record in both}
    shared = {
        served.trial.key: served
        for records in held.values()
        for record in records.values()
        if (served := _for_others(record)) is not None
    }
    found = {}
    for name, records in held.items():
        experiment = EXPERIMENTS[name]()
        repeats = 1 + max(record.trial.repeat for record in records.values())
        current = [
            replace(trial, conditions=experiment.conditions(trial))
            for trial in sorted(experiment.trials(repeats), key=lambda trial: trial.repeat)
        ]
        lasting = [
            replace(record, trial=trial)
            for trial in current
            if (record := records.get(trial.key) or shared.get(trial.key))
        ]
        keys = {trial.key for trial in current}
        write_results(_results(results, name), name, lasting)
        found[name] = (len(lasting), sum(key not in keys for key in records))
    return found


def _same_fits(folder: Path, name: str) -> Iterator[Record]:
    """Yield what other experiments have run in this folder and this one need not fit again."""
    for other in sorted(folder.glob("*.jsonl")):
        if other.stem != name:
            for record in Store(folder, other.stem).read():
                if (served := _for_others(record)) is not None:
                    yield served


def _for_others(record: Record) -> Record | None:
    """Return a record as other experiments may have it; None if it is only for its own.

    A fit of a modern classifier is the same everywhere. A fit that was timed by the clock of the
    processor, with all classes of a set, is that of Table IV with more measures; one of Table IV was
    not timed so, and does not serve the experiment with the times.
    """
    trial = record.trial
    if any(value is not None for value in trial.settings.values()):
        return None
    if trial.method in TODAY or record.measures.get("clock") == PROCESSOR:
        return replace(record, trial=replace(trial, settings={}))
    return None


def _on_device(experiment: Experiment, device: str, outcome: Outcome) -> Experiment:
    """Return the experiment with its fits on a device, if it supports that."""
    held = cast(Any, experiment)  # a dataclass, which its type does not say
    if any(each.name == "device" for each in fields(held)):
        return cast(Experiment, replace(held, device=device))
    if device != "cpu":
        outcome.notes.append(f"{experiment.name} runs on the CPU: its fits do not gain from a GPU.")
    return experiment


def _has_any(experiment: Experiment, request: Request) -> bool:
    return any(
        (not request.data or trial.data in request.data)
        and (not request.methods or trial.method in request.methods)
        for trial in experiment.trials(1)
    )


def page_from(
    results: Path,
    out: Path,
    experiments: Mapping[str, type[Experiment]] | None = None,
    *,
    docs: Path | None = None,
) -> Path:
    """Write the results page from stored results; nothing is run.

    Parameters
    ----------
    results : Path
        Folder with a JSON file per experiment, or with the records of an unfinished run.
    out : Path
        Folder for the page.
    experiments : mapping, optional
        The experiments to look for; those of the catalogue if None.
    docs : Path, optional
        Folder of the documentation, for a copy of the Markdown page with its plots.

    Returns
    -------
    Path
        The Markdown page; the HTML page is beside it.
    """
    chapters = read_chapters(results, EXPERIMENTS if experiments is None else experiments)
    if not chapters:
        raise ValueError(
            f"The folder {results} must hold results, such as table1.json; it holds none: "
            "run `python -m experiments NAME` first."
        )
    if docs is not None:
        write_markdown(chapters, docs)
    return write_page(chapters, out)


def read_chapters(
    folder: Path,
    experiments: Mapping[str, type[Experiment]],
    missing: Mapping[str, Sequence[str]] | None = None,
) -> list[Chapter]:
    """Read the results of each experiment in a folder, as chapters of the page."""
    missing = missing or {}
    held = _read(folder, experiments)
    small = _are_small(folder, held)
    chapters = []
    for name, records in held.items():
        kind = experiments[name]
        experiment = kind.small() if small else kind()
        source = _results(folder, name)
        chapters.append(
            Chapter(
                name=name,
                section=experiment.section(records),
                records=records,
                paper_repeats=experiment.paper_repeats,
                source=source if source.is_file() else None,
                missing=tuple(missing.get(name, ())),
                small=small,
            )
        )
    return chapters


def _read(folder: Path, names: Iterable[str]) -> dict[str, Records]:
    """Read the records of experiments in a folder, including those of unfinished runs."""
    found = {}
    for name in names:
        source = _results(folder, name)
        unfinished = Store(folder / "records", name)
        records = read_results(source) if source.is_file() else unfinished.read()
        if len(records):
            found[name] = records
    return found


def _results(folder: Path, name: str) -> Path:
    return folder / f"{name}.json"


def _check_size(folder: Path, names: Iterable[str], small: bool) -> None:
    """Raise if a folder has results of the other size: trials of both sizes look the same."""
    held: dict[str, Records] = {}
    for name in names:
        with suppress(ValueError, KeyError, TypeError):  # an unreadable file is replaced
            held |= _read(folder, [name])
    if held and _are_small(folder, held) != small:
        asked, there = ("small", "full") if small else ("full", "small")
        raise ValueError(
            f"The folder {folder} must hold {asked} results, as requested; it holds {there} ones: "
            "choose another with --out."
        )


def _are_small(folder: Path, held: Mapping[str, Records]) -> bool:
    """Return whether all records are from small versions; raise if only some are."""
    by_size = {record.small: name for name, records in held.items() for record in records}
    if len(by_size) > 1:
        raise ValueError(
            f"The folder {folder} must hold full results or small ones; it holds both "
            f"({by_size[False]} and {by_size[True]}): move one kind elsewhere."
        )
    return True in by_size
