"""``marginboost train``."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from time import perf_counter
from typing import Any

import numpy as np
import typer
from numpy.typing import NDArray

from marginboost import MarginBoostClassifier, MCBoostClassifier
from marginboost.boosting.stop_words import describe_stop
from marginboost.cli.constraints import Constraints
from marginboost.cli.costs import read_cost_file, read_order
from marginboost.cli.failure import INTERRUPTED, UserError, fail
from marginboost.cli.formats import PLAIN, Dialect
from marginboost.cli.rows import Rows, hold_out, read_rows, read_rows_like
from marginboost.cli.stored import MOST_TEST_ROWS, StoredTable, read_stored, wants_batches
from marginboost.cli.words import counted, note, one_of, percent, size_of
from marginboost.data.lookalikes import DATES, DECIMAL_COMMAS
from marginboost.data.lost_categories import CategoryWarning
from marginboost.evaluation.choice import describe_choice
from marginboost.evaluation.costs import decided
from marginboost.evaluation.evaluate import evaluate

METHODS = {"marginboost": MarginBoostClassifier, "mcboost": MCBoostClassifier}


@dataclass(frozen=True)
class Settings:
    """How to train. None stands for the classifier's default."""

    method: str
    loss: str | None
    rounds: int | None
    learning_rate: float | None
    max_time: float | None
    early_stopping: bool | None
    seed: int
    costs: Path | None = None
    order: str | None = None

    def classifier(self, classes: NDArray[Any], *, validated: bool, verbose: bool) -> Any:
        """Create the classifier.

        Parameters
        ----------
        classes : array
            The labels.
        validated : bool
            Whether there are validation rows, which imply early stopping unless it is set.
        verbose : bool
            Whether to show the progress.
        """
        given = {
            "loss": self.loss,
            "n_estimators": self.rounds,
            "learning_rate": self.learning_rate,
            "max_time": self.max_time,
            "early_stopping": True
            if validated and self.early_stopping is None
            else self.early_stopping,
            "cost_matrix": read_cost_file(self.costs, classes),
            "classes_order": read_order(self.order, classes),
        }
        model = METHODS[self.method](verbose=int(verbose))
        model.set_params(**{name: value for name, value in given.items() if value is not None})
        if "random_state" in model.get_params():
            model.set_params(random_state=self.seed)
        return model


@dataclass(frozen=True)
class Measuring:
    """Which rows to validate and to test on, and where to write the report."""

    test: str | None
    test_size: float
    valid: str | None
    report: Path | None


@dataclass(frozen=True)
class Source:
    """The table to learn from, and how to treat its columns."""

    file: str
    target: str
    drop: Sequence[str]
    categorical: Sequence[str]
    dialect: Dialect = PLAIN
    batches: bool | None = None


def train_model(
    source: Source,
    path: Path,
    settings: Settings,
    measuring: Measuring,
    *,
    quiet: bool,
    constraints: Constraints | None = None,
) -> None:
    """Train on a table, save the model and print how good it is."""
    say, report = (_say_nothing, _say_nothing) if quiet else (note, typer.echo)
    rows: Rows | StoredTable
    given = source.file, source.target, source.drop, source.categorical, say
    if wants_batches(source.file, source.batches, source.dialect):
        rows = read_stored(*given)
    else:
        rows = read_rows(*given, source.dialect)
    like = rows if isinstance(rows, Rows) else rows.example()
    train, test = _split(rows, like, source, measuring, settings.seed)
    validation = None
    if measuring.valid is not None:
        validation = read_rows_like(measuring.valid, source.target, like, source.dialect)

    classes = np.unique(train.y)
    model = settings.classifier(classes, validated=validation is not None, verbose=not quiet)
    _constrain(model, constraints or Constraints(), like.X.columns, train.y)
    start = perf_counter()
    for message in _fit(model, train, validation, like.X.columns):
        say(message)
    rounds = counted(model.n_iter_, "round")
    say(
        f"Trained in {perf_counter() - start:.1f} s: {rounds} ({describe_stop(model.stop_reason_)})"
    )
    for part in describe_choice(model):
        say(f"Chosen: {part}")
    model.set_params(verbose=0)  # a setting of this terminal, not of the model
    model.save(path)
    if test is not None:
        report(_verdict(model, test, train.y))
    report(f"Model: {path} ({size_of(path)})")
    if measuring.report is not None and test is not None:
        from marginboost.report import write_report  # noqa: PLC0415 - slow to import

        title = f"{source.target} in {source.file}"
        held_out = measuring.test is None  # else only the user knows
        write_report(model, measuring.report, test.X, test.y, title=title, held_out=held_out)
        report(f"Report: {measuring.report}")
    if model.stop_reason_ == "interrupted":
        fail(f"Interrupted: the model so far ({rounds}) is in {path}.", INTERRUPTED)
    say(f"Next: marginboost predict {quote(str(path))} NEW.csv")


