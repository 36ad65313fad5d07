"""A model file read for predictions alone, without scikit-learn, which takes long to import."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from marginboost.data.encoding import Encoding
from marginboost.engine.threads import effective_threads
from marginboost.estimators.saved_attributes import SAVED_ATTRIBUTES
from marginboost.estimators.saving import check_format
from marginboost.model.archive import Archive
from marginboost.model.compiled import CompiledModel
from marginboost.model.fields import Field
from marginboost.model.file import ModelFileError, read_bytes, unpack
from marginboost.model.link import Softmax

__all__ = ["KINDS", "PredictionModel", "read_for_prediction"]

# The classifiers whose probabilities are softmax(s * F), and where their fitted attributes are declared:
# the order is that of `declared`, which needs the classes themselves.
_SHARED = ("FittedClassifier", "ClassFrequencies", "PredictionSets")
KINDS: dict[str, tuple[str, ...]] = {
    "MarginBoostClassifier": (*_SHARED[:1], "BoostedClassifier", *_SHARED[1:]),
    "MarginBoostClassifierCV": _SHARED,
    "MCBoostClassifier": (*_SHARED[:1], "BoostedClassifier", *_SHARED[1:]),
}


class PredictionModel:
    """What a file holds for predictions.

    Attributes
    ----------
    compiled : CompiledModel
        Predicts what the classifier would, to the bit, but the numbers of classes instead of labels.
    classes_, encoding_, n_features_in_, feature_names_in_
        As those of the classifier; without names there is no `feature_names_in_`.
    """

    classes_: Any
    encoding_: Encoding
    n_features_in_: int

    def __init__(self, fitted: dict[str, Any], n_jobs: Any) -> None:
        for name in ("classes_", "encoding_", "n_features_in_", "feature_names_in_"):
            if name in fitted:
                setattr(self, name, fitted[name])
        self.compiled = CompiledModel(
            fitted["ensemble_"],
            np.arange(len(fitted["classes_"])),
            Softmax(fitted["probability_scale_"]),
            effective_threads(n_jobs),
            fitted["encoding_"],
            costs=fitted.get("cost_matrix_"),
        )


def read_for_prediction(path: str | os.PathLike[str]) -> PredictionModel | None:
    """Read a model file for predictions.

    All that is read is checked as by `load`. Parameters are not, apart from the number of threads: no
    other affects a prediction.

    Returns
    -------
    PredictionModel or None
        None where it takes more than this: another class of model, or a file that is not sound. `load`
        finds out.
    """
    try:
        document, arrays = unpack(read_bytes(path))
        check_format(document)
        if document["class"] not in KINDS:
            return None
        n_jobs = document["parameters"].get("n_jobs")
        if n_jobs is not None and type(n_jobs) is not int:
            return None
        archive = Archive(document["fitted"], arrays)
        for name, field in fields_of(document["class"]).items():
            if not field.optional or name in archive:
                archive.taken[name] = field.take(archive, name)
        archive.check_empty()
    except (ModelFileError, ValueError, OSError):
        return None
    return PredictionModel(archive.taken, n_jobs)


def fields_of(kind: str) -> dict[str, Field]:
    """Return the fitted attributes of a class in the order in which they are read."""
    found: dict[str, Field] = {}
    for part in (*KINDS[kind], kind):
        found |= SAVED_ATTRIBUTES.get(part, {})
    return found
