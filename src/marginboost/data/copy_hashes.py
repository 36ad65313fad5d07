"""Hashes of the copies of rows, by which copies are drawn and held out: see `marginboost.data.copies`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from marginboost.data.agreement import agreement
from marginboost.data.binning import BinnedMatrix
from marginboost.data.copies import STEP, Numbering, copy_numbers
from marginboost.data.hash_bounds import count_rows
from marginboost.data.row_hashes import class_hashes, row_hashes
from marginboost.data.sparse_binning import SparseBinnedMatrix
from marginboost.data.storage import Storage

if TYPE_CHECKING:
    from marginboost.data.category_codes import CategoryCodes

__all__ = ["CopyHashes"]

Hashes = NDArray[np.uint64]


class CopyHashes:
    """The hashes of the copies of rows that are grouped by class.

    Parameters
    ----------
    binned, class_offsets, weight, multiplicity, storage, categories, n_threads
        Those of a `TrainingSet`.
    """

    def __init__(
        self,
        binned: BinnedMatrix | SparseBinnedMatrix,
        class_offsets: NDArray[np.int64],
        weight: NDArray[np.float64] | None,
        multiplicity: NDArray[np.int32] | None,
        storage: Storage,
        categories: CategoryCodes | None,
        n_threads: int,
    ) -> None:
        self._binned, self._class_offsets = binned, class_offsets
        self._weight, self._multiplicity = weight, multiplicity
        self._storage, self._categories, self._n_threads = storage, categories, n_threads
        self._n_classes = len(class_offsets) - 1
        self._cache: dict[int, Hashes] = {}  # of one seed
        self._numbering: Numbering | None = None  # before the first hashes

    @property
    def numbering(self) -> Numbering | None:
        """What is known of the copies, once rows are hashed."""
        return self._numbering

    @numbering.setter
    def numbering(self, numbering: Numbering | None) -> None:
        """Set what is known of the copies within a larger set of rows."""
        known = self._numbering
        if known is None or numbering is None or numbering.numbers is not known.numbers:
            self._cache.clear()
        self._numbering = numbering

    def first(self, seed: int) -> Hashes:
        """Hash the first copy of every row; the hashes of the last seed are cached."""
        kept = self._cache.get(seed)
        if kept is not None:
            return kept
        self._cache.clear()
        hashes = row_hashes(
            self._binned,
            self._class_offsets,
            seed,
            self._storage,
            self._categories,
            n_threads=self._n_threads,
        )
        if self._numbering is None:
            numbers = copy_numbers(
                hashes,
                self._weight,
                self._multiplicity,
                self._storage.xp,
                self._storage.has_repeats,
                n_threads=self._n_threads,
            )
            self._numbering = Numbering("", numbers, None)
        if self._numbering.numbers is not None:
            hashes += self._numbering.numbers.astype(np.uint64) * STEP
        self._cache[seed] = hashes
        return hashes

    def of_content(self, seed: int, rows: NDArray[np.int64] | slice = slice(None)) -> Hashes:
        """Return the hashes of rows' contents, which their copies share."""
        hashes, numbers = self.first(seed)[rows], self._numbered(seed).numbers
        return hashes if numbers is None else hashes - numbers[rows].astype(np.uint64) * STEP

    def of_features(self, seed: int) -> Hashes:
        """Return the hashes of rows' contents without their classes."""
        of_class: Hashes = self._of_class(class_hashes(self._n_classes, seed))
        return self.of_content(seed) - of_class

    def dividing(self, seed: int) -> tuple[Hashes, Hashes | None]:
        """Return the hashes of first copies by which copies are held out, and the steps to the next copy.

        Copies that are not observations of their own share a hash, so all of them are held out or none.
        """
        hashes, independent = self.first(seed), self.independent(seed)
        if independent.all():
            return hashes, None
        numbers = self._numbered(seed).numbers
        if numbers is not None:
            shared: Hashes = self._of_class(np.where(independent, np.uint64(0), STEP))
            hashes = hashes - numbers.astype(np.uint64) * shared
        return hashes, self._of_class(np.where(independent, STEP, np.uint64(0)))

    def exist(self, seed: int) -> bool:
        """Return whether any row has copies."""
        if self._numbered(seed).numbers is not None:
            return True
        return self._multiplicity is not None and bool((self._multiplicity > 1).any())

    def independent(self, seed: int) -> NDArray[np.bool_]:
        """Return whether copies are observations of their own, per class; on the host."""
        known = self._numbered(seed)
        if known.independent is not None:
            return known.independent
        independent = np.ones(self._n_classes, dtype=bool)
        if self.exist(seed):
            labels = self._of_class(np.arange(self._n_classes))
            rows = self.of_features(seed), labels, self._multiplicity, self._n_classes
            counts = count_rows(self._class_offsets, self._multiplicity, self._storage)
            independent = agreement(*rows, self._storage).independent(counts)
        self._numbering = known._replace(independent=independent)
        return independent

    def _numbered(self, seed: int) -> Numbering:
        """Return what is known of the copies; number them if nothing is."""
        if self._numbering is None:
            self.first(seed)
        assert self._numbering is not None
        return self._numbering

    def _of_class(self, values: NDArray[Any]) -> Any:
        """Return the value of each row's class, where the rows are stored."""
        counts = np.diff(self._class_offsets).tolist()
        return self._storage.xp.repeat(self._storage.put(values), counts)
