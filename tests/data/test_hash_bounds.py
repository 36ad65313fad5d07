"""The bound of hashes below which a share of the rows lies."""

import numpy as np
import pytest

from marginboost.data.copies import each_copy
from marginboost.data.hash_bounds import hash_bounds


@pytest.mark.parametrize("share", [0.0, 0.05, 0.2, 0.9])
@pytest.mark.parametrize("n_classes", [3, 40])
def test_bounds_of_rows_that_count_more_than_once(share, n_classes):
    rng = np.random.default_rng(1)
    hashes = rng.integers(2**64, size=90, dtype=np.uint64)
    times = rng.integers(1, 50, 90).astype(np.int32)
    offsets = np.concatenate(([0], np.sort(rng.integers(0, 91, n_classes - 1)), [90]))
    single, labels = zip(
        *[(of_copy, np.searchsorted(offsets, rows, side="right") - 1)
          for rows, of_copy in each_copy(hashes, times)],
        strict=True,
    )  # fmt: skip
    single, labels = np.concatenate(single), np.concatenate(labels)
    all_offsets = np.searchsorted(labels, np.arange(n_classes + 1))
    bounds = hash_bounds(hashes, offsets, times, share)
    np.testing.assert_array_equal(bounds, hash_bounds(single, all_offsets, None, share))
    below = np.bincount(labels[single < bounds[labels]], minlength=n_classes)
    np.testing.assert_array_equal(below, np.floor(share * np.diff(all_offsets)))
