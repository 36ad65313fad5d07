"""Which owner has which features and bins."""

import numpy as np
import pytest

from marginboost.engine.cluster.ranges import balanced_bounds, bin_slices

pytestmark = pytest.mark.filterwarnings("ignore:Sending large graph:UserWarning")


@pytest.mark.parametrize("n_owners", [1, 2, 3, 8])
def test_features_are_shared_by_bins(n_owners):
    n_bins = np.array([255, 2, 2, 2, 255, 100, 2], dtype=np.int32)
    bounds = balanced_bounds(n_bins, n_owners)
    assert len(bounds) == n_owners + 1
    assert bounds == sorted(bounds)
    slices = bin_slices(n_bins, bounds)
    assert [s.start for s in slices[1:]] == [s.stop for s in slices[:-1]]
    assert (slices[0].start, slices[-1].stop) == (0, n_bins.sum())
    share = n_bins.sum() / n_owners
    assert max(s.stop - s.start for s in slices) <= share + n_bins.max()
