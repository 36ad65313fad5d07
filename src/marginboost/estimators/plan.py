"""What one call of `fit` goes by, from the rows to the model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from marginboost.backends.host import Backend
    from marginboost.boosting.interrupts import Interrupts
    from marginboost.boosting.round import Round
    from marginboost.boosting.validation import ValidationRows
    from marginboost.data.encoding import Encoding
    from marginboost.data.row_view import RowView
    from marginboost.data.rows import Rows
    from marginboost.estimators.sklearn_callbacks import SklearnCallbacks
    from marginboost.model.ensemble import Ensemble

__all__ = ["Earlier", "Plan"]

Floats = NDArray[np.float64]


class Earlier(NamedTuple):
    """A model that a fit goes on with.

    Attributes
    ----------
    ensemble : Ensemble
        Its rounds.
    classes : array
        Its labels.
    encoding : Encoding
        How columns of X became those that it splits.
    gains : float64 array
        How much each split counts.
    seconds : float64 array
        When each round was over.
    votes : float64 array or None
        The votes of its rounds, where the ensemble does not tell which is whose.
    """

    ensemble: Ensemble
    classes: NDArray[Any]
    encoding: Encoding
    gains: Floats
    seconds: Floats
    votes: Floats | None


@dataclass(slots=True)
class Plan:
    """What one call of `fit` goes by.

    Attributes
    ----------
    began : float
        When it began, by `time.perf_counter`.
    home : Backend
        Where the rows are.
    data : Rows
        The rows.
    interrupts : Interrupts
        Keeps Ctrl-C from the model.
    max_time : float or None
        Seconds after which the rounds end.
    view : RowView or None
        Which of them are held out as validation rows.
    rows : ValidationRows or None
        The validation rows, those or others.
    earlier : Earlier or None
        The model that it goes on with.
    sklearn : SklearnCallbacks
        Those of scikit-learn's callbacks that look on.
    has_model : bool
        Whether the rounds are over, and the model is put together.
    followers : list of callables
        Get every round, also those of the earlier model.
    """

    began: float
    home: Backend
    data: Rows
    sklearn: SklearnCallbacks
    interrupts: Interrupts
    max_time: float | None
    view: RowView | None = None
    rows: ValidationRows | None = None
    earlier: Earlier | None = None
    has_model: bool = False
    followers: list[Callable[[Round], None]] = field(default_factory=list)
