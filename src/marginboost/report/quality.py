"""How good a model is: learning curve, classes, confusions, probabilities, margins."""

from __future__ import annotations

from typing import Any

import numpy as np

from marginboost.report.facts import Facts, Floats
from marginboost.report.html import Html, join, name, tag
from marginboost.report.summary import NOTHING, percent
from marginboost.report.svg import Chart, number
from marginboost.report.table import number_cell, share_cell, table

__all__ = [
    "calibration",
    "class_table",
    "confusion_sentences",
    "confusions",
    "learning_curve",
    "margins",
]

# Where no error is known, no validation rows are: one kind of loss is drawn, the method's own.
_MEASURES = {"error": "errors_", "training loss": "losses_"}
_ROWS = {
    "train": ("s0", "training rows"),
    "validation": ("s1", "validation rows"),
    "test": ("s2", "these rows"),
}
_MOST_CLASSES = 60
_MOST_CONFUSIONS = 8
_LARGEST_GRID = 40


def figure(chart: Html, title: Any, *words: Any) -> Html:
    """Add a title and a caption to a chart."""
    return tag("figure", tag("h3", title), chart, tag("figcaption", *words))


def legend(*entries: tuple[str, Any]) -> Html:
    """Explain the colours of a chart, given as pairs of colour and words."""
    marks = [
        tag("span", tag("span", class_=f"swatch {style}"), word, class_="key")
        for style, word in entries
    ]
    return join(marks, " ")


def learning_curve(facts: Facts) -> Html | None:
    """Draw the error after each round, or the loss if the error is unknown."""
    found = {word: _curves(facts, ending) for word, ending in _MEASURES.items()}
    staged = None if facts.rows is None else facts.staged
    if staged is not None:
        found["error"]["test"] = staged
    drawn_by_word = {word: curves for word, curves in found.items() if curves}
    if not drawn_by_word:
        return None
    word, drawn = next(iter(drawn_by_word.items()))
    longest = max(int(rounds[-1]) for rounds, _ in drawn.values())
    top = max(float(np.nanmax(curve)) for _, curve in drawn.values())
    label = f"The {word} after each of {longest} rounds"
    chart = Chart((1, longest), (0, 1.05 * top or 1.0), ("round", word), label)
    keys = []
    for rows, (rounds, curve) in drawn.items():
        style, words = _ROWS[rows]
        kept = _thinned(len(curve))
        chart.line(rounds[kept], curve[kept], style)
        last = float(curve[np.isfinite(curve)][-1])
        shown = percent(last) if word == "error" else number(last)
        keys.append((style, f"{words}: {shown} at the end"))
    if facts.model.n_iter_ < longest:
        chart.note(facts.model.n_iter_, f"kept: {facts.model.n_iter_}")
    more = " The model is the sum of several fits, one after the other." if facts.is_sum else ""
    return figure(chart.html(), "Learning curve", legend(*keys), more)


def _curves(facts: Facts, ending: str) -> dict[str, tuple[Any, Floats]]:
    known = ("validation",) if facts.is_sum else ("train", "validation")
    curves = {rows: facts.curve(f"{rows}_{ending}") for rows in known}
    return {
        rows: (np.arange(1, len(curve) + 1), curve)
        for rows, curve in curves.items()
        if curve is not None
    }


def _thinned(n: int, most: int = 400) -> np.ndarray[Any, np.dtype[np.int64]]:
    return np.unique(np.linspace(0, n - 1, min(n, most)).astype(np.int64))


def class_table(facts: Facts) -> Html:
    """List the classes with precision and recall; if not all are listed, the worst ones."""
    order = list(range(facts.n_classes))
    cut = facts.n_classes > _MOST_CLASSES
    if cut:
        worst = np.nan_to_num(facts.recall, nan=2.0)
        order = sorted(order, key=lambda r: (worst[r], -facts.class_rows[r]))[:_MOST_CLASSES]
    auc, precision = facts.ranking
    lines = []
    for r in order:
        others = facts.confusion[r].copy()
        others[r] = 0
        taken = int(others.argmax())
        often = name(facts.labels[taken]) if others[taken] else NOTHING
        lines.append(
            tag(
                "tr",
                tag("th", name(facts.labels[r]), scope="row"),
                number_cell(f"{facts.class_rows[r]:,}", facts.class_rows[r]),
                share_cell(facts.precision[r]),
                share_cell(facts.recall[r]),
                share_cell(precision[r]),
                number_cell(NOTHING if np.isnan(auc[r]) else f"{auc[r]:.4f}", auc[r]),
                tag("td", often, f" ({others[taken]:,})" if others[taken] else ""),
            )
        )
    heads = ("class", "rows", "precision", "recall", "average precision", "ROC AUC",
             "most often confused with")  # fmt: skip
    words = [
        "Precision: of the rows predicted as the class, the share that belong to it. Recall: of the "
        "class's rows, the share that are predicted as it. Average precision and the area under the ROC "
        "curve (AUC) measure how well the probability of the class ranks its rows before all others, "
        "whatever the threshold: 100% and 1 are perfect, and an AUC of 0.5 is chance. "
    ]
    if cut:
        words.append(
            f"The {_MOST_CLASSES} classes with the lowest recall, of {facts.n_classes:,}. "
        )
    if len(facts.ranked_rows) < facts.n_rows:
        words.append(f"The last two are measured on {len(facts.ranked_rows):,} of the rows.")
    shown = table(heads, lines, numbers=range(1, 6))
    return tag("div", tag("h3", "Classes"), tag("p", *words, class_="caption"), shown)


