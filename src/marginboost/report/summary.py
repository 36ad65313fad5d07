"""The top of the report: what was fitted, and how well."""

from __future__ import annotations

import numpy as np

from marginboost.evaluation.choice import describe_choice
from marginboost.evaluation.constraints import describe_constraints
from marginboost.evaluation.costs import Decided, ordered_labels
from marginboost.report.facts import Facts
from marginboost.report.html import Html, join, name, tag
from marginboost.report.svg import number

__all__ = ["fitted", "percent", "tiles"]

# Shown in place of a missing number.
NOTHING = "\N{EN DASH}"

_LISTED_CLASSES = 12

_STOPPED = {
    "max_rounds": "all requested rounds were done",
    "no_violated_constraint": "more rounds would not help",
    "interrupted": "the fit was interrupted; the rounds so far were kept",
    "early_stopping": "the validation loss no longer fell",
    "max_time": "the time limit was reached",
    "callback": "a callback asked for it",
}


def percent(share: float) -> str:
    """Format a share, with more digits close to 0 % and 100 %."""
    if np.isnan(share):
        return NOTHING
    near = min(share, 1 - share)
    if near == 0:
        return f"{100 * share:.0f}%"
    if near < 5e-5:
        return "under 0.01%" if share < 0.5 else "over 99.99%"
    return f"{100 * share:.{1 if near >= 0.01 else 2}f}%"


def duration(seconds: float) -> str:
    """Format a duration."""
    if seconds < 1:
        return f"{1000 * seconds:.0f} ms"
    if seconds < 120:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 120:
        return f"{minutes} min {rest} s"
    return f"{minutes // 60} h {minutes % 60} min"


def tiles(facts: Facts) -> Html:
    """Show the most important numbers."""
    shown: list[tuple[str, str, str]] = []
    if facts.rows is not None:
        low, high = facts.accuracy_range
        n_right = int(facts.right.sum())
        shown += [
            (percent(facts.accuracy), "accuracy", f"{n_right:,} of {facts.n_rows:,} rows; "
             f"{100 * low:.1f}% to {100 * high:.1f}% with 95% confidence"),
            (percent(facts.baseline), "baseline accuracy",
             f"always answering {facts.labels[facts.baseline_class][:20]}"),
            (number(round(facts.macro_f1, 4)), "macro F1", "mean over classes, all alike; 1 is best"),
            (number(round(facts.log_loss, 9)), "log loss",
             f"{number(np.log(facts.n_classes))} would be guessing"),
            (percent(facts.reliability.error), "calibration error",
             "how far off probabilities are, on average"),
        ]  # fmt: skip
        if not np.isnan(facts.top_k):
            words = f"the class is among the {facts.k} most probable"
            shown.insert(3, (percent(facts.top_k), f"top-{facts.k} accuracy", words))
        decisions = ((facts.cost, "mean cost"), (facts.steps_off, "mean absolute error"))
        shown[1:1] = [_decision(found, word) for found, word in decisions if found is not None]
    model = facts.model
    shown += [
        (f"{facts.n_classes:,}", "classes", ""),
        (f"{len(facts.names):,}", "features", f"{len(facts.by_importance):,} of them used"),
        (f"{model.n_iter_:,}", "rounds", f"{model.ensemble_.n_trees:,} trees"),
    ]
    return tag("div", *(
        tag("div", tag("div", value, class_="value"), tag("div", word, class_="word"),
            tag("div", more, class_="more"), class_="tile")
        for value, word, more in shown
    ), class_="tiles")  # fmt: skip


def _decision(found: Decided, word: str) -> tuple[str, str, str]:
    """Describe a mean over rows, and what one class for all rows would have given."""
    unit = "in steps from class to class" if word == "mean absolute error" else "by the cost matrix"
    more = unit
    if found.constant is not None:
        more = f"{unit}; {number(round(found.constant, 9))} if always {found.label}"
    return number(round(found.mean, 9)), word, more


