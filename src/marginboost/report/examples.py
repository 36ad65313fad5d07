"""Explanations of a few wrong predictions."""

from __future__ import annotations

import numpy as np

from marginboost.report.facts import Facts, Floats
from marginboost.report.html import Html, join, name, tag
from marginboost.report.summary import percent
from marginboost.report.svg import bar, number

__all__ = ["wrong_rows"]

_SHOWN = 4
_FEATURES = 6


def wrong_rows(facts: Facts) -> Html | None:
    """Explain the wrong predictions of which the model is most certain."""
    if facts.rows is None or facts.model.ensemble_.leaf_cover is None:
        return None
    if not facts.surely_wrong:
        return tag("p", "All predictions are right.")
    which = np.array(facts.surely_wrong[:_SHOWN], dtype=np.int64)
    explanation = facts.explain(which, None)
    cards = []
    for place, i in enumerate(which.tolist()):
        y, predicted = int(facts.rows.y[i]), int(facts.rows.predicted[i])
        sure = float(facts.rows.probabilities[i, predicted])
        moved = (
            explanation.contributions[place, :, predicted] - explanation.contributions[place, :, y]
        )
        base = float(explanation.base[place, predicted] - explanation.base[place, y])
        sentence = join([
            f"Row {i:,} is ", tag("b", name(facts.labels[y])), ", predicted as ",
            tag("b", name(facts.labels[predicted])), f" with a probability of {percent(sure)}.",
        ])  # fmt: skip
        order = np.argsort(-np.abs(moved), kind="stable")[:_FEATURES]
        values = [(facts.names[j], explanation.value_of(place, j)) for j in order.tolist()]
        rest = float(moved.sum() - moved[order].sum()) if len(moved) > len(order) else None
        table = _bars(values, moved[order], base, rest)
        cards.append(tag("div", tag("p", sentence), table, class_="card"))
    words = (
        f"{len(facts.surely_wrong):,} rows are predicted wrongly; these are the ones of which the "
        "model is most certain. Bars to the right speak for the predicted class, bars to the left for "
        "the true one. Together they add up to the difference of the two scores."
    )
    return join([tag("p", words, class_="caption"), tag("div", *cards, class_="cards")])


def _bars(values: list[tuple[str, str]], moved: Floats, base: float, rest: float | None) -> Html:
    amounts = [*moved.tolist(), *([] if rest is None else [rest]), base]
    words = [join([name(feature), f" = {value[:30]}"]) for feature, value in values]
    words += [] if rest is None else [Html("all other features")]
    words.append(Html("average over all rows"))
    largest = max(map(abs, amounts)) or 1.0
    lines = [
        tag(
            "tr",
            tag("th", word, scope="row"),
            tag(
                "td", bar(0.5 * amount / largest, "s0" if amount >= 0 else "s1", 0.5), class_="bars"
            ),
            tag(
                "td", ("+" if amount >= 0 else "") + number(float(f"{amount:.2g}")), class_="number"
            ),
        )
        for word, amount in zip(words, amounts, strict=True)
    ]
    return tag("table", tag("tbody", *lines), class_="importances")
