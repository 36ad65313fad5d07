"""What is asked for besides labels: prediction sets, and other class frequencies."""

from __future__ import annotations

import json
import warnings
from typing import Any, NamedTuple

import polars as pl

from marginboost.cli.failure import UserError
from marginboost.cli.words import note

__all__ = ["AS_TRAINED", "Deciding"]

SETS = "prediction_set"
SEPARATOR = "|"


class Deciding(NamedTuple):
    """Options of `predict` and `report`.

    Attributes
    ----------
    coverage : float or None
        Of prediction sets; None for no sets.
    kind : str
        What the coverage is about.
    frequencies : str or None
        Frequencies of the classes, as the user wrote them.
    """

    coverage: float | None = None
    kind: str = "marginal"
    frequencies: str | None = None

    def adapted(self, model: Any) -> Any:
        """Return the model at the frequencies that are asked for."""
        if self.frequencies is None:
            return model
        if not hasattr(model, "with_class_frequencies"):
            raise UserError(
                f"--class-frequencies needs calibrated probabilities; {type(model).__name__} has none."
            )
        return model.with_class_frequencies(_parsed(self.frequencies, model.classes_.tolist()))

    def columns(self, model: Any, X: Any) -> list[pl.Series]:
        """Return the column of sets, or none."""
        if self.coverage is None:
            return []
        if not hasattr(model, "predict_set"):
            raise UserError(
                f"--sets needs calibrated probabilities; {type(model).__name__} has none."
            )
        labels = [str(label) for label in model.classes_]
        odd = [label for label in labels if SEPARATOR in label]
        if odd:
            raise UserError(
                f"--sets writes labels with {SEPARATOR!r} between them, so no label must hold it; got "
                f"{odd[0]!r}."
            )
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", UserWarning)
            sets = model.predict_set(X, self.coverage, self.kind)
        for warning in caught:
            note(f"Note: {warning.message}")
        written = [
            SEPARATOR.join(label for label, held in zip(labels, row, strict=True) if held)
            for row in sets.tolist()
        ]
        return [pl.Series(SETS, written, dtype=pl.String)]


AS_TRAINED = Deciding()


def _parsed(text: str, labels: list[Any]) -> dict[Any, float]:
    """Read `label=share,label=share`, or a JSON object; labels are matched by how they are written."""
    by_name = {str(label): label for label in labels}
    if text.lstrip().startswith("{"):
        try:
            given = json.loads(text)
        except json.JSONDecodeError as error:
            raise UserError(f"--class-frequencies must be valid JSON; {error}.") from None
        pairs = list(given.items())
    else:
        pairs = [
            tuple(part.strip() for part in entry.rpartition("=")[::2]) for entry in text.split(",")
        ]
    found = {}
    for name, share in pairs:
        if name not in by_name:
            raise UserError(
                f"--class-frequencies must name classes of the model, as in "
                f"{labels[0]}=0.9,{labels[1]}=0.1; got {name or share!r}."
            )
        try:
            found[by_name[name]] = float(share)
        except (TypeError, ValueError):
            raise UserError(
                f"--class-frequencies must have a number after each class; got {share!r} for {name}."
            ) from None
    return found
