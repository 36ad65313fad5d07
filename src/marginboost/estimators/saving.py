"""A fitted classifier as a file: class, parameters and fitted attributes, as its class declares them."""

from __future__ import annotations

import os
import reprlib
from numbers import Integral
from typing import Any

import numpy as np

import marginboost
from marginboost.estimators.saved_attributes import LATER_PARAMETERS, NOT_SAVED, declared
from marginboost.model.archive import Archive
from marginboost.model.file import ModelFileError, pack, read_bytes, unpack, write_bytes
from marginboost.model.file_values import from_plain, to_plain

__all__ = ["check_format", "from_bytes", "load_as", "save", "to_bytes"]

# A file of a later format is refused; one of an earlier format is read for ever. A file has the earliest
# format that has all of its fields.
FORMAT = 2

_PARTS = {"format", "version", "class", "parameters", "fitted"}

_LONGEST = 400  # characters of a message: what a file says may be any long

# Where a random generator stands is not written down.
_GENERATORS = (np.random.RandomState, np.random.Generator)


def save(model: Any, path: str | os.PathLike[str]) -> None:
    """Write a fitted classifier to a file.

    Parameters
    ----------
    model : BoostedClassifier
        One of this library's own.
    path : str or path
        The file; what is there is replaced.
    """
    write_bytes(path, to_bytes(model))


def load_as(base: type[Any], path: str | os.PathLike[str]) -> Any:
    """Read a fitted classifier from a file.

    Parameters
    ----------
    base : type
        What it must be.
    path : str or path
        The file.

    Returns
    -------
    BoostedClassifier
    """
    try:
        return from_bytes(base, read_bytes(path))
    except ModelFileError as error:
        raise ModelFileError(
            f"{os.fspath(path)!r} is no model that can be loaded: {error}"
        ) from None


def to_bytes(model: Any) -> bytes:
    """Return what `save` writes."""
    from sklearn.utils.validation import check_is_fitted  # noqa: PLC0415 - slow to import

    check_is_fitted(model)
    kind = type(model)
    if own_classes(kind).get(kind.__name__) is not kind:
        raise ValueError(
            f"A model that is saved must be of one of marginboost's own classes, got {kind.__name__}."
        )
    archive = Archive({}, {})
    formats = [1]
    for name, field in declared(kind).items():
        if hasattr(model, name):
            field.put(archive, name, getattr(model, name))
            formats.append(field.since)
        elif not field.optional:
            raise ValueError(f"A fitted {kind.__name__} must have {name}, got one without.")
    parameters = _parameters(model)
    formats += [LATER_PARAMETERS.get(name, 1) for name in parameters]
    document = {
        "format": max(formats),
        "version": marginboost.__version__,
        "class": kind.__name__,
        "parameters": parameters,
        "fitted": archive.entries,
    }
    return pack(document, archive.arrays)


def from_bytes(base: type[Any], data: bytes) -> Any:
    """Make a classifier of what `to_bytes` made.

    Parameters
    ----------
    base : type
        What the classifier must be.
    data : bytes
        May be anything.

    Returns
    -------
    BoostedClassifier

    Raises
    ------
    ModelFileError
        If the bytes are no such classifier.
    """
    document, arrays = unpack(data)
    check_format(document)
    classes = own_classes(base)
    kind = classes.get(document["class"])
    if kind is None:
        raise ModelFileError(
            f"it must hold {_listed(classes)}, got {reprlib.repr(document['class'])}."
        )
    try:
        return _restored(kind, document["parameters"], Archive(document["fitted"], arrays))
    except (
        ValueError
    ) as error:  # also what an ensemble, an encoding or a parameter's own check refuses
        text = str(error)
        text = text if len(text) <= _LONGEST else f"{text[:_LONGEST]} ..."
        raise ModelFileError(f"{text} {_writer(document)}") from None


def own_classes(base: type[Any]) -> dict[str, type[Any]]:
    """Return this library's classifiers at or below a class, by name: those that nothing derives from."""
    for name in marginboost.__all__:
        getattr(marginboost, name)  # imports its module
    return _leaves_below(base)


def _leaves_below(base: type[Any]) -> dict[str, type[Any]]:
    below = [kind for kind in base.__subclasses__() if _is_own(kind)]
    if not below:
        return {base.__name__: base} if _is_own(base) else {}
    return {name: kind for part in below for name, kind in _leaves_below(part).items()}


def _is_own(kind: type[Any]) -> bool:
    return kind.__module__.startswith("marginboost.")


def _parameters(model: Any) -> dict[str, Any]:
    """Return the parameters that a file can hold; the others will have their defaults."""
    found = {}
    for name, value in model.get_params(deep=False).items():
        if name in NOT_SAVED or isinstance(value, _GENERATORS):
            continue
        if name in LATER_PARAMETERS and value is None:
            continue
        if name == "cv" and not isinstance(value, Integral):  # code, or many row numbers
            continue
        try:
            found[name] = to_plain(value)
        except ValueError as error:
            raise ValueError(f"{name} cannot be saved. {error}") from None
    return found


def check_format(document: Any) -> None:
    """Raise if a document is not of a format that can be read."""
    if not isinstance(document, dict) or type(document.get("format")) is not int:
        raise ModelFileError("it must say its format, got none.")
    if document["format"] > FORMAT:
        raise ModelFileError(
            f"its format must be at most {FORMAT}, got {document['format']}: update marginboost to "
            f"load it. {_writer(document)}"
        )
    if document["format"] < 1 or set(document) != _PARTS:
        raise ModelFileError(f"it must have {sorted(_PARTS)}, of format 1 or later, got others.")
    for name, kind in (("version", str), ("class", str), ("parameters", dict), ("fitted", dict)):
        if type(document[name]) is not kind:
            raise ModelFileError(f"its {name} must be of type {kind.__name__}, got another.")


def _writer(document: dict[str, Any]) -> str:
    return f"It was written by marginboost {reprlib.repr(document.get('version'))}."


def _restored(kind: type[Any], parameters: dict[str, Any], archive: Archive) -> Any:
    """Make a classifier from checked parts."""
    known = set(kind._get_param_names()) - NOT_SAVED
    unknown = sorted(set(parameters) - known)
    if unknown:
        raise ModelFileError(
            f"its parameters must be those of {kind.__name__}, got {reprlib.repr(unknown)}."
        )
    model = kind(**{name: from_plain(value) for name, value in parameters.items()})
    model._check_parameters()
    for name, field in declared(kind).items():
        if not field.optional or name in archive:
            archive.taken[name] = field.take(archive, name)
    archive.check_empty()
    vars(model).update(archive.taken)
    return model


def _listed(classes: dict[str, type[Any]]) -> str:
    return next(iter(classes)) if len(classes) == 1 else f"one of {', '.join(sorted(classes))}"
