"""Orders of categories, learned again from some of the rows."""

import numpy as np
import pandas as pd
import pytest

from marginboost import MarginBoostClassifier
from marginboost.backends.host import Host
from marginboost.data import category_orders
from marginboost.data.column_facts import ColumnFacts
from marginboost.data.columns import Columns
from marginboost.data.row_view import RowView

SEED = 3


def rows_of_towns(n=900, n_towns=30, seed=0):
    """A number, and towns of which each has a usual class."""
    rng = np.random.default_rng(seed)
    town = rng.integers(0, n_towns, n)
    y = np.where(rng.random(n) < 0.6, town % 3, rng.integers(0, 3, n))
    frame = pd.DataFrame({"x": rng.normal(size=n).round(1)})
    frame["town"] = pd.Categorical([f"t{t:02}" for t in town])
    frame.loc[rng.random(n) < 0.05, "town"] = None
    return frame, y


def prepared(frame, y, max_bins=255, weight=None):
    model = MarginBoostClassifier(max_bins=max_bins)
    return Host("native", 1).prepare(model._requirements(None), frame, y, weight)


def view_of(data, share=0.3):
    return RowView(SEED, data.hash_bounds(SEED, share))


@pytest.mark.parametrize("max_bins", [255, 8])
@pytest.mark.parametrize("weighted", [False, True])
def test_orders_are_those_of_the_rows_that_are_seen(monkeypatch, max_bins, weighted):
    frame, y = rows_of_towns()
    weight = np.random.default_rng(1).integers(1, 3, len(y)) if weighted else None
    whole = prepared(frame, y, max_bins, weight)
    view = view_of(whole.rows)
    learned = whole.rows.relearned(view)

    seen = whole.rows.without(view)
    names, codes = whole.encoding.categories[1], seen.categories.codes[0].astype(float)
    matrix = np.column_stack([np.zeros(seen.n_rows), np.where(codes == len(names), np.nan, codes)])
    facts = ColumnFacts.of(Columns(matrix, (None, names)), seen.labels, 3, seen.multiplicity)
    with monkeypatch.context() as patched:
        patched.setattr(category_orders.order_categories, "__defaults__", (4, 1))
        alone = facts.encoding()
    encoding = learned.orders.applied_to(whole.encoding)
    for column in np.flatnonzero(alone.source == 1):
        expected = np.append(alone.positions[column], alone.fill[column])
        places = {name: place for place, name in enumerate(alone.categories[1])}
        of_code = expected[[places.get(name, -1) for name in names] + [-1]]
        np.testing.assert_array_equal(encoding.positions[column], of_code[:-1])
        assert encoding.fill[column] == of_code[-1]
        # Bins are those of the positions, with thresholds that the rows seen have.
        cuts = learned.binned.thresholds[column]
        assert len(cuts) < max_bins
        positions = of_code[learned.categories.codes[0]]
        np.testing.assert_array_equal(learned.binned.bins[column], np.searchsorted(cuts, positions))


def test_labels_of_held_out_rows_do_not_matter():
    """Rows that are held out may have any labels: what is learned stays the same."""
    frame, y = rows_of_towns()
    data = prepared(frame, y).rows
    view = view_of(data)
    counts = data.category_counts(view)
    assert sum(table.sum() for table in counts) == data.without(view).n_rows
    learned = data.relearned(view)
    again = learned.with_orders(data.categories.columns.learn(counts))
    np.testing.assert_array_equal(again.binned.bins, learned.binned.bins)
    assert any((a != b).any() for a, b in zip(learned.binned.bins, data.binned.bins, strict=True))


def test_hashes_and_held_out_rows_stay():
    frame, y = rows_of_towns()
    data = prepared(frame, y).rows
    view = view_of(data)
    learned = data.relearned(view)
    np.testing.assert_array_equal(learned.copies.first(SEED), data.copies.first(SEED))
    np.testing.assert_array_equal(learned.seen(view).held_out_rows, data.seen(view).held_out_rows)
    np.testing.assert_array_equal(learned.without(view).labels, data.without(view).labels)
    np.testing.assert_array_equal(
        learned.without(view).categories.codes, data.without(view).categories.codes
    )


def test_categories_of_one_bin_differ_in_their_hashes():
    """Else the order of the rows would decide which of them is held out."""
    frame, y = rows_of_towns()
    frame["x"] = 0.0
    y = y // 2
    data = prepared(frame, y, max_bins=4).rows
    rows = np.column_stack([data.categories.codes[0], data.labels])
    assert len(np.unique(data.copies.of_content(SEED))) == len(np.unique(rows, axis=0))
    assert len(np.unique(np.column_stack([*data.binned.bins, data.labels]), axis=0)) < len(
        np.unique(rows, axis=0)
    )


def test_frequent_categories_stay_though_few_of_their_rows_are_seen():
    frame, y = rows_of_towns(n_towns=60)
    prep = prepared(frame, y)
    view = view_of(prep.rows, 0.5)
    learned = prep.rows.relearned(view)
    (table,) = prep.rows.category_counts(view)
    few = np.flatnonzero(table[:-1].sum(axis=1) < 10)
    assert len(few) > 20
    positions = learned.orders.positions[0]
    assert len(np.unique(positions[few])) > 10


def test_a_category_of_which_no_row_is_seen_counts_as_missing():
    frame, y = rows_of_towns()
    prep = prepared(frame, y)
    (table,) = prep.rows.category_counts(RowView())
    table = table.copy()
    table[3] = 0
    orders = prep.rows.categories.columns.learn([table])
    for positions in orders.positions:
        assert positions[3] == positions[-1]


def test_numbers_alone_stay_as_they_are():
    frame, y = rows_of_towns()
    data = prepared(frame[["x"]], y).rows
    assert data.categories is None
    assert data.relearned(view_of(data)) is data
