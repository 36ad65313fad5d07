"""Recognise text that should have been dates or numbers."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

__all__ = ["DATES", "DECIMAL_COMMAS", "NUMBERS", "looks_like", "reads_as_number"]

DATES = "dates"
DECIMAL_COMMAS = "numbers with decimal commas"
NUMBERS = "numbers"

# Maximum number of values to check, and the share of them that must look alike.
_MOST_SEEN = 1000
_SHARE = 0.95

_YEAR = r"(\d{4}|\d{2})"
_MONTH = r"(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
_CLOCK = r"\d{1,2}:\d{2}(:\d{2}([.,]\d+)?)?( ?[ap]m)?( ?(z|utc|[+-]\d{2}:?\d{2}))?"
_DAYS = (
    r"\d{4}(?P<a>[-/.])(0?[1-9]|1[0-2])(?P=a)(0?[1-9]|[12]\d|3[01])",  # 2026-01-31
    rf"(0?[1-9]|[12]\d|3[01])(?P<b>[-/.])(0?[1-9]|[12]\d|3[01])(?P=b){_YEAR}",  # 31.1.2026, 1/31/26
    rf"\d{{1,2}}\.?[ -]{_MONTH}[ -]{_YEAR}",  # 31 January 2026
    rf"{_MONTH} \d{{1,2}},? \d{{4}}",  # Jan 31, 2026
)
_DATE = re.compile(rf"({'|'.join(_DAYS)})([t ,]+{_CLOCK})?|{_CLOCK}", re.IGNORECASE)
_COMMA = re.compile(r"[+-]?(\d+|\d{1,3}(\.\d{3})+)?,\d+(e[+-]?\d+)?", re.IGNORECASE)
_WHOLE = re.compile(r"[+-]?(\d+|\d{1,3}(\.\d{3})+)")


def looks_like(texts: Sequence[str]) -> str | None:
    """Find out what the values of a column of text look like.

    Parameters
    ----------
    texts : sequence of str
        Its distinct values, or some of them.

    Returns
    -------
    str or None
        `DATES` (including times), `DECIMAL_COMMAS`, `NUMBERS`, or None for ordinary text.
    """
    seen = [text.strip() for text in texts[:: max(1, len(texts) // _MOST_SEEN)]]
    least = max(1.0, _SHARE * len(seen))
    if sum(_DATE.fullmatch(text) is not None for text in seen) >= least:
        return DATES
    if sum(map(reads_as_number, seen)) >= least:
        return NUMBERS
    commas = [_COMMA.fullmatch(text) is not None for text in seen]
    whole = [_WHOLE.fullmatch(text) is not None for text in seen]
    if any(commas) and sum(commas) + sum(whole) >= least:
        return DECIMAL_COMMAS
    return None


def reads_as_number(text: str) -> bool:
    """Check whether text can be read as a finite number, with a decimal point if any."""
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False
