"""Layouts of histograms: every sum once, in blocks that have room for it."""

import numpy as np
import pytest

from marginboost.engine.gpu.feature_layout import FeatureLayout


@pytest.mark.parametrize("per_word", [2, 4])
@pytest.mark.parametrize("most_bytes", [100, 1000, 5000, 100_000])
def test_layouts_hold_every_sum_once(per_word, most_bytes):
    rng = np.random.default_rng(per_word)
    for n in (1, 2, 5, 30):
        n_bins = rng.integers(1, 100, n).astype(np.int32)
        layout = FeatureLayout.of(np.arange(n, dtype=np.int32), n_bins, 8, per_word, most_bytes)
        assert layout.node_sums == 8 * n_bins.sum() + 8
        ends = np.append(layout.offsets[:n], layout.node_sums - 8)
        np.testing.assert_array_equal(np.diff(ends), 8 * n_bins)
        assert (layout.offsets[n:] == -1).all()
        word = 0
        for first, end, first_sum, n_sums in layout.groups.tolist():
            assert first == word < end
            assert first_sum == ends[first * per_word]
            size = ends[min(end * per_word, n)] - first_sum
            assert n_sums in (0, size)
            needed = 4 * n_sums + 4 * (end - first) * per_word
            assert needed <= layout.shared
            assert (n_sums > 0) == (4 * size + 4 * (end - first) * per_word <= most_bytes)
            word = end
        assert word * per_word >= n


def test_too_many_bins():
    n_bins = np.full(5000, 65_535, dtype=np.int32)
    with pytest.raises(ValueError, match=r"fewer than 268,435,456 bins in all; got 327,675,000"):
        FeatureLayout.of(np.arange(5000, dtype=np.int32), n_bins, 8, 2, 100_000)
