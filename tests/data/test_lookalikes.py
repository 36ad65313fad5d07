"""Text that should have been dates or numbers."""

import pytest

from marginboost.data.lookalikes import (
    DATES,
    DECIMAL_COMMAS,
    NUMBERS,
    looks_like,
    reads_as_number,
)


@pytest.mark.parametrize(
    "texts",
    [
        ["2026-01-31", "2026-12-01"],
        ["2026/1/3"],
        ["2026-01-31T12:30:00Z", "2026-01-31 12:30:00.123+01:00"],
        ["31.12.2026", "1.2.26"],
        ["12/31/2026", "1/1/2026"],
        ["3 January 2026", "12-Feb-26"],
        ["Jan 31, 2026", "March 1 2026"],
        ["12:30", "9:05 PM"],
    ],
)
def test_dates(texts):
    assert looks_like(texts) == DATES


@pytest.mark.parametrize(
    ("texts", "kind"),
    [
        (["3,14", "-0,5", "7", " 1.234,5 ", ",25", "1,5e3"], DECIMAL_COMMAS),
        (["3.14", "-5", "1e3"], NUMBERS),
        (["7", "12"], NUMBERS),
        (["red", "green"], None),
        (["1,234,567", "2,345,678"], None),
        (["1.2.3", "10.0.1"], None),
        (["99.99.2026"], None),
        (["A17", "B4"], None),
        (["nan", "inf"], None),
        ([], None),
    ],
)
def test_numbers_and_other_text(texts, kind):
    assert looks_like(texts) == kind


def test_a_few_odd_values_change_nothing():
    days = [f"2026-01-{day:02d}" for day in range(1, 31)]
    assert looks_like([*days, "unknown"]) == DATES
    assert looks_like([*days[:9], "unknown"]) is None
    assert looks_like([f"{n},5" for n in range(50_000)]) == DECIMAL_COMMAS


def test_what_reads_as_a_number():
    assert reads_as_number("1.5")
    assert not reads_as_number("1,5")
    assert not reads_as_number("inf")
