"""What a training returns, and the last steps towards it: calibration, covers, warnings."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from marginboost.boosting.calibration import Calibration, Floats, class_frequencies
from marginboost.boosting.frequencies import add_frequencies
from marginboost.coefficients.grid import on_grid
from marginboost.data.sampled_rows import draw_rows, thinned
from marginboost.data.user_warning import warn_user
from marginboost.model.builder import EnsembleBuilder
from marginboost.model.constant import with_offset
from marginboost.model.cover import leaf_cover

if TYPE_CHECKING:
    from marginboost.boosting.loop import Method
    from marginboost.boosting.round import Round
    from marginboost.boosting.run import Run, Settings
    from marginboost.boosting.validation import Validation
    from marginboost.data.rows import Rows
    from marginboost.model.calibration_rows import CalibrationRows
    from marginboost.model.ensemble import Ensemble

__all__ = [
    "Choice",
    "Part",
    "Trained",
    "calibrated",
    "covered",
    "frequency_model",
    "release",
    "warn_of_interrupt",
    "warn_of_no_split",
    "with_cover",
]

# Training rows that the covers of leaves are counted on: a tenth is known to half a percent.
COVER_ROWS = 4096
# With very many trees fewer rows will do: this many walks down a tree are done.
COVER_WALKS = 1 << 22
FEWEST_ROWS = 256
# Training rows that the importances of features are means over.
IMPORTANCE_ROWS = 256


@dataclass(frozen=True, slots=True)
class Part:
    """One of the fits that a model is the sum of.

    Attributes
    ----------
    settings : Settings
        Its settings.
    n_rounds : int
        Its rounds.
    share : float
        Its share in the scores.
    n_fits : int
        How many fits it is the mean of.
    penalty : float or None
        Of a linear model.
    """

    settings: Settings
    n_rounds: int
    share: float
    n_fits: int = 1
    penalty: float | None = None


@dataclass(frozen=True, slots=True)
class Choice:
    """What training has decided.

    Attributes
    ----------
    parts : tuple of Part
        The fits that the model is the sum of.
    error : float
        Share of held-out rows that the fits without them got wrong.
    loss : float
        Mean log loss of those rows.
    """

    parts: tuple[Part, ...]
    error: float
    loss: float


@dataclass(slots=True)
class Trained:
    """A model and how it came about.

    Attributes
    ----------
    ensemble : Ensemble
        The rounds that are kept.
    rounds : list of Round
        All rounds that were done.
    n_kept : int
        How many of them are kept.
    stop_reason : str
        Why the rounds ended.
    scale : float
        Probabilities are `link(scale)` of the scores.
    data : Rows
        The rows that it was trained on.
    validation : Validation or None
        The validation rows, where there were any.
    method : Method
        What found the rounds.
    X, weight : array
        Some of the training rows, for importances.
    splits_nothing : bool
        Whether the model is that of the class frequencies.
    choice : Choice or None
        What was decided, where something was.
    held_out : CalibrationRows or None
        Rows that the model, or fits like it, did not see, with their probabilities.
    """

    ensemble: Ensemble
    rounds: list[Round]
    n_kept: int
    stop_reason: str
    scale: float
    data: Rows
    validation: Validation | None
    method: Any
    X: Any = None
    weight: Any = None
    splits_nothing: bool = False
    choice: Choice | None = None
    held_out: CalibrationRows | None = None


def calibrated(run: Run, trained: Trained, found: Calibration) -> Trained:
    """Set the scale; add the class frequencies where they are needed, or settle for them."""
    if found.scale == 0.0:
        warn_user(
            "On the rows that were held out, the rounds of the model add nothing to the class "
            "frequencies: the model predicts those for every row. Train on more rows, or set "
            "calibrate=False to keep the rounds."
        )
        return frequency_model(run, trained.method, trained.stop_reason, trained.validation)
    if found.prior > 0.0:
        offset = on_grid(found.offset(class_frequencies(run.data)))
        trained.ensemble = with_offset(trained.ensemble, offset)
        if trained.validation is not None:
            trained.validation.replace(trained.ensemble)
    trained.scale = found.scale
    return trained


def frequency_model(
    run: Run, method: Method | None, reason: str, validation: Validation | None
) -> Trained:
    """Make the model of the class frequencies: one round, without a split."""
    data, scale = run.data, run.algorithm.scale
    builder = EnsembleBuilder(data.binned.n_features, data.n_classes)
    finished = add_frequencies(builder, data, run.algorithm.link(scale))
    finished = finished._replace(seconds=time.perf_counter() - run.began)
    ensemble = builder.build()
    if validation is not None:
        error, loss, _ = validation.replace(ensemble)
        finished = finished._replace(validation_error=error, validation_loss=loss)
    model = Trained(ensemble, [finished], 1, reason, scale, data, validation, method)
    model.splits_nothing = True
    return model


def release(*engines: Any) -> None:
    """Let engines that can do so free their rows: what follows a fit needs memory of its own."""
    for engine in engines:
        free = getattr(engine, "release", None)
        if free is not None:
            free()


def covered(run: Run, trained: Trained) -> Trained:
    """Count how many training rows reach each leaf, and keep some rows for importances."""
    # Of the fit's seed, the rows of small hashes may be those that were held out.
    seed = run.algorithm.seed + (run.view is not None)
    trained.ensemble, trained.X, trained.weight = with_cover(
        trained.ensemble, partial(draw_rows, run.data, seed=seed), run.options.n_threads
    )
    return trained


def with_cover(
    ensemble: Ensemble, draw: Callable[[int], tuple[Any, Floats]], n_threads: int
) -> tuple[Ensemble, Any, Floats]:
    """Return an ensemble with the cover of its leaves, and rows and weights for importances.

    Parameters
    ----------
    ensemble : Ensemble
        The trees.
    draw : callable
        Takes a number; returns about so many training rows, as ordered columns, and their weights.
    n_threads : int
        Threads to use.
    """
    n_rows = min(COVER_ROWS, max(FEWEST_ROWS, COVER_WALKS // ensemble.n_trees))
    X, weight = draw(n_rows)
    reached = leaf_cover(ensemble, X, weight, n_threads=n_threads)
    copies = thinned(weight, IMPORTANCE_ROWS)
    some = np.flatnonzero(copies)
    return ensemble.with_cover(reached), X[some], copies[some]


def warn_of_interrupt(trained: Trained) -> None:
    """Warn that a Ctrl-C has ended the rounds."""
    warn_user(f"Interrupted: the model keeps the {trained.n_kept} rounds that were finished.")


def warn_of_no_split(data: Rows) -> None:
    """Warn that the model is that of the class frequencies, and name likely causes."""
    if data.binned.n_bins.max(initial=1) > 1:
        why = (
            "No split lowers the loss: either no column of X says anything about y, or the settings "
            "allow no step (strong regularization, a tiny learning_rate, large leaves)"
        )
    else:
        why = (
            "No split is possible: every column of X is constant or missing, or no split leaves "
            "enough weight on both sides"
        )
    warn_user(f"{why}. The model predicts the class frequencies for every row.")
