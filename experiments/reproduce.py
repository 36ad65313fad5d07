"""Run experiments and write their results: what `python -m experiments` does."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Protocol, cast

import joblib

from experiments.catalogue import EXPERIMENTS, named
from experiments.experiment import Experiment
from experiments.page.chapter import Chapter
from experiments.page.write import PAGE, write_markdown, write_page
from experiments.runner import run
from experiments.store import Store, read_results, write_results
from experiments.trial import Records, Trial

# Where results go, from the root of the checkout: full ones, small ones, a page without a run.
OUT = Path("out/reproduce")
OUT_SMALL = Path("out/reproduce-small")
OUT_PAGE = Path("out/results")


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
    notes : list of str
        What else there is to say of what was asked for.
    page : Path or None
        The page in Markdown; the one in HTML is beside it.
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
        How many random draws; if None, as few as each experiment gives for a first look.
    jobs : int or None
        How many trials at a time; as many as there are cores if None.
    data, methods : tuple of str
        Only trials of these; none stands for all.
    device : {"cpu", "cuda"}
        Where our classifiers fit, in those experiments whose fits are worth a GPU.
    small : bool
        The experiments' small versions, which end within minutes.
    """

    repeats: int | None = None
    jobs: int | None = None
    data: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()
    device: str = "cpu"
    small: bool = False


def reproduce(
    names: Sequence[str],
    request: Request | None = None,
    *,
    out: Path,
    watcher: Watcher | None = None,
    experiments: Mapping[str, type[Experiment]] | None = None,
) -> Outcome:
    """Run experiments, keep their records, and write the results page.

    What `out` already holds is not run again, and results of other experiments there stay on the
    page. A fault of one experiment does not keep the others from running.

    Parameters
    ----------
    names : sequence of str
        Which; "all" for all.
    request : Request, optional
        How to run them.
    out : Path
        Folder for everything that is written. It holds full results or small ones, never both.
    watcher : Watcher, optional
        Hears how far it is.
    experiments : mapping, optional
        To choose from; those of the catalogue if None.

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
    experiment: Experiment,
    request: Request,
    out: Path,
    watcher: Watcher | None,
    outcome: Outcome,
) -> None:
    """Run one experiment, and write its results."""
    experiment = _on_device(experiment, request.device, outcome)
    times = experiment.few_repeats if request.repeats is None else request.repeats
    if not _has_any(experiment, request):
        wanted = ", ".join((*request.data, *request.methods))
        outcome.notes.append(f"{name} has no trial of {wanted}.")
        return
    store = Store(out / "records", name)
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


def _on_device(experiment: Experiment, device: str, outcome: Outcome) -> Experiment:
    """Return the experiment with its fits on a device, where it can be."""
    held = cast(Any, experiment)  # a dataclass, which its type does not say
    if any(each.name == "device" for each in fields(held)):
        return cast(Experiment, replace(held, device=device))
    if device != "cpu":
        outcome.notes.append(f"{experiment.name} is run on the CPU: its fits are not for a GPU.")
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
    """Write the results page from results that are kept in a folder; nothing is run.

    Parameters
    ----------
    results : Path
        Folder with a JSON file for each experiment that was run, or with the records of a run that
        has not come to its end.
    out : Path
        Folder for the page.
    experiments : mapping, optional
        Those to look for; those of the catalogue if None.
    docs : Path, optional
        Folder for the page in Markdown once more, with its plots: of the documentation.

    Returns
    -------
    Path
        The page in Markdown; the one in HTML is beside it.
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
    """Read what a folder holds of each experiment, as chapters of the page."""
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
    """Read the records that a folder holds of experiments; of runs that have not ended as well."""
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
    """Refuse a folder with results of the other size: a trial does not tell the two apart."""
    held: dict[str, Records] = {}
    for name in names:
        with suppress(
            ValueError, KeyError, TypeError
        ):  # a file that cannot be read is written anew
            held |= _read(folder, [name])
    if held and _are_small(folder, held) != small:
        asked, there = ("small", "full") if small else ("full", "small")
        raise ValueError(
            f"The folder {folder} must hold {asked} results, as they are asked for; it holds {there} "
            "ones: name another with --out."
        )


def _are_small(folder: Path, held: Mapping[str, Records]) -> bool:
    """Return whether records are those of small versions; all of them must be, or none."""
    by_size = {record.small: name for name, records in held.items() for record in records}
    if len(by_size) > 1:
        raise ValueError(
            f"The folder {folder} must hold full results or small ones; it holds both "
            f"({by_size[False]} and {by_size[True]}): move one kind elsewhere."
        )
    return True in by_size
