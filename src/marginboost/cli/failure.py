"""How commands fail: with one sentence on the error stream, and a status for scripts."""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Sequence
from contextlib import suppress
from difflib import get_close_matches
from typing import Any, NoReturn

import typer
from typer.core import TyperGroup

from marginboost.cli import NEEDED, name_missing

FAILED = 1
WRONG_USAGE = 2
INTERRUPTED = 130  # 128 + SIGINT, as shells have it

# What wrong files, data and parameters cause; anything else is a bug and shows its traceback.
EXPECTED = (ValueError, TypeError, OSError, MemoryError, ImportError)

_MOST_LISTED = 40  # names of columns in a message


class UserError(ValueError):
    """A mistake that the user can correct."""


class UsageError(UserError):
    """A mistake in the command itself, whatever the files contain."""


class Commands(TyperGroup):
    """The commands; every expected error becomes one sentence."""

    def make_context(self, info_name: Any, args: Any, parent: Any = None, **extra: Any) -> Any:
        """Read the options that come before the command."""
        if not args:
            with suppress(typer.Exit):
                super().make_context(info_name, ["--help"], parent, **extra)
            raise typer.Exit(WRONG_USAGE)
        try:
            return super().make_context(info_name, args, parent, **extra)
        except Exception as error:
            _explain_usage(error)
            raise

    def invoke(self, ctx: Any) -> Any:
        """Run a command."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            if ctx.params.get("debug"):
                raise
            fail("Interrupted.", INTERRUPTED)
        except BrokenPipeError:
            # The reader, such as `head`, has closed the pipe. Python would also complain at its exit.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(FAILED) from None
        except Exception as error:
            _explain_usage(error)
            if ctx.params.get("debug") or not _is_expected(error):
                raise
            fail(sentence(error), WRONG_USAGE if isinstance(error, UsageError) else FAILED)


def _is_expected(error: Exception) -> bool:
    polars = sys.modules.get("polars")  # which has errors of its own, once it is imported
    return isinstance(error, EXPECTED) or (
        polars is not None and isinstance(error, polars.exceptions.PolarsError)
    )


def _explain_usage(error: Exception) -> None:
    """Exit with one sentence if options or arguments are wrong.

    The parser's exceptions are recognised by what they have, since typer brings its own copy of them.
    """
    message = getattr(error, "format_message", None)
    if message is None or type(error).__name__ == "NoArgsIsHelpError":
        return
    ctx = getattr(error, "ctx", None)
    path = "marginboost" if ctx is None else ctx.command_path
    text = " ".join(message().split())
    end = "" if text.endswith((".", "?")) else "."
    fail(f"{text}{end} See: {path} --help", WRONG_USAGE)


def fail(message: str, status: int = FAILED) -> NoReturn:
    """Print the reason and exit."""
    typer.echo(f"marginboost: {message}", err=True)
    raise typer.Exit(status) from None


def sentence(error: BaseException) -> str:
    """Put an exception into one line."""
    if isinstance(error, OSError) and error.strerror and error.filename is not None:
        return f"{error.filename}: {error.strerror}."
    if isinstance(error, MemoryError) and not str(error):
        return "There is not enough memory; use fewer rows or columns."
    if isinstance(error, ModuleNotFoundError) and error.name in NEEDED:
        return name_missing(error.name)
    text = " ".join(str(error).split())
    return text or type(error).__name__


def check_column(name: str, columns: Collection[str], option: str) -> None:
    """Raise if the table has no such column; suggest similar names, and list all."""
    if name not in columns:
        raise UserError(
            f"{option} must name a column of the table; there is no {_with_hint(name, columns)}"
        )


def check_all_there(names: Sequence[str], columns: Collection[str]) -> None:
    """Raise if the table lacks columns of the model; suggest similar names if it lacks one."""
    lacking = [name for name in names if name not in columns]
    if not lacking:
        return
    if len(lacking) == 1:
        what = _with_hint(lacking[0], columns)
    else:
        shown = ", ".join(map(repr, lacking[:5])) + (", ..." if len(lacking) > 5 else "")
        what = f"{len(lacking)}: {shown}."
    raise UserError(f"The table must have the model's columns; it lacks {what}")


def _with_hint(name: str, columns: Collection[str]) -> str:
    lower = {column.lower(): column for column in columns}
    close = [lower[match] for match in get_close_matches(name.lower(), lower, n=3, cutoff=0.5)]
    hint = f": did you mean {' or '.join(map(repr, close))}?" if close else "."
    return f"{name!r}{hint} {list_columns(columns)}"


def list_columns(columns: Collection[str]) -> str:
    """Name the columns of a table in a sentence."""
    shown = ", ".join(map(repr, list(columns)[:_MOST_LISTED]))
    more = len(columns) - _MOST_LISTED
    return f"The columns are {shown}{f' and {more:,} more' if more > 0 else ''}."
