"""Plots of fitted models, drawn by matplotlib: the extra `plot`.

Every function draws on the given Axes, or on those of a new figure, and returns them:
``learning_curves(model).figure.savefig("curves.png")``.

In a notebook a new figure appears below the cell. In a script, import pyplot first; then
``plt.show()`` shows all figures. A program that has not imported pyplot gets figures that pyplot
does not know: nothing is opened or left behind, and no display is needed. The same is true of all
threads other than the main one. A server that has imported pyplot passes
``ax=matplotlib.figure.Figure().subplots()``, or calls ``plt.close(ax.figure)`` afterwards; otherwise
pyplot keeps every figure in memory.
"""

from marginboost.plot.calibration import calibration
from marginboost.plot.coefficients import coefficients
from marginboost.plot.confusion import confusion
from marginboost.plot.contributions import contributions
from marginboost.plot.importances import importances
from marginboost.plot.learning_curves import learning_curves
from marginboost.plot.margins import margins
from marginboost.plot.paths import paths
from marginboost.plot.shapes import shapes

__all__ = [
    "calibration",
    "coefficients",
    "confusion",
    "contributions",
    "importances",
    "learning_curves",
    "margins",
    "paths",
    "shapes",
]
