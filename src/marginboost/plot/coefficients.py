"""The coefficients of the rounds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sklearn.utils.validation import check_is_fitted

from marginboost.evaluation.rounds import round_sizes
from marginboost.plot.canvas import SEQUENTIAL, axes, class_ticks

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def coefficients(model: Any, *, ax: Axes | None = None) -> Axes:
    """Draw how much each round contributes to each class.

    For models whose weak classifiers answer -1 or +1, this is the paper's W. For all others, and for
    vector-leaf trees, it is by how much the round's trees move the score, on average over rows.

    Parameters
    ----------
    model : classifier
        Fitted.
    ax : matplotlib Axes, optional
        Where to draw; a new figure if None.

    Returns
    -------
    matplotlib Axes
    """
    check_is_fitted(model)
    W = getattr(model, "coef_", None)
    sizes = round_sizes(model.ensemble_) if W is None else W
    ax = axes(ax, (7.0, 4.0))
    # Without it, the few large rounds at the start would leave all others white.
    from matplotlib.colors import PowerNorm  # noqa: PLC0415 - an optional dependency

    image = ax.imshow(
        sizes.T,
        cmap=SEQUENTIAL,
        norm=PowerNorm(0.5, vmin=0),
        aspect="auto",
        interpolation="nearest",
        extent=(0.5, len(sizes) + 0.5, sizes.shape[1] - 0.5, -0.5),
    )
    class_ticks(ax, model.classes_, "y")
    ax.set_xlabel("round")
    ax.set_ylabel("class")
    title = "Coefficients W" if W is not None else "How far each round moves the scores"
    ax.set_title(title, loc="left", fontsize="medium")
    bar = ax.figure.colorbar(image, ax=ax)
    bar.set_label("coefficient" if W is not None else "mean size of the move")
    bar.outline.set_visible(False)
    return ax
