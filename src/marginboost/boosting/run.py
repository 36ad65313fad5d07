"""What a training takes: the algorithm, what the user asks for, and what its steps share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from marginboost.boosting.interrupts import Interrupts
    from marginboost.boosting.loop import Method
    from marginboost.boosting.resume import Earlier
    from marginboost.boosting.round import Round
    from marginboost.boosting.validation import ValidationRows
    from marginboost.data.row_view import RowView
    from marginboost.data.rows import Rows
    from marginboost.model.builder import EnsembleBuilder
    from marginboost.model.link import Link

__all__ = ["Algorithm", "Candidate", "LinearCandidate", "Options", "Run", "Settings"]


class Settings(NamedTuple):
    """What training decides for a fit of trees.

    Attributes
    ----------
    name : str
        Of the candidate; "given" where nothing was chosen.
    loss, learning_rate, max_leaf_nodes, max_features, subsample
        As the parameters of that name.
    """

    name: str
    loss: str
    learning_rate: float
    max_leaf_nodes: int
    max_features: float
    subsample: float


@dataclass(frozen=True, slots=True)
class Candidate:
    """Settings of an algorithm that training may choose, alone or with others.

    Attributes
    ----------
    settings : Settings
        What they are.
    make_method : callable
        Takes an engine, the rows, the hash bounds of the rows that the fit must not see (or None), the
        number of the random stream, and the seed of the hashes.
    n_rounds : int
        Most rounds.
    least_rounds : int
        Least rounds of a trial, and of the model where the data are clean: there the loss of few held-out
        rows says little, and more rounds seldom hurt. 0: it does not suit clean data.
    """

    settings: Settings
    make_method: Callable[[Any, Rows, Any, int, int], Method]
    n_rounds: int
    least_rounds: int = 0


@dataclass(frozen=True, slots=True)
class LinearCandidate:
    """A linear model that training may choose beside fits of trees.

    Attributes
    ----------
    settings : Settings
        What to call it.
    codes : sequence
        For each feature: None if it holds numbers, else the column of categories that it orders.
    """

    settings: Settings
    codes: Sequence[int | None]


@dataclass(frozen=True, slots=True)
class Algorithm:
    """What training asks of a classifier.

    Attributes
    ----------
    make_engine : callable
        Takes a number of threads.
    make_method : callable
        Takes an engine, the rows, the hash bounds of the rows that the fit must not see (or None), and
        the number of the random stream: 0 for the model, 1 for the fit that calibrates it.
    link : callable
        Takes the scale of the scores; returns the rule that turns scores into probabilities.
    scale : float
        The scale of scores that are not calibrated.
    corrects_rounds : bool
        Whether a round changes the coefficients of earlier ones.
    seed : int
        Rows are held out by it.
    second_fit : bool
        Whether the scale of the scores is learned from a second fit where there are no validation rows.
    candidates : callable or None
        Takes the rows; returns the settings to choose from, those for clean data first. None: nothing
        is chosen.
    linear : LinearCandidate or None
        One more candidate, for few rows.
    exact_factors : bool
        Whether fits are added up without rounding, so that what holds for each holds for the sum.
    """

    make_engine: Callable[[int], Any]
    make_method: Callable[[Any, Rows, Any, int], Method]
    link: Callable[[float], Link]
    scale: float = 1.0
    corrects_rounds: bool = False
    seed: int = 0
    second_fit: bool = False
    candidates: Callable[[Rows], Sequence[Candidate]] | None = None
    linear: LinearCandidate | None = None
    exact_factors: bool = False


@dataclass(frozen=True, slots=True)
class Options:
    """What the user asks for, whatever the method.

    Attributes
    ----------
    n_rounds : int
        Most rounds.
    n_threads : int
        Threads of this process.
    early_stopping : bool
        Whether the validation loss ends the fit, and chooses the rounds that are kept.
    validation_fraction : float
        Share of the rows to hold out for that, where none are given.
    n_iter_no_change : int
        Rounds without an improvement after which to stop.
    improvement : float
        By how much the validation loss must fall to count as an improvement.
    max_time : float or None
        Seconds after which to stop.
    calibrate : bool
        Whether the scale of the scores is learned from validation rows.
    callbacks : sequence of callables
        Each gets every round; a true result stops the fit.
    verbose : bool
        Whether to show progress.
    """

    n_rounds: int
    n_threads: int
    early_stopping: bool
    validation_fraction: float
    n_iter_no_change: int
    improvement: float
    max_time: float | None
    calibrate: bool
    callbacks: Sequence[Callable[[Round], object]]
    verbose: bool


@dataclass(slots=True)
class Run:
    """What the steps of one training share.

    Attributes
    ----------
    algorithm, options
        As `train` takes them.
    data : Rows
        The rows to train on.
    interrupts : Interrupts
        Keeps Ctrl-C from the model.
    began : float
        When the fit began, by `time.perf_counter`.
    rows : ValidationRows or None
        The validation rows.
    view : RowView or None
        By which they were taken from those of the fit.
    earlier : Earlier or None
        The model that the fit resumes.
    observe : callable or None
        Takes the builder; returns one more callback.
    settle : callable or None
        Takes the rows to train on, once validation rows are held out of them: before the first round.
    listeners : list of callables
        Get every round, also those of the earlier model.
    """

    algorithm: Algorithm
    options: Options
    data: Rows
    interrupts: Interrupts
    began: float
    rows: ValidationRows | None = None
    view: RowView | None = None
    earlier: Earlier | None = None
    observe: Callable[[EnsembleBuilder], Callable[[Round], object]] | None = None
    settle: Callable[[Rows], None] | None = None
    listeners: list[Callable[[Round], None]] = field(default_factory=list)
