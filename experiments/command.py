"""The command line of the experiments: options, messages and exit status."""

from __future__ import annotations

import argparse
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path

from experiments import reproduce
from experiments.catalogue import LINES
from experiments.progress import make_watcher
from experiments.reproduce import Outcome, Request

ROOT = Path(__file__).parents[1]
FAILED = 1
INTERRUPTED = 130  # 128 + SIGINT, as shells have it

# What options, files and missing packages cause; anything else is a bug and shows its traceback.
EXPECTED = (ValueError, TypeError, OSError, MemoryError, ImportError)

DESCRIPTION = """\
Run the experiments of the paper and compare the numbers with the paper's.

Writes a JSON file with every trial, and a page with tables, plots and verdicts:
results.md and results.html. Ctrl-C keeps what is done. The same command then
continues, and more repeats are added to those already there.
"""
EXAMPLES = """\
examples:
  python -m experiments
  python -m experiments table1 --repeats 50
  python -m experiments table5 --data wine --data glass --method exp
  python -m experiments all --small --jobs 2
  python -m experiments table4 --only-missing --repeats 5
  python -m experiments --keep out/reproduce
  python -m experiments --page-from experiments/results --docs docs
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run experiments, or list them, and return the exit status.

    Parameters
    ----------
    arguments : sequence of str, optional
        What was typed after the name of the program; that of this process if None.

    Returns
    -------
    int
        0 if all is well, 1 after a failure, 130 after Ctrl-C. Wrong usage exits with 2.
    """
    parser = _parser()
    chosen = parser.parse_args(arguments)
    if chosen.page_from is None and chosen.docs is not None:
        parser.error("--docs needs --page-from: it shows results that already exist.")
    if chosen.page_from is not None and (chosen.names or chosen.small):
        parser.error("--page-from takes no names and no --small: it runs nothing.")
    try:
        if chosen.keep is not None:
            for name, (kept, dropped) in reproduce.keep(chosen.keep).items():
                print(f"{name}: {kept} records" + (f", {dropped} dropped" if dropped else ""))
            return 0
        if chosen.page_from is not None:
            out = chosen.out or ROOT / reproduce.OUT_PAGE
            _print_page(reproduce.page_from(chosen.page_from, out, docs=chosen.docs))
            return 0
        if chosen.names:
            return _run(chosen)
    except KeyboardInterrupt:
        return _fail("Interrupted.", INTERRUPTED)
    except EXPECTED as error:
        if chosen.debug:
            raise
        return _fail(_sentence(error))
    _list()
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m experiments",
        description=DESCRIPTION,
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("names", nargs="*", metavar="NAME", help="experiments, or all; none lists them")
    add("--repeats", type=_count, metavar="N",
        help="random draws of the data; by default a few (the paper mostly has 50)")  # fmt: skip
    add("--jobs", type=_count, metavar="N", help="trials at a time; by default one per core")
    add("--data", action="append", default=[], metavar="NAME",
        help="run only this data set; may be repeated")  # fmt: skip
    add("--method", action="append", default=[], metavar="NAME",
        help="run only this method; may be repeated")  # fmt: skip
    add("--device", choices=["cpu", "cuda"], default="cpu",
        help="cuda fits on a GPU the experiments that gain from it; the default is cpu")  # fmt: skip
    add("--small", action="store_true",
        help="run small versions: all within half an hour on two cores")  # fmt: skip
    add("--out", type=Path, metavar="FOLDER",
        help="folder for the results; by default out/reproduce or out/reproduce-small in the checkout"
        )  # fmt: skip
    add("--only-missing", action="store_true",
        help="do not run trials again that experiments/results has")  # fmt: skip
    add("--keep", type=Path, metavar="FOLDER",
        help="run nothing: add the records in this folder to experiments/results")  # fmt: skip
    add("--page-from", type=Path, metavar="FOLDER",
        help="run nothing: write the page from the results in this folder")  # fmt: skip
    add("--docs", type=Path, metavar="FOLDER",
        help="with --page-from: also write the Markdown page to this folder")  # fmt: skip
    add("--debug", action="store_true", help="show the traceback of an error")
    return parser


def _count(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"must be at least 1, got {number}")
    return number


def _list() -> None:
    width = max(map(len, LINES))
    for name, line in LINES.items():
        print(f"{name:<{width}}  {line}")
    _note(
        "Run one: python -m experiments NAME. "
        "Run all, small, within half an hour on two cores: python -m experiments all --small"
    )


def _run(chosen: argparse.Namespace) -> int:
    out = chosen.out or ROOT / (reproduce.OUT_SMALL if chosen.small else reproduce.OUT)
    request = Request(
        repeats=chosen.repeats,
        jobs=chosen.jobs,
        data=tuple(chosen.data),
        methods=tuple(chosen.method),
        device=chosen.device,
        small=chosen.small,
        only_missing=chosen.only_missing,
    )
    try:
        outcome = reproduce.reproduce(chosen.names, request, out=out, watcher=make_watcher())
    except KeyboardInterrupt:
        message = f"Interrupted: what was done is kept in {out}; run the same command to continue."
        return _fail(message, INTERRUPTED)
    return _show(outcome, chosen.debug)


def _show(outcome: Outcome, debug: bool) -> int:
    """Print what came of a run, and return the exit status."""
    for words in outcome.notes:
        _note(words)
    for name, reasons in outcome.missing.items():
        for reason in reasons:
            _note(f"{name}: not all trials were run: {reason}")
    for name, error in outcome.failed.items():
        if debug or not isinstance(error, EXPECTED):
            traceback.print_exception(error)
        _note(f"experiments: {name} failed: {_sentence(error)}")
    if outcome.page is not None:
        _print_page(outcome.page)
    elif not outcome.failed:
        return _fail("Nothing could be run.")
    return 0 if outcome.good else FAILED


def _print_page(page: Path) -> None:
    print(f"Results: {page} and {page.with_suffix('.html')}")


def _note(message: str) -> None:
    print(message, file=sys.stderr)


def _fail(message: str, status: int = FAILED) -> int:
    _note(f"experiments: {message}")
    return status


def _sentence(error: BaseException) -> str:
    """Put an exception into one line."""
    if isinstance(error, OSError) and error.strerror and error.filename is not None:
        return f"{error.filename}: {error.strerror}."
    return " ".join(str(error).split()) or type(error).__name__
