"""What all plots share: their Axes and their colours."""

from __future__ import annotations

import sys
import threading
from typing import TYPE_CHECKING, Any

from marginboost.shell import ipython_shell, is_interactive

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# The palette of Okabe and Ito, safe for colour-blind readers, without its light yellow.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
UP, DOWN = COLOURS[0], COLOURS[1]
GREY = "#6b6b6b"
LIGHT = "#d9d9d9"

# A colour map of steadily growing darkness.
SEQUENTIAL = "Blues"


def axes(ax: Axes | None, size: tuple[float, float] = (6.4, 4.0)) -> Axes:
    """Return the Axes to draw on: those given, or those of a new figure.

    Where somebody looks, pyplot makes the figure, so that a notebook and ``plt.show()`` show it. In any
    other program the figure belongs to the caller alone and is freed with the Axes.
    """
    if ax is not None:
        return ax
    try:
        from matplotlib.figure import Figure  # noqa: PLC0415 - an optional dependency
    except ImportError as error:
        raise ImportError(
            "Plots need matplotlib, which is not installed: pip install 'marginboost[plot]'"
        ) from error
    settings: dict[str, Any] = {"figsize": size, "dpi": 120, "layout": "constrained"}
    if not _is_shown():
        return Figure(**settings).subplots()
    from matplotlib import pyplot  # noqa: PLC0415 - an optional dependency

    drawn: Axes = pyplot.subplots(**settings)[1]
    return drawn


def _is_shown() -> bool:
    """Check whether new figures belong to pyplot: in a session, or where the program has imported it."""
    if ipython_shell() is not None:
        return True
    # Windows can be opened by the main thread only; the other threads are a server's.
    in_main = threading.current_thread() is threading.main_thread()
    return in_main and (is_interactive() or "matplotlib.pyplot" in sys.modules)


def tidy(ax: Axes, title: str, x: str, y: str) -> Axes:
    """Add the title and the labels of the axes, and remove needless lines."""
    ax.set_title(title, loc="left", fontsize="medium")
    ax.set_xlabel(x)
    ax.set_ylabel(y)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    return ax


def class_ticks(ax: Any, labels: Any, which: str) -> None:
    """Label the classes along an axis; only some of them where there are many."""
    every = max(1, -(-len(labels) // 30))
    places = range(0, len(labels), every)
    names = [str(labels[place]) for place in places]
    turned = which == "x" and max(map(len, names)) * len(names) > 50
    setting = {"rotation": 90} if turned else {}
    getattr(ax, f"set_{which}ticks")(list(places), names, fontsize="small", **setting)
