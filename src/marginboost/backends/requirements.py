"""What a classifier requires of the backend that prepares its rows, and of the rows themselves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from marginboost.backends.class_weights import ClassWeights
from marginboost.data.memory import check_memory


class Sized(NamedTuple):
    """In the place of rows whose number is all that is asked for."""

    shape: tuple[int, int]


@dataclass(frozen=True, slots=True)
class Requirements:
    """What a classifier asks for.

    Attributes
    ----------
    classifier : BoostedClassifier
        Keeps the number and the names of the features.
    sparse_formats : tuple of str or False
        Of SciPy's sparse matrices, those that it takes.
    class_weight : ClassWeights
        The factors of classes.
    max_bins : int or None
        Maximum number of bins per feature; None: one per distinct value.
    least_leaf_share : float
        Least share of the rows' weight in a leaf.
    needed_bytes : callable
        Takes X and the number of classes; estimates the memory of a fit.
    describe : callable
        Takes the numbers of rows, features and classes; says what the memory is for.
    host_only : str or None
        What it is that only the engines on the host can fit; None if any engine will do.
    """

    classifier: Any
    sparse_formats: tuple[str, ...] | bool
    class_weight: ClassWeights
    max_bins: int | None
    least_leaf_share: float
    needed_bytes: Callable[[Any, int], int]
    describe: Callable[[int, int, int], str]
    host_only: str | None = None

    def check_memory(
        self, X: Any, n_classes: int, available: int | None = None, kind: str = "memory"
    ) -> None:
        """Raise if a fit needs more memory than is available.

        Parameters
        ----------
        X : array, matrix or Sized
            The ordered columns, or their size.
        n_classes : int
            Number of classes.
        available : int or None
            Available bytes; None: ask the system.
        kind : str
            The kind of memory.
        """
        needed = self.needed_bytes(X, n_classes)
        check_memory(
            needed, lambda: self.describe(X.shape[0], X.shape[1], n_classes), available, kind
        )

    def check_not_host_only(self, found: str, advice: str) -> None:
        """Raise if only the host can do this fit.

        Parameters
        ----------
        found : str
            What sends the fit elsewhere.
        advice : str
            What to do instead.
        """
        if self.host_only is not None:
            raise ValueError(
                f"{self.host_only} must be fitted on the CPU of one machine; got {found}. {advice}, or "
                "use MarginBoostClassifier, whose trees grow on a GPU and on a cluster."
            )

    @property
    def cross_fits(self) -> bool:
        """Whether many categories of a column are placed by shares, and rows are cross-fitted.

        With a least weight of leaves they are not: it has chosen among the thresholds.
        """
        return self.least_leaf_share == 0.0

    @property
    def by_type(self) -> bool:
        """Whether it is the types of columns that say which of them hold categories."""
        return isinstance(self.classifier.categorical_features, str)


def check_least_weight(least: float, at: int) -> None:
    """Raise if the least weight, that of row `at`, is negative."""
    if least < 0:
        raise ValueError(f"sample_weight must hold no negative number; got {least:g} at row {at}.")


def check_weighted_classes(n_classes: int) -> None:
    """Raise unless so many classes have rows that count."""
    if n_classes < 2:
        raise ValueError(
            "sample_weight and class_weight must be positive for rows of at least two classes; got "
            f"{n_classes} such class(es)."
        )
