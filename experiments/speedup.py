"""How many times faster than MultiBoost the coefficients are computed: for Tables III and IV."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from experiments.page.section import FAILS, HOLDS, IN_PART, UNTESTED, Verdict
from experiments.trial import Records

# Our methods, and the one to compare with.
OURS = ("exp", "log")
COMPARED = (*OURS, "multiboost")


def speedup(ours: Records, multiboost: Records) -> float | None:
    """Return the ratio of the mean seconds of step 4; None if one was not run."""
    if not len(ours) or not len(multiboost):
        return None
    spent = [np.mean(records.measures("coefficient_seconds")) for records in (ours, multiboost)]
    return float(spent[1] / spent[0])


def two_orders(claim: str, ratios: Sequence[float | None], of: str) -> Verdict:
    """Judge whether all ratios are at least a hundred; `of` says what each is a ratio of."""
    known = [ratio for ratio in ratios if ratio is not None]
    if not known:
        return Verdict(claim, UNTESTED, "MultiBoost was not run.")
    hundred = sum(ratio >= 100 for ratio in known)
    evidence = (
        f"{min(known):.0f} to {max(known):.0f} times faster, the median {np.median(known):.0f}; at "
        f"least a hundred times on {hundred} of {len(known)} {of}."
    )
    if hundred == len(known):
        return Verdict(claim, HOLDS, evidence)
    return Verdict(claim, IN_PART if max(known) >= 10 else FAILS, evidence)
