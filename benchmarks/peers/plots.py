"""Plots of a summary, as PNG files."""

import math
from pathlib import Path

import numpy as np
from libraries import FIXED, LIBRARIES, OURS
from matplotlib.figure import Figure
from summary import Summary

COLOURS = {
    OURS: "#d1495b",
    FIXED: "#f2a7b0",
    "lightgbm": "#2e8b57",
    "xgboost": "#1f5fa8",
    "xgboost-vector": "#7fb2e5",
    "catboost": "#e0a030",
    "sklearn-hgb": "#7a6ca8",
}
ERROR, FIT, CLASSES = "peers_error.png", "peers_fit_time.png", "peers_classes.png"


def draw(found: Summary, folder: Path) -> list[str]:
    """Draw the available plots; return the names of the files."""
    drawn = []
    if found.complete:
        _error(found).savefig(folder / ERROR, dpi=110)
        drawn.append(ERROR)
    if FIXED in found.libraries and found.peers and found.sets:
        _fit(found).savefig(folder / FIT, dpi=110)
        drawn.append(FIT)
    if found.axes["classes"]:
        _classes(found).savefig(folder / CLASSES, dpi=110)
        drawn.append(CLASSES)
    return drawn


def _error(found):
    figure = Figure(figsize=(11, 4.2), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=(2.6, 1))
    places = np.arange(len(found.complete))
    for library in found.libraries:
        errors = [found.value(name, library, "error") for name in found.complete]
        lowest = [
            min(found.value(name, other, "error") for other in found.libraries)
            for name in found.complete
        ]
        relative = [e / low if low > 0 else math.nan for e, low in zip(errors, lowest, strict=True)]
        relative = [r if math.isfinite(r) else math.nan for r in relative]
        left.plot(
            places,
            relative,
            "D" if library == OURS else "o",
            markersize=8 if library == OURS else 6,
            color=COLOURS[library],
            label=LIBRARIES[library].title,
            alpha=0.9,
        )
    left.set_xticks(places, found.complete, rotation=40, ha="right")
    left.set_yscale("log")
    left.yaxis.set_major_formatter("{x:g}")
    left.set_ylabel("test error / lowest test error")
    left.axhline(1.0, color="0.8", zorder=0)
    figure.legend(loc="outside upper center", ncols=len(found.libraries), fontsize=8)
    ranks = found.mean_ranks("error")
    order = sorted(found.libraries, key=ranks.__getitem__, reverse=True)
    right.barh(
        [LIBRARIES[x].title for x in order],
        [ranks[x] for x in order],
        color=[COLOURS[x] for x in order],
    )
    right.set_xlabel("mean rank in test error (1 is best)")
    return figure


def _fit(found):
    figure = Figure(figsize=(11, 4.2), layout="constrained")
    axes = figure.subplots()
    places = np.arange(len(found.sets))
    others = [library for library in found.libraries if library != FIXED]
    width = 0.8 / len(others)
    for j, library in enumerate(others):
        ratios = found.ratios(library, "fit_seconds", FIXED)
        heights = [ratios.get(name, math.nan) for name in found.sets]
        bars = axes.bar(
            places + (j - (len(others) - 1) / 2) * width,
            heights,
            width,
            color=COLOURS[library],
            label=LIBRARIES[library].title,
        )
        for bar, name in zip(bars, found.sets, strict=True):
            if found.is_cut(name, library):
                bar.set_hatch("///")
    axes.set_yscale("log")
    axes.axhline(1.0, color="black", linewidth=1)
    axes.set_xticks(places, found.sets, rotation=40, ha="right")
    axes.set_ylabel(f"time to fit / that of {LIBRARIES[FIXED].title}")
    axes.set_title("Hatched: cut off at the time limit, so at least this", fontsize=9)
    axes.legend(fontsize=8, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return figure


def _classes(found):
    figure = Figure(figsize=(6.5, 4.5), layout="constrained")
    axes = figure.subplots()
    for library in (name for name in found.libraries if name != FIXED):
        points = [p for p in found.curve("classes", library) if math.isfinite(p.seconds)]
        kept = [p for p in points if not p.cut]
        cut = next((p for p in points if p.cut), None)
        drawn = [*kept, cut] if cut else kept
        axes.plot(
            [p.at for p in drawn],
            [p.seconds for p in drawn],
            "-o",
            color=COLOURS[library],
            label=LIBRARIES[library].title,
            linewidth=2.5 if library == OURS else 1.5,
        )
        if cut:
            axes.plot([cut.at], [cut.seconds], "^", color=COLOURS[library], markersize=11)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("classes")
    axes.set_ylabel("seconds to fit 10 rounds, 20,000 rows x 20 features")
    axes.set_title("Triangle: cut off at the time limit", fontsize=9)
    axes.legend(fontsize=8)
    return figure
