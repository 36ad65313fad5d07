"""Where bins end when there are more values than bins, against a search by force."""

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st

from marginboost.data.binning import bin_matrix


def bin_loads(binned, multiplicity=None):
    return np.bincount(binned.bins[0], weights=multiplicity, minlength=binned.n_bins[0])


def smallest_largest_load(counts, n_bins):
    """Load of the largest bin of two or more values, minimised over all ways to cut, by force."""
    n = len(counts)
    total = np.concatenate([[0], np.cumsum(counts)])
    best = np.full((n_bins + 1, n + 1), np.inf)
    best[0, 0] = 0
    for b in range(1, n_bins + 1):
        for end in range(1, n + 1):
            for begin in range(end):
                load = total[end] - total[begin] if end - begin > 1 else 0
                best[b, end] = min(best[b, end], max(best[b - 1, begin], load))
    return best[1:, n].min()


def plain_cuts(counts, n_bins):
    """Cut where the two rules of balanced_cuts say, the slow way."""
    n = len(counts)
    capacity = smallest_largest_load(counts, n_bins)
    cuts = [0]
    for bins_after in range(n_bins - 1, 0, -1):
        begin = cuts[-1]
        light = [c for c in counts[begin:] if c <= capacity]
        light_bins = bins_after + 1 - (n - begin - len(light))
        allowed = [
            cut
            for cut in range(begin + 1, n - bins_after + 1)
            if (cut == begin + 1 or sum(counts[begin:cut]) <= capacity)
            and smallest_largest_load(counts[cut:], bins_after) <= capacity
        ]
        cuts.append(
            min(allowed, key=lambda cut: abs(sum(counts[begin:cut]) * light_bins - sum(light)))
        )
    return cuts[1:]


COUNTS = st.one_of(
    st.lists(st.integers(1, 30), min_size=3, max_size=10),
    st.lists(st.sampled_from([1, 2, 3, 20, 21, 500]), min_size=3, max_size=10),
)


@settings(deadline=None, max_examples=300)
@given(COUNTS, st.data())
@example([1, 1, 1, 1], None)  # a tie: two and two
def test_cuts_follow_their_two_rules(counts, data):
    n_bins = 2 if data is None else data.draw(st.integers(2, len(counts) - 1))
    values = np.arange(len(counts)) * 1.5
    binned = bin_matrix(
        values[:, None], order=range(len(values)), max_bins=n_bins, multiplicity=counts
    )
    assert binned.n_bins.tolist() == [n_bins]
    n_values = bin_loads(binned)
    loads = bin_loads(binned, multiplicity=counts)
    assert loads[n_values > 1].max() == smallest_largest_load(counts, n_bins)
    assert np.cumsum(n_values)[:-1].tolist() == plain_cuts(counts, n_bins)


def test_all_bins_are_used():
    # Equal shares alone would join the second 1 to a 100 as well, and leave a bin empty.
    values = np.arange(5.0)[:, None]
    binned = bin_matrix(values, order=range(5), max_bins=4, multiplicity=[1, 100, 1, 100, 100])
    assert binned.bins.tolist() == [[0, 0, 1, 2, 3]]


@settings(deadline=None)
@given(st.integers(3, 400), st.data())
def test_distinct_values_are_shared_out_evenly(n, data):
    max_bins = data.draw(st.integers(2, n - 1))
    values = np.random.default_rng(n).standard_normal((n, 1))
    loads = bin_loads(bin_matrix(values, order=np.arange(n), max_bins=max_bins))
    assert len(loads) == max_bins
    assert loads.max() - loads.min() <= 1


def test_a_frequent_value_does_not_cost_the_others_their_bins():
    rng = np.random.default_rng(0)
    column = np.concatenate([np.zeros(9000), rng.exponential(size=1000), [-1.0]])
    loads = bin_loads(bin_matrix(column[:, None], order=range(len(column)), max_bins=102))
    assert sorted(loads)[-1] == 9000
    assert sorted(loads)[-2] == 10
    assert sorted(loads)[:2] == [1, 10]


def test_multiplicity_moves_the_cuts():
    X = np.arange(8.0)[:, None]
    plain = bin_matrix(X, order=range(8), max_bins=2)
    heavy = bin_matrix(X, order=range(8), max_bins=2, multiplicity=[5, 1, 1, 1, 1, 1, 1, 1])
    assert plain.thresholds[0].tolist() == [3.5]
    assert heavy.thresholds[0].tolist() == [1.5]  # 6 and 6
    reordered = bin_matrix(
        X, order=[7, 6, 5, 4, 3, 2, 1, 0], max_bins=2, multiplicity=[5, 1, 1, 1, 1, 1, 1, 1]
    )
    assert reordered.thresholds[0].tolist() == [5.5]  # multiplicity goes with order, not with X
