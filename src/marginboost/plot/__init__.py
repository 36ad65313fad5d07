"""Plots of fitted models, drawn by matplotlib: the extra `plot`.

Every function draws on the given Axes, or on those of a new figure, and returns them:
``learning_curves(model).figure.savefig("curves.png")``. pyplot is not used, so no
figure is opened, shown or left behind.
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
