"""The pages of the reference, which ``conf.py`` writes: one per class, and functions by subject."""

from __future__ import annotations

import inspect
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any

__all__ = ["SECTIONS", "methods_of", "write_pages"]

CLASS, TOPIC = "class", "topic"

# Title of a section, and its pages: a class by its full name, or a subject with what belongs to it.
SECTIONS: list[tuple[str, list[tuple[str, ...]]]] = [
    (
        "The classifiers",
        [
            ("marginboost.MarginBoostClassifier",),
            ("marginboost.MarginBoostClassifierCV",),
            ("marginboost.MCBoostClassifier",),
            ("marginboost.MultiBoostClassifier",),
            ("marginboost.SAMMEClassifier",),
            ("marginboost.AdaBoostMHClassifier",),
            ("marginboost.AdaBoostECCClassifier",),
            ("marginboost.AdaBoostSIPClassifier",),
            ("marginboost.AdaBoostMOClassifier",),
            ("marginboost.GradBoostClassifier",),
            ("marginboost.JointBoostClassifier",),
        ],
    ),
    (
        "What fits take and models return",
        [
            ("marginboost.StoredRows",),
            ("marginboost.Round",),
            ("marginboost.model.compiled.CompiledModel",),
            ("marginboost.model.explanation.Explanation",),
            ("marginboost.model.shapes.FeatureShape",),
            ("marginboost.model.ensemble.Ensemble",),
            ("marginboost.data.encoding.Encoding",),
            ("marginboost.model.calibration_rows.CalibrationRows",),
        ],
    ),
    (
        "Functions",
        [
            ("Model files", "marginboost.load", "marginboost.ModelFileError"),
            ("Costs of mistakes", "marginboost.mean_cost"),
            ("Prediction sets", "marginboost.evaluation.sets"),
            ("Plots", "marginboost.plot"),
            ("The report", "marginboost.report"),
            ("ONNX", "marginboost.onnx"),
        ],
    ),
]

# Headings of a class's page, and the methods below them, in the order in which they are used.
GROUPS = {
    "Fit": ["fit", "estimate_memory"],
    "Predict": ["predict", "predict_proba", "predict_set", "decision_function", "score", "apply"],
    "After each round": ["staged_predict", "staged_predict_proba", "staged_decision_function"],
    "Decide otherwise": ["with_costs", "with_class_frequencies"],
    "Explain": ["explain", "feature_shapes", "to_shap"],
    "Save, serve, export": ["save", "load", "compile", "to_onnx"],
}
# Methods that scikit-learn describes.
NOT_OURS = {"set_fit_request", "set_score_request", "set_callbacks"}


def write_pages(folder: Path) -> None:
    """Write all pages of the reference, and leave those alone that would stay as they are."""
    folder.mkdir(exist_ok=True)
    pages = {"index": _index()}
    for _, entries in SECTIONS:
        for entry in entries:
            pages[_file(entry)] = _class_page(entry[0]) if len(entry) == 1 else _topic_page(*entry)
    for path in folder.glob("*.rst"):
        if path.stem not in pages:
            path.unlink()
    for name, text in pages.items():
        path = folder / f"{name}.rst"
        if not path.exists() or path.read_text("utf-8") != text:
            path.write_text(text, "utf-8")


def methods_of(kind: type) -> dict[str, list[str]]:
    """Return the public methods of a class below their headings; those of no group come last."""
    from sklearn.base import BaseEstimator, ClassifierMixin  # noqa: PLC0415 - slow to import

    theirs = {name for base in (BaseEstimator, ClassifierMixin) for name in dir(base)} - {"score"}
    own = {
        name
        for name, value in inspect.getmembers(kind)
        if not name.startswith("_")
        and name not in theirs | NOT_OURS | set(dir(tuple))
        and (inspect.isroutine(value) or isinstance(value, property | cached_property))
    }
    if hasattr(kind, "__call__") and "__call__" in vars(kind):  # noqa: B004 - is it described here?
        own.add("__call__")
    found = {title: [name for name in names if name in own] for title, names in GROUPS.items()}
    rest = own.difference(*found.values())
    in_order = [name for base in kind.__mro__ for name in vars(base) if name in rest]
    found["Methods" if not any(found.values()) else "More"] = list(dict.fromkeys(in_order))
    return {title: names for title, names in found.items() if names}


def _object(name: str) -> Any:
    module, _, last = name.rpartition(".")
    return getattr(import_module(module), last)


def _file(entry: tuple[str, ...]) -> str:
    return entry[0].rpartition(".")[2] if len(entry) == 1 else entry[0].lower().replace(" ", "_")


def _heading(text: str, mark: str) -> str:
    return f"{text}\n{mark * len(text)}\n\n"


def _class_page(name: str) -> str:
    kind = _object(name)
    text = _heading(kind.__name__, "=") + f".. autoclass:: {name}\n\n"
    described = "Attributes\n" in (inspect.getdoc(kind) or "")
    for title, methods in methods_of(kind).items():
        shown = [method for method in methods if not (described and _is_property(kind, method))]
        if shown:
            text += _heading(title, "-")
        for method in shown:
            directive = "autoproperty" if _is_property(kind, method) else "automethod"
            text += f".. {directive}:: {name}.{method}\n\n"
    return text


def _is_property(kind: type, name: str) -> bool:
    return isinstance(inspect.getattr_static(kind, name), property | cached_property)


def _topic_page(title: str, *names: str) -> str:
    text = _heading(title, "=")
    for name in names:
        if inspect.ismodule(_module_or_none(name)):
            text += f".. automodule:: {name}\n   :members:\n\n"
            continue
        found = _object(name)
        error = inspect.isclass(found) and issubclass(found, Exception)
        text += f".. {'autoexception' if error else 'autofunction'}:: {name}\n\n"
    return text


def _module_or_none(name: str) -> Any:
    try:
        return import_module(name)
    except ModuleNotFoundError:
        return None


def _summary(entry: tuple[str, ...]) -> str:
    """Return the first sentence of a class's description, or the names that a page describes."""
    if len(entry) == 1:
        return (
            (inspect.getdoc(_object(entry[0])) or "")
            .split("\n\n", maxsplit=1)[0]
            .replace("\n", " ")
        )
    return ", ".join(f"``{name}``" for name in entry[1:])


def _index() -> str:
    text = _heading("API reference", "=")
    text += "A page per class, and functions by subject.\n\n"
    for title, entries in SECTIONS:
        text += _heading(title, "-") + ".. list-table::\n   :widths: 35 65\n\n"
        for entry in entries:
            text += f"   * - :doc:`{_file(entry)}`\n     - {_summary(entry)}\n"
        text += "\n.. toctree::\n   :hidden:\n\n"
        text += "".join(f"   {_file(entry)}\n" for entry in entries) + "\n"
    return text
