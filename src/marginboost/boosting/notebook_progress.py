"""Progress in a notebook: a bar of HTML that is redrawn in its place."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from marginboost.boosting.stop_words import describe_stop
from marginboost.html import Html, tag

if TYPE_CHECKING:
    from marginboost.boosting.round import Round

__all__ = ["NotebookProgress"]

_REFRESH_SECONDS = 0.2


class NotebookProgress:
    """Shows the rounds of a fit below a notebook's cell, redrawn at most five times per second.

    Once the output cannot be shown, nothing is shown any more, and the fit goes on.

    Parameters
    ----------
    n_rounds : int
        The most rounds there will be.
    show : callable
        IPython's `display`.
    """

    def __init__(self, n_rounds: int, show: Callable[..., Any]) -> None:
        self._n_rounds = n_rounds
        self._show: Callable[..., Any] | None = show
        self._handle: Any = None
        self._refreshed = -math.inf
        self._last: Round | None = None

    def __call__(self, finished: Round) -> None:
        """Show a round, if it is time to."""
        self._last = finished
        if time.perf_counter() - self._refreshed >= _REFRESH_SECONDS:
            self._refreshed = time.perf_counter()
            left = f"{finished.seconds_left:.1f} s left"
            self._draw(finished.number, [*_known(finished), f"{finished.seconds:.1f} s", left])

    def close(self, reason: str) -> None:
        """Show the last round and why the fit ended."""
        ending = describe_stop(reason)
        if self._last is None:
            self._draw(0, [ending])
        else:
            known = _known(self._last)
            self._draw(self._last.number, [*known, f"{self._last.seconds:.1f} s", ending])

    def _draw(self, number: int, words: list[str]) -> None:
        words = [f"{number:,} of {self._n_rounds:,} rounds", *words]
        shown = {"text/plain": ", ".join(words), "text/html": str(self._html(number, words))}
        try:
            if self._handle is not None:
                self._handle.update(shown, raw=True)
            elif self._show is not None:
                self._handle = self._show(shown, raw=True, display_id=True)
        except Exception:  # the fit is worth more than its bar, whatever the front end does
            self._handle = self._show = None

    def _html(self, number: int, words: list[str]) -> Html:
        bar = tag("progress", max=self._n_rounds, value=number, style="width: 14em")
        cells = [tag("span", word) for word in words]
        style = (
            "display: flex; flex-wrap: wrap; gap: 0 1.2em; align-items: center; "
            "font-variant-numeric: tabular-nums"
        )
        return tag("div", bar, *cells, style=style)


def _known(finished: Round) -> list[str]:
    """Return what is known of a round."""
    known = (
        ("training loss", finished.training_loss, "{:.3g}"),
        ("training error", 100 * finished.training_error, "{:.2f} %"),
        ("validation loss", finished.validation_loss, "{:.3g}"),
        ("validation error", 100 * finished.validation_error, "{:.2f} %"),
    )
    return [f"{name} {form.format(value)}" for name, value, form in known if not math.isnan(value)]