def fitted(facts: Facts) -> Html:
    """Describe what was fitted, to which data, and the result."""
    model, ensemble = facts.model, facts.model.ensemble_
    lines: list[tuple[str, Html | str]] = [("Classifier", tag("code", type(model).__name__))]
    if facts.class_counts is not None:
        lines.append(("Training rows", f"{facts.class_counts.sum():,.0f}"))
    lines += [
        ("Columns", _columns(facts)),
        ("Classes", _classes(facts)),
        ("Parameters", _parameters(facts)),
    ]
    constraints = describe_constraints(model)
    if constraints:
        lines.append(("Constraints", "; ".join(constraints)))
    order = ordered_labels(model)
    if order is not None:
        lines.append(("Order of the classes", " < ".join(str(label) for label in order)))
    at_work = _frequencies_at_work(facts)
    if at_work is not None:
        lines.append(("Class frequencies at work", at_work))
    chosen = describe_choice(model)
    if chosen:
        lines.append(("Chosen by the fit", "; ".join(chosen)))
        error = model.chosen_["held_out_error"]
        if np.isfinite(error):
            lines.append(("Held-out error", percent(float(error))))
    if facts.seconds is not None:
        lines.append(("Fitted in", duration(facts.seconds)))
    reason = str(model.stop_reason_)
    lines.append(("Stopped because", _STOPPED.get(reason, reason)))
    if facts.train_error is not None:
        lines.append(("Training error", percent(facts.train_error)))
    if (score := getattr(model, "validation_score_", None)) is not None and np.isfinite(score):
        lines.append(("Validation accuracy", percent(float(score))))
    lines.append(("Size", _size(ensemble)))
    return tag("dl", *(join([tag("dt", word), tag("dd", what)]) for word, what in lines))


def _frequencies_at_work(facts: Facts) -> str | None:
    """Describe how frequent classes are assumed to be; None where that is as in training, or unknown."""
    model = facts.model
    trained = getattr(model, "training_frequencies_", None)
    if trained is None or np.array_equal(model.class_frequencies_, trained):
        return None
    change = np.abs(model.class_frequencies_ - trained)
    first = np.argsort(-change, kind="stable")[:_LISTED_CLASSES]
    shown = "; ".join(
        f"{facts.labels[k]} {percent(float(model.class_frequencies_[k]))} "
        f"(in training {percent(float(trained[k]))})"
        for k in first.tolist()
    )
    return shown + ("; ..." if len(change) > len(first) else "")


def _columns(facts: Facts) -> str:
    encoding = facts.model.encoding_
    n_categories = sum(categories is not None for categories in encoding.categories)
    twice = np.bincount(encoding.source, minlength=encoding.n_features) > 1
    n_missing = sum(bool(twice[j]) for j, of in enumerate(encoding.categories) if of is None)
    text = f"{encoding.n_features:,}"
    if n_categories:
        text += f", {n_categories:,} categorical"
    if n_missing:
        text += f", {n_missing:,} with missing values"
    return text


def _classes(facts: Facts) -> Html:
    shown = [name(label) for label in facts.labels[:_LISTED_CLASSES]]
    listed = join(shown, ", ")
    if len(shown) < facts.n_classes:
        return join([f"{facts.n_classes:,}: ", listed, " and more"])
    return join([f"{facts.n_classes:,}: ", listed])


def _parameters(facts: Facts) -> Html:
    if not facts.changed_parameters:
        return Html("all have their defaults")
    shown = [tag("code", f"{key}={value[:80]}") for key, value in facts.changed_parameters.items()]
    return join([join(shown, ", "), "; all others have their defaults"])


def _size(ensemble: object) -> str:
    arrays = [
        value
        for key in getattr(ensemble, "__slots__", ())
        if isinstance(value := getattr(ensemble, key), np.ndarray)
    ]
    size = sum(array.nbytes for array in arrays)
    n_leaves = len(getattr(ensemble, "leaf_value", ()))
    word = f"{size / 1e6:.1f} MB" if size >= 1e6 else f"{size / 1e3:.0f} kB"
    return f"{n_leaves:,} leaves, {word} in memory"
