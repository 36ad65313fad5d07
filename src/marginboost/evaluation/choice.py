"""What a fit has decided, in words."""

from __future__ import annotations

from typing import Any

__all__ = ["describe_choice", "is_sum"]


def describe_choice(model: Any) -> list[str]:
    """Describe the fits that a model is the sum of, one line each; empty where nothing was chosen.

    Parameters
    ----------
    model : classifier
        Fitted.

    Returns
    -------
    list of str
        The largest share first.
    """
    parts = getattr(model, "chosen_", {"parts": []})["parts"]
    if not parts or parts[0]["name"] == "given":
        return []
    return [f"{part['share']:.0%} {part['name']}: {_settings(part)}" for part in parts]


def is_sum(model: Any) -> bool:
    """Whether a model is the sum of several fits."""
    parts = getattr(model, "chosen_", {"parts": []})["parts"]
    return sum(int(part.get("fits", 1)) for part in parts) > 1


def _settings(part: dict[str, Any]) -> str:
    """Describe the settings of a part."""
    if part["name"] == "linear":
        penalty = f", penalty {part['penalty']:g}" if "penalty" in part else ""
        return f"softmax regression on the columns{penalty}"
    return f"{_rounds(part)}, {part['loss']} loss, {part['max_leaf_nodes']:,} leaves"


def _rounds(part: dict[str, Any]) -> str:
    """Describe how many fits and rounds a part has."""
    rounds = f"{part['n_estimators']:,} rounds"
    fits, whole = part.get("fits", 1), part.get("fits_of_all_rows", 0)
    if fits == 1:
        return rounds
    return f"mean of {fits} fits{f', {whole} of all rows,' if whole else ''} of {rounds}"
