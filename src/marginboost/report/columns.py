"""The columns of the rows: gaps, distributions, and how they differ from the training rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from marginboost.evaluation.drift import FEWEST_ROWS, Shift
from marginboost.report.facts import Facts, Floats
from marginboost.report.html import Html, join, name, tag
from marginboost.report.summary import NOTHING, percent
from marginboost.report.svg import number
from marginboost.report.table import number_cell, share_cell, table

__all__ = ["column_table"]

_LISTED = 60
_BARS = 16


def column_table(facts: Facts) -> Html | None:
    """List columns: their missing values, their distribution and their drift."""
    if facts.rows is None:
        return None
    used = facts.by_importance
    unused = [j for j in range(len(facts.names)) if facts.importances[j] <= 0]
    listed = [*used, *unused][:_LISTED]
    X = facts.rows.X.tocsc() if sparse.issparse(facts.rows.X) else facts.rows.X
    lines = [_line(facts, j, _column(X, j)) for j in listed]
    heads = ("column", "missing", "values", "distribution", "difference", "clearest difference at")
    words = [
        "The values of these rows. The difference compares them with the training rows: a model "
        "knows, for each of its splits, which share of the training rows lay on either side. Listed "
        "is the split of the column with the clearest difference; an asterisk marks one that only "
        "some of the rows reach. Shaded are differences that are large and no chance: there, the "
        "model is used on other data than it was trained on. Grey ones may be chance."
    ]
    if facts.shifts is None:
        words.append(
            " The model was fitted with weights, or does not know its training rows: nothing is compared."
        )
    elif any(facts.shifts[j] is None for j in used):
        words.append(
            f" Where there is none, no split of the column is reached by {FEWEST_ROWS} rows here and "
            f"{FEWEST_ROWS} in training."
        )
    if len(listed) < len(facts.names):
        words.append(
            f" The {len(listed)} most important columns of {len(facts.names):,} are listed."
        )
    return join([tag("p", *words, class_="caption"), table(heads, lines, numbers=(1, 4))])


def _line(facts: Facts, j: int, values: Floats) -> Html:
    missing = np.isnan(values)
    categories = facts.model.encoding_.categories[j]
    shift = None if facts.shifts is None else facts.shifts[j]
    if categories is None:
        known = values[~missing & np.isfinite(values)]
        words, heights = _numbers(known)
    else:
        counts = np.bincount(values[~missing].astype(np.int64), minlength=len(categories))
        words, heights = _categories(counts, categories)
    return tag(
        "tr",
        tag("th", name(facts.names[j]), scope="row"),
        share_cell(float(missing.mean())),
        tag("td", words, class_="words"),
        tag("td", _histogram(heights), class_="bars"),
        number_cell(NOTHING, -1) if shift is None else share_cell(shift.size),
        tag("td", "" if shift is None else _in_words(shift), class_="words"),
        class_=None if shift is None else "drifted" if shift.is_clear else "like-training",
    )


def _in_words(shift: Shift) -> str:
    mark = "" if shift.whole else "\N{NO-BREAK SPACE}*"
    return f"{shift.condition}: {percent(shift.here)}, in training {percent(shift.training)}{mark}"


def _numbers(known: Floats) -> tuple[Html, Floats]:
    if not len(known):
        return join([NOTHING]), np.zeros(1)
    low, middle, high = np.quantile(known, [0.0, 0.5, 1.0])
    if low == high:
        return join([f"always {number(low)}"]), np.ones(1)
    # The outermost hundredths are drawn in the first and last bar, so that outliers hide nothing.
    first, last = np.quantile(known, [0.01, 0.99])
    first, last = (first, last) if first < last else (low, high)
    heights, _ = np.histogram(np.clip(known, first, last), np.linspace(first, last, _BARS + 1))
    words = f"{number(low)} to {number(high)}, median {number(middle)}"
    return join([words]), heights.astype(np.float64)


def _categories(counts: Any, categories: tuple[Any, ...]) -> tuple[Html, Floats]:
    order = np.argsort(-counts, kind="stable")
    total = max(1, int(counts.sum()))
    shown = [
        join([name(categories[place]), f" {percent(counts[place] / total)}"])
        for place in order[:3].tolist()
        if counts[place]
    ]
    n_found = int((counts > 0).sum())
    if n_found > len(shown):
        shown.append(join([f"{n_found - len(shown):,} more"]))
    return join(shown, ", "), counts[order][:_BARS].astype(np.float64)


def _histogram(heights: Floats) -> Html:
    """Draw bars in a cell."""
    top = heights.max(initial=0.0) or 1.0
    width = 100 / max(len(heights), 8)
    bars = [
        tag("rect", x=f"{place * width:.2f}", y=f"{20 - 19 * height / top:.2f}",
            width=f"{width - 0.8:.2f}", height=f"{19 * height / top:.2f}", class_="s0")
        for place, height in enumerate(heights.tolist())
        if height
    ]  # fmt: skip
    return tag("svg", *bars, viewBox="0 0 100 20", preserveAspectRatio="none", aria_hidden="true",
               class_="histogram")  # fmt: skip


def _column(X: Any, j: int) -> Floats:
    column = X[:, [j]].toarray()[:, 0] if sparse.issparse(X) else X[:, j]
    return np.asarray(column, dtype=np.float64)
