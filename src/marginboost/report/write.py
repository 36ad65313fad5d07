"""Write the report."""

from __future__ import annotations

from datetime import datetime
from os import PathLike, fspath
from typing import Any

from sklearn.utils.validation import check_is_fitted

import marginboost
from marginboost.evaluation.evaluate import evaluate
from marginboost.model.file import write_bytes
from marginboost.report import columns, examples, features, quality, sets, summary
from marginboost.report.concerns import concerns
from marginboost.report.facts import Facts
from marginboost.report.html import Html, join, tag
from marginboost.report.page import page
from marginboost.report.precision import precision_curves
from marginboost.report.report import Report
from marginboost.report.verdict import verdict

__all__ = ["write_report"]


def write_report(
    model: Any,
    path: str | PathLike[str],
    X: Any = None,
    y: Any = None,
    *,
    title: str | None = None,
    held_out: bool = False,
) -> Report:
    """Write a report on a fitted model to one HTML file.

    The file is self-contained: it needs no network, no fonts and no other files. It follows the
    reader's light or dark setting, works on a phone and can be printed.

    It begins with how good the model is, against always answering the most frequent class, and where it
    errs. Then follow points to check, what was fitted, the quality per class, the columns with their
    gaps, distributions and differences from the training rows, the features' effects, and wrong
    predictions of which the model is certain. What there is too much of is cut, and the report says
    so: 60 classes, 60 columns, 20 importances and 6 effects are shown.

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
        Title of the report. If None, the name of y, if it has one, as a pandas or polars column has;
        otherwise the name of the classifier.
    held_out : bool, default=False
        Whether the model was fitted to none of these rows. If not, the report warns that its figures may
        be too good.

    Returns
    -------
    Report
        The path of the file; a notebook shows the report below the cell.
    """
    check_is_fitted(model)
    if (X is None) != (y is None):
        raise ValueError("X and y must be given together, or neither; got only one of them.")
    facts = Facts(model, None if X is None else evaluate(model, X, y))
    heading = _default_title(model, y) if title is None else str(title)
    text = _page(facts, heading, held_out=held_out)
    write_bytes(path, text.encode())
    return Report(fspath(path), str(text))


def _default_title(model: Any, y: Any) -> str:
    target, classifier = getattr(y, "name", None), type(model).__name__
    return f"{target}, predicted by {classifier}" if isinstance(target, str) else classifier


def _page(facts: Facts, title: str, *, held_out: bool) -> Html:
    sections = [
        _section("What was fitted", summary.fitted(facts)),
        _quality(facts),
        _section("Columns", columns.column_table(facts)),
        _section("Features", features.importance_table(facts), features.shapes(facts)),
        _section("Confident but wrong", examples.wrong_rows(facts)),
    ]
    return page(
        title,
        tag("header", tag("h1", title), tag("p", _lead(facts, held_out), class_="lead")),
        _verdict(facts),
        summary.tiles(facts),
        _concerns(facts),
        _contents([section for section in sections if section is not None]),
        *(section and section[1] for section in sections),
        tag("footer", f"Written by marginboost {marginboost.__version__}."),
    )


def _lead(facts: Facts, held_out: bool) -> str:
    now = datetime.now().astimezone()
    written = f"{now.day} {now:%B %Y, %H:%M %Z}"
    if facts.rows is None:
        return f"{written}. The model alone; give rows and labels to see how good it is."
    if held_out:
        return f"{written}. Evaluated on {facts.n_rows:,} rows that the model was not fitted to."
    return (
        f"{written}. Evaluated on {facts.n_rows:,} rows. If the model was fitted to some of them, these "
        "figures are too good."
    )


def _verdict(facts: Facts) -> Html | None:
    if facts.rows is None:
        return None
    return tag("div", *(tag("p", sentence) for sentence in verdict(facts)), class_="answer")


def _section(heading: str, *parts: Html | None) -> tuple[str, Html] | None:
    """Return a heading and its section; None if it has no parts."""
    shown = [part for part in parts if part is not None]
    if not shown:
        return None
    return heading, tag("section", tag("h2", heading), *shown, id=_id_of(heading))


def _id_of(heading: str) -> str:
    return heading.lower().replace(" ", "-")


def _contents(sections: list[tuple[str, Html]]) -> Html:
    links = [tag("a", heading, href=f"#{_id_of(heading)}") for heading, _ in sections]
    return tag("nav", "Contents: ", join(links, " · "), aria_label="Contents")


def _concerns(facts: Facts) -> Html | None:
    found = concerns(facts)
    if not found:
        return None
    sentences = tag("ul", *(tag("li", sentence) for sentence in found))
    return tag("div", tag("h2", "Points to check"), sentences, class_="concerns")


def _quality(facts: Facts) -> tuple[str, Html] | None:
    curve = quality.learning_curve(facts)
    if facts.rows is None:
        return _section("How the fit went", tag("div", curve, class_="charts") if curve else None)
    known = len(facts.margins) > 0
    charts = [
        curve,
        quality.calibration(facts),
        precision_curves(facts),
        quality.margins(facts) if known else None,
    ]
    return _section(
        "How good it is",
        quality.confusions(facts),
        quality.class_table(facts),
        sets.prediction_sets(facts),
        tag("div", *(chart for chart in charts if chart is not None), class_="charts"),
    )
