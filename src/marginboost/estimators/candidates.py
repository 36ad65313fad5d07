"""The settings that a fit with defaults chooses from, and what it has chosen in plain types."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marginboost.boosting.run import Settings
from marginboost.boosting.train import Trained
from marginboost.boosting.trained import Choice, Part
from marginboost.estimators.settings import is_auto

__all__ = [
    "candidate_settings",
    "described",
    "linear_settings",
    "may_follow_rules",
    "rounds_of_candidates",
]

# Leaves of a tree. One tree serves all classes, so large data need large trees; on small data they cost
# time, and make probabilities worse.
ROWS_A_LEAF = 64
LEAVES = (31, 255)
ROWS_A_LEAF_OF_SMALL_TREES = 500
LEAVES_OF_SMALL_TREES = (8, 31)

# With at most so many columns, trees of the logistic candidates see all of them: what they say together
# does not show in half of them.
FEW_COLUMNS = 8
# With more columns than this, trees of two candidates see a smaller share of them, so that their number
# grows as the square root: many columns say the same, and a tree takes less time. The trees of "large" go
# on to see most, for data in which a few columns say it all.
WIDE = 200

# Where most columns have few values, classes often follow rules on a few of them together. A tree that
# sees half of the columns misses most such rules, so there is a candidate whose trees see all. This share
# of the features at least must have at most so many values, and there are at most so many rows and
# columns of X: among more rows half of the columns find the rules too, and of more columns many say the
# same.
FEW_VALUES, SHARE_OF_FEW_VALUES = 8, 0.75
MOST_ROWS_OF_RULES, MOST_COLUMNS_OF_RULES = 8_000, 64

# The name of the linear candidate.
LINEAR = "linear"

# What "auto" means where nothing is chosen.
ROUNDS, LEARNING_RATE, SHARE, BINS = 100, 0.2, 0.5, 64
# What it means where settings are chosen.
CHOSEN_LEARNING_RATE, CHOSEN_BINS = 0.1, 255
# Most rounds. Trials end a fit where more of them do not help.
MOST_ROUNDS = 300
# Large trees have fewer where a round takes long: with more rows than this, or with more products of a
# value of X and a class than that, if there are not few rows.
QUICK_ROWS, QUICK_PRODUCTS = 50_000, 10_000_000
# Those are then: (at most this many rows, rounds), and with more rows fewer still.
SLOW_ROUNDS = ((2_000, 300), (8_000, 150))
SLOW_ROUNDS_OF_MANY_ROWS = 100


def may_follow_rules(n_rows: int, n_columns: int, n_bins: NDArray[np.int32]) -> bool:
    """Whether rows and columns of X are few, and most features have few values: one per bin."""
    n_few = int(np.count_nonzero(n_bins <= FEW_VALUES))
    return (
        n_rows <= MOST_ROWS_OF_RULES
        and n_columns <= MOST_COLUMNS_OF_RULES
        and n_few >= SHARE_OF_FEW_VALUES * len(n_bins)
    )


def rounds_of_candidates(
    n_rows: int, n_columns: int, n_classes: int, *, rules: bool = False
) -> dict[str, tuple[int, int]]:
    """Return the least and the most rounds of each candidate; those for clean data first.

    `rules` says whether there is one for columns of few values.
    """
    most = MOST_ROUNDS
    if n_rows > QUICK_ROWS or n_rows * n_columns * n_classes > QUICK_PRODUCTS:
        fewest = SLOW_ROUNDS_OF_MANY_ROWS
        most = min(most, next((rounds for rows, rounds in SLOW_ROUNDS if n_rows <= rows), fewest))
    least = min(ROUNDS, most)
    of_clean = {"margin": (least, most)} | ({"rules": (least, most)} if rules else {})
    return of_clean | {
        "large": (0, most),
        "small": (0, MOST_ROUNDS),
    }


def candidate_settings(
    name: str, n_rows: int, given: dict[str, Any], n_columns: int = 0
) -> Settings:
    """Return the settings of a candidate; or of "given", where nothing is chosen.

    Parameters
    ----------
    name : str
        Of the candidate.
    n_rows : int
        Rows of the fit.
    given : dict
        The user's parameters, by name; those at "auto" are left to the candidate.
    n_columns : int
        Columns of X, for a candidate.
    """
    rate, leaves = CHOSEN_LEARNING_RATE, _leaves(n_rows, ROWS_A_LEAF, LEAVES)
    few = _leaves(n_rows, ROWS_A_LEAF_OF_SMALL_TREES, LEAVES_OF_SMALL_TREES)
    many, share = n_columns > FEW_COLUMNS, SHARE
    if n_columns > WIDE:
        share = round(SHARE * math.sqrt(WIDE / n_columns), 3)
    settings = {
        "given": Settings(name, "exponential", LEARNING_RATE, leaves, SHARE, SHARE),
        "margin": Settings(name, "exponential", rate, leaves, share, SHARE),
        "rules": Settings(name, "exponential", rate, leaves, 1.0, SHARE),
        "large": Settings(name, "logistic", rate, leaves, 0.75 if many else 1.0, 0.8),
        "small": Settings(name, "logistic", rate, few, share if many else 1.0, SHARE),
    }[name]
    fixed = {part: value for part, value in given.items() if not is_auto(value)}
    if "max_leaf_nodes" in fixed and fixed["max_leaf_nodes"] is None:
        fixed["max_leaf_nodes"] = leaves
    return settings._replace(**fixed)


def linear_settings() -> Settings:
    """Return the settings of the linear candidate, in the words of trees: one leaf per bin, no draws."""
    return Settings(LINEAR, "logistic", 1.0, CHOSEN_BINS, 1.0, 1.0)


def _leaves(n_rows: int, rows_a_leaf: int, bounds: tuple[int, int]) -> int:
    """Return the number of leaves for so many rows."""
    return int(min(max(n_rows // rows_a_leaf, bounds[0]), bounds[1]))


def described(trained: Trained, given: Settings) -> dict[str, Any]:
    """Return what was decided, in plain types.

    Parameters
    ----------
    trained : Trained
        The result of a training.
    given : Settings
        The settings where nothing was chosen.
    """
    choice = trained.choice
    if choice is None:
        choice = Choice((Part(given, trained.n_kept, 1.0),), math.nan, math.nan)
    return {
        "held_out_error": choice.error,
        "held_out_loss": choice.loss,
        "parts": [_plain(part) for part in choice.parts],
    }


def _plain(part: Part) -> dict[str, Any]:
    settings = part.settings
    penalty = {} if part.penalty is None else {"penalty": float(part.penalty)}
    return penalty | {
        "share": float(part.share),
        "fits": int(part.n_fits),
        "n_estimators": int(part.n_rounds),
        "name": settings.name,
        "loss": settings.loss,
        "learning_rate": float(settings.learning_rate),
        "max_leaf_nodes": int(settings.max_leaf_nodes),
        "max_features": float(settings.max_features),
        "subsample": float(settings.subsample),
    }
