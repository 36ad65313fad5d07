"""How commands fail: with one sentence on the error stream, and a status for scripts."""

from __future__ import annotations

import os
import sys
from collections.abc import Collection
from difflib import get_close_matches
from typing import Any, NoReturn

import polars as pl
import typer
from typer.core import TyperGroup

FAILED = 1
WRONG_USAGE = 2
INTERRUPTED = 130  # 128 + SIGINT, as shells have it

# What wrong files, data and parameters cause; anything else is a bug and shows its traceback.
EXPECTED = (ValueError, TypeError, OSError, MemoryError, ImportError, pl.exceptions.PolarsError)


class UserError(ValueError):
    """A mistake that the user can correct."""


class Commands(TyperGroup):
    """The commands; every expected error becomes one sentence."""

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
        except EXPECTED as error:
            if ctx.params.get("debug"):
                raise
            fail(sentence(error))


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
    text = " ".join(str(error).split())
    return text or type(error).__name__


def check_column(name: str, columns: Collection[str], option: str) -> None:
    """Raise if the table has no such column, and suggest similar names."""
    if name in columns:
        return
    lower = {column.lower(): column for column in columns}
    close = [lower[match] for match in get_close_matches(name.lower(), lower, n=3, cutoff=0.5)]
    if close:
        hint = f"did you mean {' or '.join(map(repr, close))}?"
    else:
        shown = [repr(column) for column in list(columns)[:10]]
        more = ", ..." if len(columns) > 10 else ""
        hint = f"the columns are {', '.join(shown)}{more}."
    raise UserError(f"{option} must name a column of the table; there is no {name!r}: {hint}")
