"""A corrupted model file, and the verdict on how the loader handles it."""

from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from fuzz.mutations import BLIND, KNOWING, REPAIRED, repair
from marginboost import ModelFileError
from marginboost.estimators.base import BoostedClassifier
from marginboost.estimators.saving import from_bytes, to_bytes

CORPUS = Path(__file__).parents[1] / "tests" / "model" / "kept"


def corrupt(number: int, files: list[bytes]) -> tuple[str, bytes, bytes, bool]:
    """Return the kind, the original, the corrupted file, and whether its checksum is right."""
    rng = Random(number)
    original = rng.choice(files)
    others = [data for data in files if data is not original]
    mutation = rng.choice([*BLIND, *KNOWING, *REPAIRED])
    corrupted = mutation(original, others, rng)
    repaired = mutation in REPAIRED
    if mutation in KNOWING and rng.random() < 0.7:
        repaired, corrupted = True, repair(corrupted)
    return mutation.__name__ + (" (repaired)" if repaired else ""), original, corrupted, repaired


def use(model: Any) -> None:
    """Predict some rows by all methods that read the model's arrays."""
    rng = np.random.default_rng(0)
    encoding = model.encoding_
    X = rng.normal(scale=3, size=(5, encoding.n_features))
    X[rng.random(X.shape) < 0.2] = np.nan
    for column, names in enumerate(encoding.categories):
        if names is not None:
            X[:, column] = rng.integers(0, len(names), 5) if names else np.nan
    ordered = encoding.apply(X)
    scores = model.ensemble_.decision_function(ordered, n_threads=1)
    probabilities = model._probabilities(scores)
    if scores.shape != (5, len(model.classes_)) or probabilities.shape != scores.shape:
        raise RuntimeError("wrong shape")
    for _ in model.ensemble_.staged(ordered):
        pass
    model.classes_[scores.argmax(axis=1)].tolist()
    model.compile()
    rows = X.astype(object)
    for column, names in enumerate(encoding.categories):
        if names is not None:
            rows[:, column] = [names[int(place)] if names else None for place in X[:, column]]
    model.predict(X if all(names is None for names in encoding.categories) else rows)
    to_bytes(model)


@cache
def _written_now(original: bytes) -> bytes:
    """Return a sound file as this version writes it."""
    return to_bytes(from_bytes(BoostedClassifier, original))


def outcome(original: bytes, corrupted: bytes, *, repaired: bool) -> str:
    """Load a file; raise if it is neither rejected nor valid."""
    try:
        model = from_bytes(BoostedClassifier, corrupted)
    except ModelFileError as error:
        if "\n" in str(error) or len(str(error)) > 1000:
            raise RuntimeError(f"not a sentence: {error}") from error
        return "refused"
    same = to_bytes(model) == _written_now(original)
    if not repaired and not same:
        raise RuntimeError(
            "a changed model was loaded although its checksum is that of the old one"
        )
    use(model)
    return "same" if same else "another valid model"
