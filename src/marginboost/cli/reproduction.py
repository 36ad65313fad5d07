"""``marginboost reproduce``."""

from __future__ import annotations

import sys
import tomllib
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import typer

from marginboost.cli.failure import EXPECTED, FAILED, INTERRUPTED, UserError, fail, sentence
from marginboost.cli.words import note

FOLDER = "experiments"


@dataclass(frozen=True)
class Request:
    """What to run, and how. The experiments have the defaults of what is None."""

    names: Sequence[str] = ()
    repeats: int | None = None
    jobs: int | None = None
    data: Sequence[str] = ()
    methods: Sequence[str] = ()
    device: str = "cpu"
    small: bool = False


@dataclass(frozen=True)
class PageRequest:
    """A page from results that are there: where they are, and where it goes beside `out`."""

    results: Path | None = None
    docs: Path | None = None


def reproduce_experiments(
    request: Request, out: Path | None, page: PageRequest, *, debug: bool = False
) -> None:
    """Run experiments of the paper and write the results page; list them where none is named."""
    if page.results is None and page.docs is not None:
        raise UserError("--docs must stand with --page-from: it shows results that are kept.")
    if page.results is not None and (request.names or request.small):
        raise UserError("--page-from must stand without names and without --small: it runs nothing.")
    checkout = find_checkout(Path.cwd())
    module = _import(checkout, "experiments.reproduce")
    if page.results is not None:
        out = checkout / module.OUT_PAGE if out is None else out
        _say_where(module.page_from(page.results, out, docs=page.docs))
    elif request.names:
        out = checkout / (module.OUT_SMALL if request.small else module.OUT) if out is None else out
        _run(module, _import(checkout, "experiments.progress"), request, out, debug)
    else:
        _list(_import(checkout, "experiments.catalogue").LINES)


def find_checkout(here: Path) -> Path:
    """Return the folder with the experiments: the current one, or one above it."""
    for folder in (here, *here.parents):
        project = folder / "pyproject.toml"
        if (folder / FOLDER / "__init__.py").is_file() and project.is_file():
            try:
                held = tomllib.loads(project.read_text(encoding="utf-8"))
            except (OSError, ValueError):
                continue
            if held.get("project", {}).get("name") == "marginboost":
                return folder
    raise UserError(
        "reproduce must be run inside a checkout of marginboost: the experiments are not part of the "
        f"package, and neither {here} nor a folder above it has them; "
        "get the repository and run it there."
    )


def _import(checkout: Path, name: str) -> Any:
    """Import a module of the experiments."""
    if str(checkout) not in sys.path:
        sys.path.insert(0, str(checkout))
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.split(".")[0] in (FOLDER, "marginboost"):
            raise
        raise UserError(
            f"The experiments need {error.name}, which is not installed: "
            f"pip install '{checkout}[cli,experiments]'"
        ) from error


def _list(lines: dict[str, str]) -> None:
    width = max(map(len, lines))
    for name, line in lines.items():
        typer.echo(f"{name:<{width}}  {line}")
    note(
        "Run one: marginboost reproduce NAME. "
        "Run all, small, within half an hour on two cores: marginboost reproduce all --small"
    )


def _run(module: Any, progress: Any, request: Request, out: Path, debug: bool) -> None:
    how = module.Request(
        repeats=request.repeats,
        jobs=request.jobs,
        data=tuple(request.data),
        methods=tuple(request.methods),
        device=request.device,
        small=request.small,
    )
    watcher = progress.make_watcher()
    try:
        outcome = module.reproduce(request.names, how, out=out, watcher=watcher)
    except KeyboardInterrupt:
        fail(
            f"Interrupted: what was done is kept in {out}; the same command goes on from there.",
            INTERRUPTED,
        )
    for words in outcome.notes:
        note(words)
    for name, reasons in outcome.missing.items():
        for reason in reasons:
            note(f"{name}: not all of it was run: {reason}")
    for name, error in outcome.failed.items():
        if debug or not isinstance(error, EXPECTED):
            traceback.print_exception(error)
        note(f"marginboost: {name} failed: {sentence(error)}")
    if outcome.page is not None:
        _say_where(outcome.page)
    elif not outcome.failed:
        fail("Nothing could be run.")
    if not outcome.good:
        raise typer.Exit(FAILED)


def _say_where(page: Path) -> None:
    typer.echo(f"Results: {page} and {page.with_suffix('.html')}")