def _say_nothing(message: str) -> None:
    """Be quiet."""


def _split(
    rows: Rows | StoredTable, like: Rows, source: Source, measuring: Measuring, seed: int
) -> tuple[Rows | StoredTable, Rows | None]:
    """Return the rows to train on and the rows to test on; `like` has their columns."""
    if measuring.test is not None:
        return rows, read_rows_like(measuring.test, source.target, like, source.dialect)
    if not measuring.test_size:
        return rows, None
    if isinstance(rows, Rows):
        return hold_out(rows, measuring.test_size, seed)
    share = min(measuring.test_size, (MOST_TEST_ROWS - 0.5) / len(rows.y))
    train, test = hold_out(rows, share, seed)
    return train, test.loaded()


def _constrain(
    model: Any, constraints: Constraints, columns: Sequence[str], y: NDArray[Any]
) -> None:
    """Set the parameters of constraints, which only one method has."""
    given = constraints.parameters(columns, y)
    if given and not isinstance(model, MarginBoostClassifier):
        raise UserError(
            "--interactions, --no-interactions and --monotonic must come with --method marginboost."
        )
    model.set_params(**given)


def _fit(
    model: Any, train: Rows | StoredTable, validation: Rows | None, columns: Sequence[str]
) -> list[str]:
    """Fit, and return the warnings of the fit."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        if validation is None:
            model.fit(train.X, train.y)
        else:
            model.fit(train.X, train.y, X_val=validation.X, y_val=validation.y)
    if model.stop_reason_ == "interrupted":
        return []  # reported at the end, with the place of the model
    return [_worded(warning.message, columns) for warning in caught]


def _worded(warning: Warning | str, names: Sequence[str]) -> str:
    """Put a warning of the fit into words for the terminal."""
    if not isinstance(warning, CategoryWarning):
        return f"Note: {warning}"
    name = quote(names[warning.column])
    advice = f"leave it out with --drop {name}"
    if warning.looks == DECIMAL_COMMAS:
        advice = f"read decimal commas with `--decimal ,`, or {advice}"
    elif warning.looks == DATES:
        advice = f"put numbers in its place (the days since a fixed date, the month), or {advice}"
    else:
        advice = f"group its values into fewer categories, or {advice}"
    return f"Warning: {warning.found} What to do: {advice}"


def _verdict(model: Any, test: Rows, known: NDArray[Any]) -> str:
    labels, counts = np.unique(known, return_counts=True)
    frequent = labels[counts.argmax()]
    rows = evaluate(model, test.X, test.y)
    accuracy = float(np.mean(rows.predicted == rows.y))
    lines = [
        f"Accuracy {percent(accuracy)} on {counted(len(test.y), 'row')} not used in training "
        f"(always {one_of(frequent)}: {percent(float(np.mean(test.y == frequent)))})"
    ]
    for word, steps in (("Mean cost", False), ("Mean absolute error, in classes,", True)):
        found = decided(model, rows, steps=steps)
        if found is not None:
            constant = f" (always {one_of(found.label)}: {found.constant:.4g})"
            lines.append(f"{word} {found.mean:.4g}{constant}")
    return "\n".join(lines)