def confusion_sentences(facts: Facts) -> list[Html]:
    """Return sentences on which classes are confused with which, the largest shares first."""
    counts = facts.confusion.copy()
    np.fill_diagonal(counts, 0)
    shares = counts / np.maximum(facts.class_rows, 1)[:, None]
    pairs = np.argwhere(counts >= max(2, int(counts.max(initial=0) > 1)))
    if not len(pairs):
        pairs = np.argwhere(counts > 0)
    ranked = sorted(pairs.tolist(), key=lambda p: (-shares[p[0], p[1]], -counts[p[0], p[1]]))
    return [
        join([
            tag("b", name(facts.labels[r])), " is predicted as ", tag("b", name(facts.labels[c])),
            f" in {percent(shares[r, c])} of its rows ({counts[r, c]:,} of "
            f"{facts.class_rows[r]:,}).",
        ])
        for r, c in ranked[:_MOST_CONFUSIONS]
    ]  # fmt: skip


def confusions(facts: Facts) -> Html:
    """Show the worst confusions in words, and all of them if a grid has room."""
    sentences = confusion_sentences(facts)
    words = tag("p", "No row is predicted as another class.")
    if sentences:
        words = tag("ul", *(tag("li", sentence) for sentence in sentences))
    if facts.n_classes > _LARGEST_GRID:
        left_out = f"With {facts.n_classes:,} classes, the grid of all pairs is left out."
        return tag("div", tag("h3", "Confusions"), words, tag("p", left_out, class_="caption"))
    caption = (
        "Each row of the grid is a class, each column a predicted class. Blue is right, orange is wrong; "
        "the darker, the larger the share of the class's rows."
    )
    text = tag("div", tag("h3", "Confusions"), words, tag("p", caption, class_="caption"))
    return tag("div", text, tag("div", _grid(facts)), class_="charts")


def _short(label: str, room: int) -> str:
    return label if len(label) <= room else label[: room - 1] + "…"


def _grid(facts: Facts) -> Html:
    n = facts.n_classes
    shares = facts.confusion / np.maximum(facts.class_rows, 1)[:, None]
    across = [_short(label, max(3, int(400 / n / 8.5))) for label in facts.labels]  # a wide letter
    down = [_short(label, 14) for label in facts.labels]
    side, left, top = 400 / n, 12 + round(7 * max(map(len, down))), 26
    parts = []
    for (r, c), share in np.ndenumerate(shares):
        if not share and r != c:
            continue
        x, y = round(left + c * side, 1), round(top + r * side, 1)
        # The square root, in ten levels, makes visible a few rows in a hundred, which matter.
        level = int(np.ceil(10 * np.sqrt(share)))
        words = f"{facts.labels[r]} predicted as {facts.labels[c]}: {facts.confusion[r, c]:,}"
        size = round(side - 0.5, 1)
        style = f"h{level}" if r == c else f"off w{min(level, 6)}"
        parts.append(
            tag("rect", tag("title", words), x=x, y=y, width=size, height=size, class_=style)
        )
        if n <= 12 and facts.confusion[r, c]:
            dark = "on-dark" if level > 5 and r == c else "on-light"
            parts.append(tag("text", f"{facts.confusion[r, c]}", x=round(x + side / 2, 1),
                             y=round(y + side / 2 + 4, 1), class_=f"middle {dark}"))  # fmt: skip
    every = max(1, -(-n // 26))
    for r in range(0, n, every):
        middle = (r + 0.5) * side
        parts.append(tag("text", down[r], x=left - 5, y=round(top + middle + 4, 1), class_="end"))
        parts.append(tag("text", across[r], x=round(left + middle, 1), y=top - 6, class_="middle"))
    frame = tag("rect", x=left, y=top, width=400, height=400, class_="frame")
    return tag("svg", frame, *parts, viewBox=f"0 0 {left + 404} {top + 404}", role="img",
               aria_label="Classes against predicted classes", class_="chart square")  # fmt: skip


def calibration(facts: Facts) -> Html:
    """Draw how often predictions are right, by their probability."""
    found = facts.reliability
    low = min(float(found.confidence.min()), float(found.accuracy.min()))
    low = np.floor(10 * max(0.0, low - 0.02)) / 10
    words = ("probability of the predicted class", "share of right predictions")
    chart = Chart(
        (low, 1), (low, 1), words, "Probabilities against how often predictions are right"
    )
    chart.line([low, 1], [low, 1], "guide")
    chart.line(found.confidence, found.accuracy, "s0")
    chart.dots(found.confidence, found.accuracy, "s0")
    more = "more" if found.confidence @ found.sizes < found.accuracy @ found.sizes else "less"
    caption = (
        f"Each point stands for {found.sizes[0]:,} rows. On the dashed line, predictions are right "
        f"as often as their probability says. On average they are off by {percent(found.error)}, and "
        f"right {more} often than their probability says."
    )
    return figure(chart.html(), "Calibration of the probabilities", caption)


def margins(facts: Facts) -> Html:
    """Draw the distribution of the margins."""
    values = facts.margins
    low, high = min(0.0, float(values.min())), max(0.0, float(values.max()))
    edges = np.linspace(low, high, 41) if high > low else np.array([-0.5, 0.5])
    counts, _ = np.histogram(values, edges)
    chart = Chart((edges[0], edges[-1]), (0, 1.05 * counts.max()), ("normalised margin", "rows"),
                  "Number of rows by margin")  # fmt: skip
    chart.band(edges[0], 0.0)
    chart.bars(edges.tolist(), counts, "s0")
    caption = (
        f"How clearly rows are classified: {percent(float((values <= 0).mean()))} lie on the wrong side "
        f"(shaded), and half of the rows below {number(float(np.median(values)))}. At 1, all trees would "
        "agree."
    )
    return figure(chart.html(), "Margins", caption)
