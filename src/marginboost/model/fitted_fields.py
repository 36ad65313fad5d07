"""Fields with a structure: labels, names, the encoding, the ensemble and its vectors."""

from __future__ import annotations

import re
import reprlib
from dataclasses import MISSING, dataclass, fields
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from marginboost.data.encoding import Category, Encoding
from marginboost.model.archive import Archive
from marginboost.model.constant import code_of, has_offset
from marginboost.model.ensemble import DTYPES, Ensemble
from marginboost.model.fields import Field
from marginboost.model.file_text import ModelFileError

__all__ = ["EncodingField", "EnsembleField", "Labels", "Names", "Path", "Vectors"]

# Types of labels that a file stores as an array; text is stored as the code points of its characters.
_NUMBER_TYPES = frozenset(
    {"|b1", "|i1", "|u1"} | {f"{order}{kind}" for order in "<>" for kind in
                             ("i2", "i4", "i8", "u2", "u4", "u8", "f2", "f4", "f8")}
)  # fmt: skip
_TEXT_TYPE = re.compile(r"[<>]U([1-9][0-9]{0,8})")
_LAST_CHARACTER = 0x10FFFF


@dataclass(frozen=True)
class Labels(Field):
    """The classes, sorted, of any label type; sets the size "classes"."""

    def put(self, archive: Archive, name: str, value: Any) -> None:
        """Add type and labels: an array, or a list of text if they are objects."""
        labels = np.asarray(value)
        if labels.dtype == np.object_ and all(type(label) is str for label in labels):
            archive.entries[name] = {"dtype": "object", "labels": labels.tolist()}
            return
        if labels.dtype.str not in _NUMBER_TYPES and not _TEXT_TYPE.fullmatch(labels.dtype.str):
            raise ValueError(
                "To be saved, labels must be text, booleans, or numbers of at most 64 bits, got "
                f"{labels.dtype}."
            )
        archive.entries[name] = {"dtype": labels.dtype.str}
        plain = labels.astype(labels.dtype.newbyteorder("="))
        if plain.dtype.kind == "U":
            width = plain.dtype.itemsize // 4
            plain = plain.view(np.uint32).reshape(len(plain), width)
        archive.arrays[name] = plain

    def take(self, archive: Archive, name: str) -> NDArray[Any]:
        """Take out the labels, and check that they ascend."""
        entry = archive.take(name, dict)
        dtype = entry.pop("dtype", None)
        if dtype == "object":
            labels = _texts(name, entry.pop("labels", None))
        else:
            labels = _labels(archive, name, dtype)
        if entry:
            raise ModelFileError(f"{name} must have only a dtype and labels, got more.")
        archive.agree(name, len(labels), "classes")
        if len(labels) < 2 or not (labels[:-1] < labels[1:]).all():
            raise ModelFileError(f"{name} must hold at least two labels, ascending, got others.")
        return labels


@dataclass(frozen=True)
class Names(Field):
    """Names, one per column of X."""

    def put(self, archive: Archive, name: str, value: Any) -> None:
        """Add them as an entry."""
        archive.entries[name] = [str(text) for text in value]

    def take(self, archive: Archive, name: str) -> NDArray[np.object_]:
        """Take out the names, and check their number."""
        names = _texts(name, archive.take(name, list))
        archive.agree(name, len(names), "features")
        return names


