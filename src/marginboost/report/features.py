"""How important the features are, and how they affect the scores."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from marginboost.model.explanation import Explanation
from marginboost.model.shapes import FeatureShape
from marginboost.report.facts import Facts, Floats
from marginboost.report.html import Html, join, name, tag
from marginboost.report.quality import figure, legend
from marginboost.report.svg import Chart, bar
from marginboost.report.table import share_cell, table

__all__ = ["importance_table", "shapes"]

_LISTED = 20
_DRAWN = 6
_COLOURS = 6
_MOST_LINES = 40
_MOST_DOTS = 250
_MOST_CATEGORIES = 8
_GOLDEN = 0.6180339887498949


def importance_table(facts: Facts) -> Html:
    """List the most important features."""
    listed = facts.by_importance[:_LISTED]
    if not listed:
        return tag("p", "No feature is used.")
    largest = facts.importances[listed[0]]
    lines = [
        tag(
            "tr",
            tag("th", name(facts.names[j]), scope="row"),
            tag("td", bar(facts.importances[j] / largest), class_="bars"),
            share_cell(facts.importances[j]),
        )
        for j in listed
    ]
    n_used, n_all = len(facts.by_importance), len(facts.names)
    note = (
        f"Share of each feature in how far its splits move the scores. {n_used:,} of {n_all:,} features "
        "are used"
    )
    note += f"; the first {len(listed)} are listed." if len(listed) < n_used else "."
    return join([
        tag("h3", "Importance"),
        tag("p", note, class_="caption"),
        tag("div", table(("feature", "", "share"), lines, numbers=(2,)), class_="importances"),
    ])  # fmt: skip


def shapes(facts: Facts) -> Html | None:
    """Draw how the most important features affect the scores."""
    features = facts.by_importance[:_DRAWN]
    if not features or facts.model.ensemble_.leaf_cover is None:
        return None
    if facts.is_of_stumps:
        return _stump_shapes(facts, features)
    return _dependences(facts, features) if facts.rows is not None else None


def _stump_shapes(facts: Facts, features: list[int]) -> Html:
    every = facts.model.feature_shapes()
    chosen: list[FeatureShape] = [every[j] for j in features]
    moved = sum(np.ptp(shape.values, axis=0) for shape in chosen)
    order = np.argsort(-np.asarray(moved), kind="stable")[:_MOST_LINES]
    shown = np.sort(order[:_COLOURS]).tolist()
    colours = {r: f"s{rank}" for rank, r in enumerate(shown)}
    hidden = [r for r in np.sort(order[_COLOURS:]).tolist() if r not in colours]
    charts = [figure(_shape(facts, shape, colours, hidden), name(shape.name)) for shape in chosen]
    keys = legend(*((style, name(facts.labels[r])) for r, style in colours.items()))
    words = [
        "What each value of a feature adds to the score of a class. This is its whole effect, since "
        "every tree splits once. Zero is the average over the training rows. Classes: ",
        keys,
    ]
    if len(shown) < facts.n_classes:
        words.append(f" ({len(shown)} of {facts.n_classes:,}: the most affected ones).")
    parts = [tag("h3", "What the features do"), tag("p", *words, class_="caption")]
    if hidden:
        options = [tag("option", "the most affected", value="")]
        options += [tag("option", facts.labels[r], value=r) for r in sorted([*shown, *hidden])]
        parts.append(tag("p", tag("label", "Show ", tag("select", *options, id="class-choice")),
                         class_="needs-script"))  # fmt: skip
    return join([*parts, tag("div", *charts, class_="charts")])


def _shape(facts: Facts, shape: FeatureShape, colours: dict[int, str], hidden: list[int]) -> Html:
    lines = {**colours, **dict.fromkeys(hidden, "s0 hidden")}
    every = np.vstack([shape.values, shape.missing])[:, list(lines)]
    if shape.categories is None and not shape.learned_missing:
        every = every[:-1]
    y = _padded(every)
    edges, ends = _edges(shape)
    words = (shape.name[:40], "added to the score")
    chart = Chart(ends, y, words, f"What {shape.name} adds", _places(shape))
    chart.line(ends, [0, 0], "guide")
    for r, style in lines.items():
        of_class = f"{style} of-class c{r}"
        if shape.categories is None:
            chart.steps(edges, shape.values[:, r], of_class)
        else:
            values = np.append(shape.values[:, r], shape.missing[r])
            chart.dots(np.arange(len(values)), values, of_class)
        if shape.learned_missing:
            chart.dots(ends[1], shape.missing[r], of_class)
    if shape.learned_missing:
        chart.word(ends[1], y[0], "missing")
    return chart.html()


def _places(shape: FeatureShape) -> list[str] | None:
    """Return the names of a column's categories, shortened to fit; None for numbers."""
    if shape.categories is None:
        return None
    return _shortened([*map(str, shape.categories), "other"])


