"""What a fit has decided, in a file."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from marginboost.model.archive import Archive
from marginboost.model.fields import Field
from marginboost.model.file_text import ModelFileError

__all__ = ["ChoiceField"]

# The entries of a part, and the range of each number; None for text.
_PART: dict[str, tuple[type[float] | type[int], float, float] | None] = {
    "share": (float, 0.0, 1.0),
    "n_estimators": (int, 1, 2**63),
    "name": None,
    "loss": None,
    "learning_rate": (float, 0.0, 1.0),
    "max_leaf_nodes": (int, 2, 65535),
    "max_features": (float, 0.0, 1.0),
    "subsample": (float, 0.0, 1.0),
}
# Entries that files of before do not have.
_NEW: dict[str, tuple[type, float, float] | None] = {"fits": (int, 1, 2**31)}
# An entry of a tuned part that files of before do not have.
_LEARNED: dict[str, tuple[type, float, float] | None] = {"fits_of_all_rows": (int, 0, 2**31)}
# Entries that only a tuned part has, all of them.
_TUNED: dict[str, tuple[type, float, float] | None] = {
    "min_samples_leaf": (int, 1, 2**30),
    "l2_regularization": (float, 0.0, math.inf),
    "max_bins": (int, 2, 65535),
}
# An entry that only a linear part has.
_LINEAR: dict[str, tuple[type, float, float] | None] = {"penalty": (float, 0.0, math.inf)}
_HELD_OUT = ("held_out_error", "held_out_loss")


@dataclass(frozen=True)
class ChoiceField(Field):
    """The settings of the fits that a model is the sum of, and their scores on held-out rows."""

    def put(self, archive: Archive, name: str, value: Any) -> None:
        """Add it as an entry, with None for NaN."""
        held_out = {part: float(value[part]) for part in _HELD_OUT}
        archive.entries[name] = {
            **{part: None if math.isnan(number) else number for part, number in held_out.items()},
            "parts": [dict(part) for part in value["parts"]],
        }

    def take(self, archive: Archive, name: str) -> dict[str, Any]:
        """Take it out, and check every entry."""
        entry = archive.take(name, dict)
        if set(entry) != {*_HELD_OUT, "parts"} or not isinstance(entry["parts"], list):
            raise ModelFileError(f"{name} must have {', '.join(_HELD_OUT)} and a list of parts.")
        held_out = {}
        for part in _HELD_OUT:
            number = entry[part]
            if number is not None and not (type(number) is float and number >= 0.0):
                raise ModelFileError(f"{name}.{part} must be None or a number of at least 0.")
            held_out[part] = math.nan if number is None else number
        return {**held_out, "parts": [_checked(name, part) for part in entry["parts"]]}


def _checked(name: str, part: Any) -> dict[str, Any]:
    """Check the entries of a part."""
    spans = dict(_PART)
    for more in (_NEW, _TUNED, _LEARNED, _LINEAR):
        if isinstance(part, dict) and set(part) & set(more):
            spans |= more
    if not isinstance(part, dict) or set(part) != set(spans):
        raise ModelFileError(f"A part of {name} must have {', '.join(spans)}, got others.")
    for key, span in spans.items():
        value: Any = part[key]
        if span is None or isinstance(value, bool):
            sound = span is None and isinstance(value, str)
        else:
            kind, low, high = span
            sound = isinstance(value, kind) and low <= value <= high
        if not sound:
            raise ModelFileError(f"{key} in {name} must be in its range, got another value.")
    return part
