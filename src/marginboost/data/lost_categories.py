"""Warnings about columns of categories that are of little or no use to a model."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from marginboost.data.category_orders import LEAST_ROWS
from marginboost.data.category_shares import has_many
from marginboost.data.column_facts import ColumnFacts
from marginboost.data.columns import capitalized, column_label
from marginboost.data.encoding import Category, all_none
from marginboost.data.lookalikes import DATES, DECIMAL_COMMAS, NUMBERS, looks_like
from marginboost.data.user_warning import warn_user

__all__ = ["CategoryWarning", "warn_of_lost_categories"]

# Maximum number of columns that get a warning of their own.
_MOST_NAMED = 5

# Maximum share of a column's rows that may belong to rare categories without a warning.
_MOST_RARE = 0.5

# The look of numbers that the user declared to be categories.
_CODES = "codes"

_ADVICE = {
    DATES: "Turn dates into numbers (the days since a fixed date, the month, the weekday), or leave the "
    "column out.",
    DECIMAL_COMMAS: 'Read the file with decimal commas (decimal="," in pandas, decimal_comma=True in '
    "polars), or convert the column.",
    NUMBERS: "Convert the column to numbers, or leave it out.",
    _CODES: "Leave the column out of categorical_features, so that its values count as numbers.",
    None: "Group its values into fewer categories, or leave the column out.",
}


class CategoryWarning(UserWarning):
    """A column of categories loses information that its values have.

    Parameters
    ----------
    found : str
        What was found: a sentence that names the column.
    advice : str
        What to do in Python.
    column : int
        The number of the column.
    looks : str or None
        What its values look like; see `looks_like`.
    """

    def __init__(self, found: str, advice: str, column: int, looks: str | None) -> None:
        super().__init__(found, advice, column, looks)
        self.found = found
        self.advice = advice
        self.column = column
        self.looks = looks

    def __str__(self) -> str:
        return f"{self.found} {self.advice}"


def warn_of_lost_categories(
    facts: ColumnFacts, names: Sequence[str] | None, *, by_type: bool, shares: bool
) -> None:
    """Warn about columns whose categories are too rare, and about text that looks like dates or numbers.

    Parameters
    ----------
    facts : ColumnFacts
        Statistics of all rows.
    names : sequence of str or None
        The names of the columns.
    by_type : bool
        Whether categories are recognised by the types of the columns. If the user lists the columns
        instead, dates and numbers are assumed to be intended, unless they are rare.
    shares : bool
        As `ColumnFacts.many` takes it.
    """
    if all_none(facts.categories):
        return
    found = [
        warning
        for column in range(len(facts.categories))
        for warning in [_judged(facts, column, names, by_type=by_type, shares=shares)]
        if warning is not None
    ]
    for warning in found[:_MOST_NAMED]:
        warn_user(warning)
    more = [column_label(warning.column, names) for warning in found[_MOST_NAMED:]]
    if more:
        rest = f" and {len(more) - _MOST_NAMED:,} others" if len(more) > _MOST_NAMED else ""
        warn_user(
            f"{len(more):,} more column(s) of X hold categories that are too rare, or text that looks "
            f"like dates or numbers: {', '.join(more[:_MOST_NAMED])}{rest}."
        )


def _judged(
    facts: ColumnFacts, column: int, names: Sequence[str] | None, *, by_type: bool, shares: bool
) -> CategoryWarning | None:
    """Return the warning about a column; None if it needs none."""
    categories, counts = facts.categories[column], facts.counts[column]
    if categories is None or counts is None:
        return None
    rows = counts[:-1].sum(axis=1)
    there = [categories[place] for place in np.flatnonzero(rows)]
    if not there:
        return None
    texts = [value for value in there if isinstance(value, str)]
    looks = looks_like(texts) if texts else _CODES
    many = shares and has_many(counts)
    least = 2 if many else LEAST_ROWS
    rare = int(rows[rows < least].sum())
    label = capitalized(column_label(column, names))
    if rare > _MOST_RARE * rows.sum():
        return CategoryWarning(
            f"{label} holds {_kind(there)}, {_rarity(rare, int(rows.sum()), len(there), many=many)}"
            f"{_example(there, looks)}",
            _ADVICE[looks],
            column,
            looks,
        )
    if by_type and looks in (DATES, DECIMAL_COMMAS):
        return CategoryWarning(
            f"{label} holds text, and its values are treated as categories: a value that was not seen in "
            f"training counts as missing.{_example(there, looks)}",
            f"{_ADVICE[looks]} List it in categorical_features if it does hold categories.",
            column,
            looks,
        )
    return None


def _kind(there: Sequence[Category]) -> str:
    return "text" if isinstance(there[0], str) else "categories"


def _rarity(rare: int, n_rows: int, n_values: int, *, many: bool) -> str:
    if many:
        return (
            f"and {rare:,} of its {n_rows:,} rows have values that no other row has: new rows will "
            "seldom have them."
        )
    if rare == n_rows:
        of_them = (
            "its only value is not" if n_values == 1 else f"none of its {n_values:,} values is"
        )
        return (
            f"and {of_them} in {LEAST_ROWS} rows or more: as categories they are too rare, and the "
            "column is not used."
        )
    return (
        f"and {rare:,} of its {n_rows:,} rows have values that are in fewer than {LEAST_ROWS} rows: as "
        "categories those are too rare, and count as missing."
    )


def _example(there: Sequence[Category], looks: str | None) -> str:
    if looks is None or not isinstance(there[0], str):
        return ""
    return f" They look like {looks}, such as {there[-1]!r}."
