"""Figure 4: test error on scenes against the number of rounds."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments.methods import METHODS, PINK
from experiments.page.plots import plain_numbers
from experiments.page.section import Plot
from experiments.svms import SVMS

__all__ = ["Curve", "figure4"]

STYLES = {"svm-linear": ":", "svm-hik": "--"}


@dataclass(frozen=True)
class Curve:
    """The mean accuracy of a method after increasing numbers of rounds.

    Attributes
    ----------
    at : list of int
        Numbers of rounds.
    accuracies : float64 array
        In %, one per number of rounds.
    """

    at: list[int]
    accuracies: NDArray[np.float64]

    def reached(self, target: float) -> int | None:
        """Return the first number of rounds whose accuracy is the target's or more."""
        found = zip(self.at, self.accuracies, strict=True)
        return next((n for n, value in found if value >= target), None)


def figure4(curves: Mapping[str, Curve], levels: Mapping[str, float]) -> Plot:
    """Return the plot.

    Parameters
    ----------
    curves : mapping of str to Curve
        Of boosting methods.
    levels : mapping of str to float
        Mean accuracies of support vector machines with all features, in %.
    """

    def draw(figure: Any) -> None:
        axes = figure.subplots()
        _draw_curves(axes, curves, levels.get("svm-linear", np.inf))
        for method, level in levels.items():
            axes.axhline(
                100 - level, linestyle=STYLES[method], color=PINK, label=SVMS[method].label
            )
        axes.set(xscale="log", yscale="log", xlabel="rounds", ylabel="test error in %")
        plain_numbers(axes.yaxis)
        if axes.get_legend_handles_labels()[0]:
            axes.legend(frameon=False)

    return Plot(
        "figure4",
        "Figure 4: test error against the number of rounds, each of which adds a feature. Dotted "
        "and dashed lines are the support vector machines with all features; a circle shows "
        "where a method becomes as good as the linear one.",
        draw,
    )


def _draw_curves(axes: Any, curves: Mapping[str, Curve], target: float) -> None:
    """Draw curves of errors, with a circle where each reaches the target."""
    # Above and below in turn: curves that are close reach it at rounds that are close.
    places = itertools.cycle([(0, 6), (0, -14)])
    for method, curve in curves.items():
        colour = METHODS[method].colour
        errors = 100 - curve.accuracies
        axes.plot(curve.at, errors, label=METHODS[method].label, color=colour)
        if (reached := curve.reached(target)) is not None:
            error, place = errors[curve.at.index(reached)], next(places)
            axes.plot(reached, error, "o", color=colour)
            axes.annotate(
                f"{reached:,}",
                (reached, error),
                textcoords="offset points",
                xytext=place,
                ha="center",
            )