@dataclass(frozen=True)
class EncodingField(Field):
    """The encoding; sets the sizes "features" and "columns"."""

    def put(self, archive: Archive, name: str, value: Encoding) -> None:
        """Add arrays, the positions one after the other, and the categories by column."""
        positions = [of_column for of_column in value.positions if of_column is not None]
        archive.arrays[f"{name}.source"] = value.source
        archive.arrays[f"{name}.fill"] = value.fill
        archive.arrays[f"{name}.positions"] = np.concatenate([np.empty(0), *positions])
        lost = {"lost": {str(column): category for column, category in value.lost.items()}}
        archive.entries[name] = {
            **(lost if value.lost else {}),  # rare, and not in the first files
            "n_features": value.n_features,
            "categories": {
                str(column): list(names)
                for column, names in enumerate(value.categories)
                if names is not None
            },
        }

    def take(self, archive: Archive, name: str) -> Encoding:
        """Take out the encoding, which checks itself."""
        entry = archive.take(name, dict)
        source = archive.take_array(f"{name}.source", np.int32, ("columns",))
        fill = archive.take_array(f"{name}.fill", np.float64, ("columns",))
        n_features, given = entry.pop("n_features", None), entry.pop("categories", None)
        lost = entry.pop("lost", {})
        if type(n_features) is not int or not 0 < n_features <= len(source) or entry:
            raise ModelFileError(
                f"{name} must have only n_features, from 1 to its {len(source)} columns, and "
                "categories, got others."
            )
        if source.min() < 0 or source.max() >= n_features:
            raise ModelFileError(f"{name}.source must be below {n_features}, got another column.")
        archive.agree(name, n_features, "features")
        categories = _categories(name, given, n_features)
        flat = archive.take_array(f"{name}.positions", np.float64, ("positions",))
        positions = _positions(name, flat, [categories[column] for column in source])
        return Encoding(
            n_features, source, fill, categories, positions, _lost(name, lost, n_features)
        )


@dataclass(frozen=True)
class EnsembleField(Field):
    """The ensemble; sets the sizes "rounds", "splits" and "leaves"."""

    def put(self, archive: Archive, name: str, value: Ensemble) -> None:
        """Add its arrays."""
        for part in _ENSEMBLE_ARRAYS:
            array = getattr(value, part)
            if array is not None:
                archive.arrays[f"{name}.{part}"] = array

    def take(self, archive: Archive, name: str) -> Ensemble:
        """Take out the ensemble, which checks itself."""
        arrays: dict[str, NDArray[Any]] = {}
        for part, needed in _ENSEMBLE_ARRAYS.items():
            dtype, dimensions = DTYPES.get(part, (np.float64, 1))
            size = _SIZES.get(part, part)
            shape = (size, "classes") if dimensions == 2 else (size,)
            if needed or f"{name}.{part}" in archive.arrays:
                arrays[part] = archive.take_array(f"{name}.{part}", dtype, shape)
        for array in arrays.values():
            array.flags.writeable = False  # so that the ensemble does not copy them
        ensemble = Ensemble(**arrays, n_features=archive.sizes["columns"])
        archive.agree(name, ensemble.n_rounds, "rounds")
        return ensemble


@dataclass(frozen=True)
class Vectors(Field):
    """The ensemble's vectors under another name; nothing is stored.

    Parameters
    ----------
    dtype : dtype
        The type of the returned array.
    shape : str or int, two
        As for `Numbers`.
    """

    dtype: DTypeLike
    shape: tuple[str | int, str | int]

    def put(self, archive: Archive, name: str, value: Any) -> None:
        """Add nothing."""

    def take(self, archive: Archive, name: str) -> NDArray[Any]:
        """Return the vectors of the ensemble, which was taken out before."""
        ensemble: Ensemble = archive.taken["ensemble_"]
        vectors = ensemble.vectors
        if self.shape[0] == "rounds" and has_offset(ensemble):
            vectors = vectors[:-1]  # the offset of the first round is not a vector of any round
        for size, wanted in zip(vectors.shape, self.shape, strict=True):
            archive.agree(name, size, wanted)
        if self.dtype != np.int8:
            return vectors.astype(self.dtype, copy=False)
        if len(ensemble.feature) and not (np.abs(vectors) == 1).all():
            raise ModelFileError(f"{name} must hold -1 and +1, got others.")
        return code_of(ensemble)


@dataclass(frozen=True)
class Path(Field):
    """W after each round: a list of arrays with one row, two rows, and so on."""

    def put(self, archive: Archive, name: str, value: list[NDArray[np.float64]]) -> None:
        """Add them as one array."""
        archive.arrays[name] = np.concatenate(value)

    def take(self, archive: Archive, name: str) -> list[NDArray[np.float64]]:
        """Take out the array, and split it."""
        rows = np.arange(archive.sizes["rounds"] + 1)
        ends = rows * (rows + 1) // 2
        flat = archive.take_array(name, np.float64, (int(ends[-1]), "classes"))
        if not np.isfinite(flat).all():
            raise ModelFileError(f"{name} must hold finite numbers, got inf or nan.")
        return [flat[first:last].copy() for first, last in pairwise(ends)]