def _shortened(names: list[str]) -> list[str]:
    """Shorten names to fit below a chart."""
    every = -(-len(names) // 10)  # if there are very many, only some are named
    room = 48 // -(-len(names) // every)
    short = [word if len(word) <= room else word[: room - 1] + "…" for word in names]
    if len(set(short)) < len(set(names)):  # their ends tell them apart
        end = room // 2
        kept = room - 1 - end
        short = [word if len(word) <= room else f"{word[:kept]}…{word[-end:]}" for word in names]
    return [word if place % every == 0 else "" for place, word in enumerate(short)]


def _padded(values: Floats) -> tuple[float, float]:
    """Return the ends of an axis, a little beyond the values."""
    low, high = float(values.min()), float(values.max())
    room = 0.04 * (high - low)
    return low - room, high + room


def _edges(shape: FeatureShape) -> tuple[list[float], tuple[float, float]]:
    """Return the edges of the steps and the ends of the x axis."""
    if shape.categories is not None:
        return [], (-0.5, len(shape.categories) + 0.5)
    cuts = shape.thresholds if len(shape.thresholds) else np.zeros(1)
    room = 0.05 * float(np.ptp(cuts)) or 1.0
    low, high = float(cuts[0]) - room, float(cuts[-1]) + room
    edges = [low, *shape.thresholds.tolist(), high]
    return edges, (low, high + 2 * room if shape.learned_missing else high)


def _dependences(facts: Facts, features: list[int]) -> Html | None:
    explanation = facts.explanation
    if explanation is None:
        return None
    classes = [_most_moved(facts, explanation, j) for j in features]
    rows = facts.explained_rows[:: -(-len(explanation) // _MOST_DOTS)]
    asked = sorted(set(classes))
    explanation = facts.explain(rows, only=asked)
    charts = []
    for j, r in zip(features, classes, strict=True):
        values = _column(explanation.X, j)
        added = explanation.contributions[:, j, asked.index(r)]
        categories = explanation.categories[j]
        if categories is not None:
            chart = _of_categories(facts, j, r, values, added)
        elif np.isfinite(values).any():
            chart = _of_numbers(facts, j, r, values, added)
        else:
            continue
        title = join([name(facts.names[j]), " for class ", name(facts.labels[r])])
        charts.append(figure(chart.html(), title))
    if not charts:
        return None
    words = (
        "What each value of a feature adds to the score of the class that it affects most, one point per "
        "row. Points at the same value differ because other features matter too. For a column of "
        "categories, the bar is the mean over the rows of the category."
    )
    return join([
        tag("h3", "What the features do"),
        tag("p", words, class_="caption"),
        tag("div", *charts, class_="charts"),
    ])  # fmt: skip


def _of_numbers(facts: Facts, j: int, r: int, values: Floats, added: Floats) -> Chart:
    """Draw what the numbers of a column add to the score of a class."""
    known = np.isfinite(values)
    x, y = values[known], added[known]
    chart = Chart((x.min(), x.max()), _padded(np.append(y, 0.0)),
                  (facts.names[j][:40], "added to the score"),
                  f"What {facts.names[j]} adds to class {facts.labels[r]}")  # fmt: skip
    chart.line([x.min(), x.max()], [0, 0], "guide")
    chart.dots(x, y, "s0 faint", 3)
    return chart


def _of_categories(facts: Facts, j: int, r: int, values: Floats, added: Floats) -> Chart:
    """Draw what the categories of a column add to the score of a class, the most frequent first."""
    categories = facts.model.encoding_.categories[j] or ()
    codes = np.where(np.isnan(values), len(categories), values).astype(np.int64)
    counts = np.bincount(codes, minlength=len(categories) + 1)
    order = np.argsort(-counts, kind="stable")
    shown = [place for place in order[:_MOST_CATEGORIES].tolist() if counts[place]]
    names = ["missing" if place == len(categories) else str(categories[place]) for place in shown]
    label = f"What {facts.names[j]} adds to class {facts.labels[r]}"
    n_found = int((counts > 0).sum())
    axis = facts.names[j][:30]
    if n_found > len(shown):
        axis += f" ({len(shown)} of {n_found:,} categories)"
    ends = (-0.5, len(shown) - 0.5)
    drawn = added[np.isin(codes, shown)]
    chart = Chart(ends, _padded(np.append(drawn, 0.0)), (axis, "added to the score"), label,
                  _shortened(names))  # fmt: skip
    chart.line(ends, [0, 0], "guide")
    for rank, place in enumerate(shown):
        of_category = added[codes == place]
        # Spread sideways by their order, so that equal points can be told apart.
        spread = rank + 0.5 * ((np.arange(len(of_category)) * _GOLDEN) % 1.0 - 0.5)
        chart.dots(spread, of_category, "s0 faint", 3)
        mean = float(of_category.mean())
        chart.line([rank - 0.35, rank + 0.35], [mean, mean], "s1")
    return chart


def _most_moved(facts: Facts, explanation: Explanation, j: int) -> int:
    """Return the class that a feature affects most."""
    amounts = np.abs(explanation.contributions[:, j])
    sums = np.bincount(explanation.classes.ravel(), amounts.ravel(), facts.n_classes)
    return int(sums.argmax())


def _column(X: Any, j: int) -> Floats:
    column = X[:, [j]].toarray()[:, 0] if sparse.issparse(X) else X[:, j]
    return np.asarray(column, dtype=np.float64)
