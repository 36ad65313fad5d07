"""Constraints on the command line: columns that may interact, and monotone ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marginboost.cli.failure import UserError

PAIRWISE, NO_INTERACTIONS = "pairwise", "no_interactions"


@dataclass(frozen=True)
class Constraints:
    """What the options say.

    Attributes
    ----------
    interactions : str or None
        Groups of columns, such as "a,b;c,d", a file with a group per line, or "pairwise".
    no_interactions : bool
        Whether no columns may interact.
    monotonic : sequence of str
        "column=+1", "column=-1", or "column=A>B" for two classes.
    """

    interactions: str | None = None
    no_interactions: bool = False
    monotonic: Sequence[str] = ()

    def parameters(self, columns: Sequence[str], y: NDArray[Any]) -> dict[str, Any]:
        """Return the parameters of the classifier.

        Parameters
        ----------
        columns : sequence of str
            Names of the columns to learn from.
        y : array
            The labels.
        """
        given: dict[str, Any] = {}
        if self.no_interactions and self.interactions is not None:
            raise UserError("--interactions and --no-interactions must not be given together.")
        if self.no_interactions:
            given["interaction_cst"] = NO_INTERACTIONS
        elif self.interactions is not None:
            given["interaction_cst"] = _groups(self.interactions, columns)
        if self.monotonic:
            given["monotonic_cst"] = _monotonic(self.monotonic, columns, y)
        return given


def _groups(text: str, columns: Sequence[str]) -> list[list[str]] | str:
    if text == PAIRWISE:
        return text
    if Path(text).is_file():
        text = ";".join(Path(text).read_text("utf-8").splitlines())
    groups = [[name.strip() for name in group.split(",")] for group in text.split(";")]
    groups = [group for group in groups if group != [""]]
    for name in (name for group in groups for name in group):
        _check_column("--interactions", name, columns)
    return groups


def _monotonic(rules: Sequence[str], columns: Sequence[str], y: NDArray[Any]) -> dict[str, Any]:
    labels = {str(label): label for label in np.unique(y).tolist()}
    found: dict[str, Any] = {}
    for rule in rules:
        name, _, wanted = rule.rpartition("=")
        _check_column("--monotonic", name, columns)
        if wanted in ("1", "+1", "-1"):
            found[name] = int(wanted)
            continue
        pair = tuple(label.strip() for label in wanted.split(">"))
        if len(pair) != 2 or not all(label in labels for label in pair):
            raise UserError(
                "--monotonic must be COLUMN=+1, COLUMN=-1, or COLUMN=A>B with two classes; got "
                f"{rule!r}."
            )
        of_column = found.setdefault(name, {})
        if not isinstance(of_column, dict):
            raise UserError(
                f"--monotonic must give a column {name!r} a sign or pairs of classes, not both."
            )
        of_column[labels[pair[0]], labels[pair[1]]] = 1
    return found


def _check_column(option: str, name: str, columns: Sequence[str]) -> None:
    if name not in columns:
        raise UserError(
            f"{option} must name columns of the table that are learned from; got {name!r}."
        )