_SIZES = dict.fromkeys(("feature", "threshold", "left", "right"), "splits")
_SIZES |= dict.fromkeys(("leaf_vector", "leaf_value", "leaf_cover"), "leaves")

_ENSEMBLE_ARRAYS = {  # by name: whether an ensemble must have it
    part.name: part.default is MISSING
    for part in fields(Ensemble)
    if part.init and part.name != "n_features"
}


def _texts(name: str, given: Any) -> NDArray[np.object_]:
    if not isinstance(given, list) or not all(type(text) is str for text in given):
        raise ModelFileError(f"{name} must be a list of text, got something else.")
    return np.array(given, dtype=np.object_)


def _labels(archive: Archive, name: str, dtype: Any) -> NDArray[Any]:
    """Take out labels that are stored as an array."""
    text = _TEXT_TYPE.fullmatch(dtype) if isinstance(dtype, str) else None
    if text is not None:
        numbers = archive.take_array(name, np.uint32, ("classes", "characters"))
        if archive.sizes["characters"] != int(text[1]) or not numbers.size:
            raise ModelFileError(
                f"{name} must be text of the length in its dtype, got another length."
            )
        if numbers.max() > _LAST_CHARACTER:
            raise ModelFileError(f"{name} must hold characters, got a number that is not one.")
        return numbers.view(f"U{numbers.shape[1]}")[:, 0].astype(dtype)
    if not isinstance(dtype, str) or dtype not in _NUMBER_TYPES:
        raise ModelFileError(
            f"the dtype of {name} must be a label type, got {reprlib.repr(dtype)}."
        )
    labels = archive.take_array(name, np.dtype(dtype).newbyteorder("="), ("classes",))
    if labels.dtype.kind == "f" and not np.isfinite(labels).all():
        raise ModelFileError(f"{name} must hold finite numbers, got inf or nan.")
    return labels.astype(dtype)


def _categories(name: str, given: Any, n_features: int) -> tuple[tuple[Category, ...] | None, ...]:
    """Read the categories of all columns of categories."""
    found: list[tuple[Category, ...] | None] = [None] * n_features
    if not isinstance(given, dict):
        raise ModelFileError(f"{name} must have categories by column, got something else.")
    for column, names in given.items():
        _check_column(name, column, n_features)
        if not isinstance(names, list) or not all(type(item) in (str, float) for item in names):
            raise ModelFileError(
                f"{name} must have lists of text or numbers as categories, got others."
            )
        found[int(column)] = tuple(names)
    return tuple(found)


def _lost(name: str, given: Any, n_features: int) -> dict[int, Category]:
    """Read one category of each column that has none left."""
    if not isinstance(given, dict) or not all(
        type(item) in (str, float) for item in given.values()
    ):
        raise ModelFileError(f"{name} must have text or numbers as lost categories, got others.")
    for column in given:
        _check_column(name, column, n_features)
    return {int(column): category for column, category in given.items()}


def _check_column(name: str, column: str, n_features: int) -> None:
    is_number = column.isdecimal() and column.isascii() and len(column) < 20
    if not is_number or str(int(column)) != column or int(column) >= n_features:
        raise ModelFileError(
            f"{name} must have categories of columns below {n_features}, got {reprlib.repr(column)}."
        )


def _positions(
    name: str, flat: NDArray[np.float64], categories: list[tuple[Category, ...] | None]
) -> tuple[NDArray[np.float64] | None, ...]:
    """Split the positions by ordered column."""
    lengths = [0 if names is None else len(names) for names in categories]
    if sum(lengths) != len(flat):
        raise ModelFileError(
            f"{name}.positions must have {sum(lengths):,} entries, one per category and column, got "
            f"{len(flat):,}."
        )
    ends = np.cumsum([0, *lengths])
    return tuple(
        None if names is None else flat[first:last].copy()
        for names, (first, last) in zip(categories, pairwise(ends), strict=True)
    )
