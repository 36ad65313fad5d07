"""Whether copies are observations of their own: what is counted, and the rule."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from marginboost.data.agreement import Agreement, agreement
from marginboost.data.copies import STEP

ROWS = st.tuples(st.integers(0, 5), st.integers(0, 2), st.integers(1, 4))


@given(st.lists(ROWS, max_size=30))
def test_classes_of_equal_features_are_counted(rows):
    rows = sorted(rows, key=lambda row: row[1])
    features, labels, times = np.array(rows, dtype=np.int64).reshape(-1, 3).T
    found = agreement(features.astype(np.uint64) * STEP, labels, times, 3)
    alike = differing = 0
    contents, repeated = [0, 0, 0], [0, 0, 0]
    for feature in set(features.tolist()):
        counts = [times[(features == feature) & (labels == label)].sum() for label in range(3)]
        if sum(counts) > 1:
            alike += sum(counts)
            differing += sum(counts) - max(counts)
        for label, count in enumerate(counts):
            contents[label] += count > 0
            repeated[label] += count > 1
    assert (found.n_alike, found.n_differing) == (alike, differing)
    assert found.n_contents.tolist() == contents
    assert found.n_repeated.tolist() == repeated


def test_without_counts_every_row_counts_once():
    features, labels = np.array([4, 4, 7, 4], dtype=np.uint64), np.array([0, 0, 1, 2])
    found = agreement(features, labels, None, 3)
    assert found.n_alike == 3
    assert found.n_differing == 1
    assert found.n_contents.tolist() == [1, 1, 1]
    assert found.n_repeated.tolist() == [1, 0, 0]


def test_copies_are_independent_where_classes_differ_or_few_rows_have_copies():
    counts, contents = np.array([100.0, 100.0]), np.array([50, 50])

    def independent(n_differing, n_repeated, counts=counts):
        return Agreement(100, n_differing, contents, np.array(n_repeated)).independent(counts)

    assert independent(0, [40, 10]).tolist() == [False, True]
    # A tenth of 50 % differs by chance.
    assert independent(5, [40, 10]).tolist() == [False, True]
    assert independent(6, [40, 10]).all()
    # If .38 have copies, a fiftieth; if .36 have, less.
    assert independent(0, [19, 18]).tolist() == [False, False]
    assert independent(1, [19, 18]).tolist() == [False, True]
    # Where one class is rare, few differ by chance.
    assert not independent(0, [40, 40], np.array([190.0, 10.0])).any()
    assert independent(1, [40, 40], np.array([190.0, 10.0])).all()
    assert not independent(0, [40, 0], np.array([100.0, 0.0]))[0]
    assert Agreement(0, 0, contents, np.array([0, 0])).independent(counts).all()
    both = Agreement(1, 2, contents, contents).plus(Agreement(10, 8, contents, 2 * contents))
    assert both[:2] == (11, 10)
    assert both.n_contents.tolist() == [100, 100]
    assert both.n_repeated.tolist() == [150, 150]
