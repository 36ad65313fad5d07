"""Draw the plots of a section, in the style of marginboost.plot."""

from __future__ import annotations

import io
from typing import Any

from experiments.page.section import Plot
from marginboost.plot.canvas import COLOURS

DPI = 130


def png(plot: Plot) -> bytes:
    """Return a plot as PNG. Equal plots give equal bytes."""
    import matplotlib as mpl  # noqa: PLC0415  slow to come
    from cycler import cycler  # noqa: PLC0415
    from matplotlib.backends.backend_agg import FigureCanvasAgg  # noqa: PLC0415
    from matplotlib.figure import Figure  # noqa: PLC0415

    style: Any = {
        "axes.prop_cycle": cycler(color=COLOURS),
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.titlelocation": "left",
        "axes.titlesize": "medium",
        "legend.frameon": False,
        "legend.fontsize": "small",
    }
    with mpl.rc_context(style):
        figure = Figure(figsize=(plot.width, plot.height), layout="constrained")
        FigureCanvasAgg(figure)
        plot.draw(figure)
        held = io.BytesIO()
        figure.savefig(held, format="png", dpi=DPI, facecolor="white", metadata={"Software": None})
    return held.getvalue()


def plain_numbers(axis: Any) -> None:
    """Write the numbers of a logarithmic axis as they are, 20 and not a power of ten."""
    from matplotlib.ticker import LogLocator, StrMethodFormatter  # noqa: PLC0415

    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axis.set_major_formatter(StrMethodFormatter("{x:g}"))
    axis.set_minor_formatter(StrMethodFormatter(""))
