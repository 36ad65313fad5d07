"""The constraints of a model, in words."""

from __future__ import annotations

from typing import Any

import numpy as np

from marginboost.estimators.constraints import Constraints

__all__ = ["describe_constraints"]

# So many columns, or groups, are named.
_SHOWN = 6
_WORDS = {
    "no_interactions": "no columns interact",
    "pairwise": "at most two columns interact",
}


def describe_constraints(model: Any) -> list[str]:
    """Describe what the trees of a model keep to, a line each; empty where it has no constraints.

    Parameters
    ----------
    model : classifier
        Fitted.

    Returns
    -------
    list of str
    """
    found = None
    if hasattr(model, "monotonic_cst"):
        found = Constraints.of(model, model.classes_, model.encoding_.categories)
    if found is None:
        return []
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        names = [f"column {place}" for place in range(model.n_features_in_)]
    lines = []
    if isinstance(found.groups, str):
        lines.append(_WORDS[found.groups])
    elif found.groups is not None:
        groups = [" + ".join(_some([str(names[c]) for c in group])) for group in found.groups]
        lines.append(f"only columns of one group interact: {'; '.join(_some(groups))}")
    labels = [str(label) for label in np.asarray(model.classes_).tolist()]
    by_pair: dict[tuple[str, str], list[str]] = {}
    for rule in found.rules:
        high, low = rule.pair if rule.sign > 0 else rule.pair[::-1]
        by_pair.setdefault((labels[high], labels[low]), []).append(str(names[rule.column]))
    lines += [
        f"{high} against {low} never falls with {', '.join(_some(columns))}"
        for (high, low), columns in by_pair.items()
    ]
    return lines


def _some(words: list[str]) -> list[str]:
    return words if len(words) <= _SHOWN else [*words[:_SHOWN], "..."]
