"""Patches of one image: where they lie, and their histograms in a form made for lookups."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["N_CODES", "Patches", "join_patches"]

# A bin that is not empty is one code: 256 * bin + count - 1. Counts go up to 256.
N_CODES = 256 * 256


@dataclass(frozen=True, slots=True, eq=False)
class Patches:
    """Histograms of patches, with 256 bins and counts of at most 256 each.

    Most bins of a small patch are empty. Those that are not are kept as one 16-bit code each,
    and the code is the row of a table that a lookup needs.

    Attributes
    ----------
    codes : uint16 array
        256 * bin + count - 1 of each bin that is not empty, patch by patch.
    offsets : int64 array of n_patches + 1
        Where the codes of each patch begin, and where the last ends.
    level : uint8 array of n_patches
        The level of the spatial hierarchy of the patch.
    row, column : float32 arrays of n_patches
        The centre, as a share of the height and of the width.
    """

    codes: NDArray[np.uint16]
    offsets: NDArray[np.int64]
    level: NDArray[np.uint8]
    row: NDArray[np.float32]
    column: NDArray[np.float32]

    def __len__(self) -> int:
        """Return the number of patches."""
        return len(self.offsets) - 1

    def histograms(self) -> NDArray[np.uint16]:
        """Return the histograms, one per row, with all their bins."""
        dense = np.zeros((len(self), 256), dtype=np.uint16)
        patch = np.repeat(np.arange(len(self)), np.diff(self.offsets))
        dense[patch, self.codes >> 8] = (self.codes & 255) + np.uint16(1)
        return dense

    def take(self, chosen: NDArray[np.int64]) -> Patches:
        """Return the patches of these numbers, in this order."""
        lengths = np.diff(self.offsets)[chosen]
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        # The k-th code of a chosen patch lies k after the place where its codes begin.
        shift = np.repeat(self.offsets[chosen] - offsets[:-1], lengths)
        codes = self.codes[np.arange(offsets[-1]) + shift]
        return Patches(codes, offsets, self.level[chosen], self.row[chosen], self.column[chosen])


def join_patches(parts: Sequence[Patches]) -> Patches:
    """Return all patches of several images, or levels, one after the other."""
    starts = np.cumsum([0, *(len(part.codes) for part in parts)])
    offsets = [part.offsets[:-1] + start for part, start in zip(parts, starts[:-1], strict=True)]
    return Patches(
        np.concatenate([part.codes for part in parts]),
        np.concatenate([*offsets, starts[-1:]]),
        np.concatenate([part.level for part in parts]),
        np.concatenate([part.row for part in parts]),
        np.concatenate([part.column for part in parts]),
    )
