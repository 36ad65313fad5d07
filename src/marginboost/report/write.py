"""Write the report."""

from __future__ import annotations

from os import PathLike
from typing import Any

from sklearn.utils.validation import check_is_fitted

import marginboost
from marginboost.evaluation.evaluate import evaluate
from marginboost.model.file import write_bytes
from marginboost.report import examples, features, quality, summary
from marginboost.report.concerns import concerns
from marginboost.report.facts import Facts
from marginboost.report.html import Html, tag
from marginboost.report.page import page

__all__ = ["write_report"]


def write_report(
    model: Any,
    path: str | PathLike[str],
    X: Any = None,
    y: Any = None,
    *,
    title: str | None = None,
) -> None:
    """Write a report on a fitted model to one HTML file.

    The file is self-contained: it needs no network, no fonts and no other files. It follows the
    reader's light or dark setting, works on a phone and can be printed.

    Parameters
    ----------
    model : classifier
        Fitted.
    path : str or path
        The file to write. An existing file is replaced atomically.
    X : array-like of shape (n_samples, n_features), optional
        Rows to evaluate the model on, preferably ones that it was not fitted to. Without them the
        report describes the model alone.
    y : array-like of shape (n_samples,), optional
        Their labels.
    title : str, optional
        Title of the report; the name of the classifier if None.
    """
    check_is_fitted(model)
    if (X is None) != (y is None):
        raise ValueError("X and y must be given together, or neither; got only one of them.")
    facts = Facts(model, None if X is None else evaluate(model, X, y))
    text = _page(facts, type(model).__name__ if title is None else str(title))
    write_bytes(path, text.encode())


def _page(facts: Facts, title: str) -> Html:
    return page(
        title,
        tag("header", tag("h1", title), tag("p", _lead(facts), class_="lead")),
        summary.tiles(facts),
        _concerns(facts),
        _section("What was fitted", summary.fitted(facts)),
        _quality(facts),
        _section("Features", features.importance_table(facts), features.shapes(facts)),
        _section("Confident but wrong", examples.wrong_rows(facts)),
        tag("footer", f"Written by marginboost {marginboost.__version__}."),
    )


def _lead(facts: Facts) -> str:
    if facts.rows is None:
        return "The model alone; give rows and labels to see how good it is."
    return (
        f"Evaluated on {facts.n_rows:,} rows. If the model was fitted to some of them, these figures are "
        "too good."
    )


def _section(heading: str, *parts: Html | None) -> Html | None:
    shown = [part for part in parts if part is not None]
    return tag("section", tag("h2", heading), *shown) if shown else None


def _concerns(facts: Facts) -> Html | None:
    found = concerns(facts)
    if not found:
        return None
    sentences = tag("ul", *(tag("li", sentence) for sentence in found))
    return tag("div", tag("h2", "Points to check"), sentences, class_="concerns")


def _quality(facts: Facts) -> Html | None:
    curve = quality.learning_curve(facts)
    if facts.rows is None:
        return _section("How the fit went", tag("div", curve, class_="charts") if curve else None)
    known = len(facts.margins) > 0
    charts = [curve, quality.calibration(facts), quality.margins(facts) if known else None]
    left = tag("div", quality.confusions(facts), quality.class_table(facts), class_="stack")
    right = tag("div", *(chart for chart in charts if chart is not None), class_="stack")
    return _section("How good it is", tag("div", left, right, class_="charts"))
