"""The fit of a model: boosting, with everything that watches the rounds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from marginboost.boosting.loop import INTERRUPTED, Method, boost
from marginboost.boosting.monitor import Monitor
from marginboost.boosting.progress import make_progress
from marginboost.boosting.resume import Earlier, resume
from marginboost.boosting.stopping import EarlyStopping
from marginboost.boosting.validation import Validation
from marginboost.model.builder import EnsembleBuilder

if TYPE_CHECKING:
    from marginboost.boosting.round import Round
    from marginboost.boosting.run import Run
    from marginboost.boosting.validation import ValidationScore
    from marginboost.data.rows import Rows

__all__ = ["Boosted", "boost_model"]


class Boosted(NamedTuple):
    """What boosting leaves.

    Attributes
    ----------
    builder : EnsembleBuilder
        Holds the rounds.
    method : Method
        Found them.
    rounds : list of Round
        What is known of each.
    reason : str
        Why the rounds ended.
    validation : Validation or None
        The validation rows, where there are any.
    """

    builder: EnsembleBuilder
    method: Any
    rounds: list[Round]
    reason: str
    validation: Validation | None


def boost_model(
    run: Run, engine: Any, stop: Callable[[Round], str | None] | None = None
) -> Boosted:
    """Boost on all rows.

    Parameters
    ----------
    run : Run
        The rows, the algorithm and what the user asks for.
    engine : object
        Runs the method.
    stop : callable, optional
        Gets every round; a reason that it returns ends the fit.

    Raises
    ------
    KeyboardInterrupt
        After Ctrl-C before the first round was finished.
    """
    options, data = run.options, run.data
    builder = EnsembleBuilder(data.binned.n_features, data.n_classes)
    method = run.algorithm.make_method(engine, data, None, 0)
    validation = None
    if run.rows is not None:
        validation = Validation(run.rows, data.n_classes, options.n_threads)
    monitor = _make_monitor(run, builder, validation)

    def watch(finished: Round) -> str | None:
        reason = monitor(finished)
        return reason if reason or stop is None else stop(finished)

    reason = "failed"
    try:
        earlier: Iterable[Round] = ()
        if run.earlier is not None:
            earlier = _restored(run.earlier, data, method, builder, monitor)
        reason = boost(
            method,
            options.n_rounds,
            builder,
            watch,
            earlier,
            horizon=lambda number: options.n_rounds - number + 1,
        )
    finally:
        if monitor.progress is not None:
            monitor.progress.close(reason)
    if reason == INTERRUPTED and not monitor.rounds:
        raise KeyboardInterrupt
    run.interrupts.deferred = True
    return Boosted(builder, method, monitor.rounds, reason, validation)


def _restored(
    earlier: Earlier, data: Rows, method: Method, builder: EnsembleBuilder, monitor: Monitor
) -> Iterator[Round]:
    """Lead the method and the monitor through the rounds of the model that the fit resumes."""
    for finished, seconds in resume(method, builder, earlier, data.binned.thresholds):
        monitor.restore(finished, seconds)
        yield finished


def _make_monitor(run: Run, builder: EnsembleBuilder, validation: Validation | None) -> Monitor:
    options = run.options
    stopping = None
    if validation is not None:

        def evaluate() -> ValidationScore:
            if run.algorithm.corrects_rounds:
                return validation.replace(builder.build())
            return validation.add(builder.last_round())

        if options.early_stopping:
            stopping = EarlyStopping(options.n_iter_no_change, options.improvement)
    callbacks = list(options.callbacks)
    if run.observe is not None:
        callbacks.append(run.observe(builder))
    return Monitor(
        options.n_rounds,
        began=run.began,
        evaluate=None if validation is None else evaluate,
        stopping=stopping,
        max_time=options.max_time,
        callbacks=callbacks,
        listeners=run.listeners,
        interrupts=run.interrupts,
        progress=make_progress(options.n_rounds) if options.verbose else None,
    )
