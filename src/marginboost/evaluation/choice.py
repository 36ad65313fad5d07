"""What a fit has decided, in words."""

from __future__ import annotations

from typing import Any

__all__ = ["describe_choice"]


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
    return [
        f"{part['share']:.0%} {part['name']}: {part['n_estimators']:,} rounds, {part['loss']} loss, "
        f"{part['max_leaf_nodes']:,} leaves"
        for part in parts
    ]
