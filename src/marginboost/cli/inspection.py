"""``marginboost inspect``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

import marginboost
from marginboost.boosting.stop_words import describe_stop
from marginboost.cli.words import counted, one_of, percent, size_of
from marginboost.evaluation.choice import describe_choice
from marginboost.evaluation.constraints import describe_constraints
from marginboost.evaluation.costs import ordered_labels

SHOWN_COSTS = 5  # so many mistakes
SHOWN = 20  # so many of the most important columns, and of the classes


def inspect_model(path: Path, as_json: bool) -> None:
    """Show what is in a model file."""
    model = marginboost.load(path)
    facts = facts_of(model, path)
    if as_json:
        typer.echo(json.dumps(facts, indent=2, ensure_ascii=False, allow_nan=False))
    else:
        _show(facts, size_of(path), describe_choice(model), describe_constraints(model))


def facts_of(model: Any, path: Path) -> dict[str, Any]:
    """Collect the facts about a fitted model, in the types of JSON."""
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        names = [f"column {place}" for place in range(model.n_features_in_)]
    parts = zip(names, model.encoding_.categories, model.feature_importances_, strict=True)
    return {
        "file": str(path),
        "bytes": path.stat().st_size,
        "classifier": type(model).__name__,
        "rounds": int(model.n_iter_),
        "stop_reason": model.stop_reason_,
        "trees": int(model.ensemble_.n_trees),
        "classes": [_plain(label) for label in model.classes_],
        "class_frequencies": _frequencies(model),
        "columns": [
            {
                "name": str(name),
                "categories": None if known is None else len(known),
                "importance": float(importance),
            }
            for name, known, importance in parts
        ],
        "parameters": {name: _plain(value) for name, value in model.get_params().items()},
        "chosen": _chosen(model),
        "costs": _plain(getattr(model, "cost_matrix_", None)),
        "order": _plain(ordered_labels(model)),
    }


def _frequencies(model: Any) -> dict[str, Any] | None:
    """Return how frequent the classes were in training and are at work; None where that is unknown."""
    trained = getattr(model, "training_frequencies_", None)
    if trained is None:
        return None
    return {"training": _plain(trained), "at_work": _plain(model.class_frequencies_)}


def _chosen(model: Any) -> dict[str, Any] | None:
    """Return what the fit has decided, with None for NaN; None where it decides nothing."""
    chosen = getattr(model, "chosen_", None)
    if chosen is None:
        return None
    return {
        name: None if isinstance(value, float) and np.isnan(value) else _plain(value)
        for name, value in chosen.items()
    }


def _plain(value: Any) -> Any:
    """Convert a value to the types of JSON."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, dict):
        return {str(key): _plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [_plain(entry) for entry in value]
    finite = not isinstance(value, float) or np.isfinite(value)
    if value is None or (finite and isinstance(value, bool | int | float | str)):
        return value
    return str(value)


def _show(facts: dict[str, Any], size: str, chosen: list[str], constraints: list[str]) -> None:
    console = Console(highlight=False, soft_wrap=True)
    defaults = getattr(marginboost, facts["classifier"])().get_params()
    changed = [f"{k}={v!r}" for k, v in facts["parameters"].items() if v != _plain(defaults.get(k))]
    classes = [one_of(label) for label in facts["classes"][:SHOWN]]
    more = ", ..." if len(facts["classes"]) > SHOWN else ""
    for word, text in (
        ("model", f"{facts['classifier']} in {facts['file']} ({size})"),
        (
            "rounds",
            f"{facts['rounds']:,} ({describe_stop(facts['stop_reason'])}), "
            f"{counted(facts['trees'], 'tree')}",
        ),
        ("classes", f"{len(facts['classes']):,}: {', '.join(classes)}{more}"),
        *_shares(facts),
        ("parameters", ", ".join(changed) or "the defaults"),
        *(("chosen", part) for part in chosen),
        *(("constraint", line) for line in constraints),
        *_decision(facts),
        ("columns", f"{len(facts['columns']):,}, the most important first"),
    ):
        console.print(Text(f"{word:<12}", style="bold") + Text(text))
    console.print(_columns(facts["columns"]))


def _shares(facts: dict[str, Any]) -> list[tuple[str, str]]:
    """Describe how frequent the classes are."""
    known = facts["class_frequencies"]
    if known is None:
        return []
    words = [("frequencies", "training")]
    if known["at_work"] != known["training"]:
        words.append(("at work", "at_work"))
    more = ", ..." if len(facts["classes"]) > SHOWN else ""
    lines = []
    for word, which in words:
        shares = zip(facts["classes"][:SHOWN], known[which], strict=False)
        text = ", ".join(f"{one_of(label)} {percent(share)}" for label, share in shares)
        lines.append((word, text + more))
    return lines


def _decision(facts: dict[str, Any]) -> list[tuple[str, str]]:
    """Describe the order of the classes, and what mistakes cost."""
    lines = []
    if facts["order"] is not None:
        lines.append(("order", " < ".join(one_of(label) for label in facts["order"][:SHOWN])))
    if facts["costs"] is not None:
        labels = [one_of(label) for label in facts["classes"]]
        pairs = [
            (cost, f"{true} as {predicted}: {cost:g}")
            for true, row in zip(labels, facts["costs"], strict=True)
            for predicted, cost in zip(labels, row, strict=True)
            if true != predicted
        ]
        pairs.sort(key=lambda pair: -pair[0])
        more = ", ..." if len(pairs) > SHOWN_COSTS else ""
        dearest = ", ".join(words for _, words in pairs[:SHOWN_COSTS])
        lines.append(("costs", f"the dearest first: {dearest}{more}"))
    return lines


def _columns(columns: list[dict[str, Any]]) -> Table:
    table = Table(box=None, show_header=False, pad_edge=True, padding=(0, 2))
    for column in sorted(columns, key=lambda column: -column["importance"])[:SHOWN]:
        known = column["categories"]
        kind = "numbers" if known is None else f"{known:,} categories"
        bar = "█" * round(20 * column["importance"])
        table.add_row(Text(column["name"]), kind, percent(column["importance"]), bar)
    if len(columns) > SHOWN:
        table.add_row(f"... and {len(columns) - SHOWN:,} more", "", "", "")
    return table
