"""The layout of a node's histogram, and of the part that a block holds in shared memory."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["FeatureLayout"]

Int32s = NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class FeatureLayout:
    """The layout of a node's sums: those of all bins, feature by feature, then those of all rows.

    Attributes
    ----------
    features : int32 array
        The features, ascending.
    begins : int32 array of n_features + 1
        First bin of each, and the number of bins.
    offsets : int32 array
        First sum of each; -1 for the unused places of the last word.
    groups : int32 array of n_groups x 4
        Features whose sums a block holds at once: first word, end of words, first sum, and number of
        sums; 0 if they are too many for a block.
    shared : int
        Bytes of shared memory that a block needs.
    node_sums : int
        Number of sums of a node; the last cell holds those of all its rows.
    """

    features: Int32s
    begins: Int32s
    offsets: Int32s
    groups: Int32s
    shared: int
    node_sums: int

    @classmethod
    def of(
        cls, features: Int32s, n_bins: Int32s, cell: int, per_word: int, most_bytes: int
    ) -> FeatureLayout:
        """Lay out features.

        Parameters
        ----------
        features : int32 array
            The features, ascending.
        n_bins : int32 array
            Number of bins of each.
        cell : int
            Number of sums per bin.
        per_word : int
            Number of bins per word.
        most_bytes : int
            Most shared memory of a block.
        """
        begins = np.concatenate(([0], np.cumsum(n_bins, dtype=np.int64)))
        node_sums = (int(begins[-1]) + 1) * cell
        if node_sums >= 2**31:
            raise ValueError(
                "On a GPU a tree's features must have fewer than "
                f"{2**31 // cell:,} bins in all; got {begins[-1]:,}. Lower max_bins or max_features."
            )
        n_words = -(-len(features) // per_word)
        offsets = np.full(n_words * per_word, -1, dtype=np.int32)
        offsets[: len(features)] = begins[:-1] * cell
        ends = begins[np.minimum(np.arange(1, n_words + 1) * per_word, len(features))] * cell
        # In bytes; a block also stores the first sum of each of its features.
        filled = np.concatenate(([0], 4 * ends + 4 * per_word * np.arange(1, n_words + 1)))
        groups, most, word = [], 0, 0
        while word < n_words:
            end = int(np.searchsorted(filled, filled[word] + most_bytes, side="right")) - 1
            first_sum = int(ends[word - 1]) if word else 0
            if end > word:
                groups.append((word, end, first_sum, int(ends[end - 1]) - first_sum))
                most = max(most, int(filled[end] - filled[word]))
            else:  # even one word's sums are too many
                end = word + 1
                groups.append((word, end, first_sum, 0))
                most = max(most, 4 * per_word)
            word = end
        return cls(
            features,
            begins.astype(np.int32),
            offsets,
            np.array(groups, dtype=np.int32).reshape(-1, 4),
            most,
            node_sums,
        )
