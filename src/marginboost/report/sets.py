"""Prediction sets in the report: how large they are, and how often they hold the right class."""

from __future__ import annotations

import numpy as np

from marginboost.evaluation.sets import set_coverage, set_sizes
from marginboost.model.set_rule import SetRule
from marginboost.report.facts import Facts
from marginboost.report.html import Html, tag
from marginboost.report.table import number_cell, share_cell, table

__all__ = ["prediction_sets"]

COVERAGES = (0.8, 0.9, 0.95)
_HEADS = ("asked for", "kind", "found", "least of a class", "mean size", "one class", "largest")
_NUMBERS = (0, 2, 3, 4, 5, 6)


def prediction_sets(facts: Facts) -> Html | None:
    """List coverage and sizes of sets; None where the model makes none."""
    rule: SetRule | None = facts.model._set_rule_or_none()
    if rule is None or facts.rows is None:
        return None
    kinds = (("marginal", "all rows"), ("class", "each class"))
    lines = [_line(facts, rule, coverage, *kind) for kind in kinds for coverage in COVERAGES]
    words = tag(
        "p",
        "A set holds the classes that a row may belong to (predict_set). Found: the share of these rows "
        "whose set holds their class; least of a class: the same for the class with the lowest share, "
        f"among those with 20 rows or more. Thresholds come from {rule.rows.count().sum():,} held-out "
        "rows.",
        class_="caption",
    )
    return tag("div", tag("h3", "Prediction sets"), words, table(_HEADS, lines, numbers=_NUMBERS))


def _line(facts: Facts, rule: SetRule, coverage: float, kind: str, word: str) -> Html:
    rows = facts.rows
    assert rows is not None
    sets = rule.sets(rows.probabilities, coverage, kind)
    sizes, (found, by_class) = set_sizes(sets), set_coverage(sets, rows.y)
    enough = by_class[facts.class_rows >= 20]
    return tag(
        "tr",
        share_cell(coverage),
        tag("td", word),
        share_cell(found),
        share_cell(enough.min() if len(enough) else np.nan),
        number_cell(f"{sizes.mean():.2f}", sizes.mean()),
        share_cell(np.mean(sizes == 1)),
        number_cell(f"{sizes.max():,}", sizes.max()),
    )
