"""What mistakes cost and the order of the classes, in a file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marginboost.model.archive import Archive
from marginboost.model.fields import Field
from marginboost.model.file_text import ModelFileError

__all__ = ["Costs", "Ranks"]


@dataclass(frozen=True)
class Costs(Field):
    """What predictions cost, by true and predicted class."""

    def put(self, archive: Archive, name: str, value: Any) -> None:
        """Add them as an array."""
        archive.arrays[name] = np.asarray(value, dtype=np.float64)

    def take(self, archive: Archive, name: str) -> NDArray[np.float64]:
        """Take them out, and check that no mistake costs less than the right answer."""
        costs = archive.take_array(name, np.float64, ("classes", "classes"))
        if not np.isfinite(costs).all() or costs.min() < 0.0:
            raise ModelFileError(f"{name} must hold finite numbers of at least 0, got others.")
        if (costs < np.diag(costs)[:, None]).any():
            raise ModelFileError(f"{name} must have the least cost of each row on the diagonal.")
        return costs


@dataclass(frozen=True)
class Ranks(Field):
    """The place of each class in their order."""

    def put(self, archive: Archive, name: str, value: Any) -> None:
        """Add them as an array."""
        archive.arrays[name] = np.asarray(value, dtype=np.int64)

    def take(self, archive: Archive, name: str) -> NDArray[np.int64]:
        """Take them out, and check that they differ."""
        ranks = archive.take_array(name, np.int64, ("classes",))
        if ranks.min() < 0 or len(np.unique(ranks)) < len(ranks):
            raise ModelFileError(f"{name} must hold a different place for each class, got others.")
        return ranks
