"""Facts of columns, from parts and from the whole."""

import numpy as np
import pytest

from marginboost.data.column_facts import ColumnFacts
from marginboost.data.columns import Columns

NAN = np.nan


def test_facts_of_parts_are_those_of_the_whole():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 300)
    values = np.array([rng.integers(0, 5, 300).astype(float), rng.normal(size=300)]).T
    values[rng.random(values.shape) < 0.1] = NAN
    names = tuple("vwxyz")
    whole = ColumnFacts.of(Columns(values, (names, None)), y, 3)
    parts = []
    for rows in (slice(0, 90), slice(90, 91), slice(91, 300)):
        seen = np.unique(values[rows, 0][~np.isnan(values[rows, 0])]).astype(int)
        own = tuple(names[place] for place in seen[::-1])
        columns = Columns(values[rows], (names, None)).recoded((own, None))
        parts.append(ColumnFacts.of(columns, y[rows], 3))
    joined = ColumnFacts.join(parts)
    assert joined.categories == whole.categories
    np.testing.assert_array_equal(joined.missing, whole.missing)
    np.testing.assert_array_equal(joined.counts[0], whole.counts[0])
    other = ColumnFacts.of(Columns(values[:5], ((1.0, 2.0, 3.0, 4.0, 5.0), None)), y[:5], 3)
    with pytest.raises(ValueError, match="of one kind in all partitions; got categories of type"):
        ColumnFacts.join([whole, other])
