"""How many times faster than MultiBoost the coefficients are computed, on common draws."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from experiments.page.section import FAILS, HOLDS, IN_PART, UNTESTED, Verdict
from experiments.trial import Records

# Our methods, and the one to compare with.
OURS = ("exp", "log")
COMPARED = (*OURS, "multiboost")


class Speedup(NamedTuple):
    """MultiBoost's seconds over ours, and the number of draws on which both were timed."""

    ratio: float
    n_draws: int


def idle_seconds(records: Records) -> dict[int, float]:
    """Return the seconds of step 4 by draw, where other work of the machine did not enter them."""
    return {
        record.trial.repeat: float(record.measures["coefficient_seconds"])
        for record in records
        if record.idle
    }


def speedup(ours: Records, multiboost: Records) -> Speedup | None:
    """Return the ratio of the mean seconds of step 4 on common draws; None if there are none."""
    spent = idle_seconds(ours), idle_seconds(multiboost)
    common = sorted(spent[0].keys() & spent[1].keys())
    if not common:
        return None
    first, second = (np.mean([seconds[n] for n in common]) for seconds in spent)
    return Speedup(float(second / first), len(common))


def two_orders(claim: str, found: Sequence[Speedup | None], of: str) -> Verdict:
    """Judge whether all ratios are at least a hundred; `of` says what each is a ratio of."""
    known = [each for each in found if each is not None]
    if not known:
        return Verdict(claim, UNTESTED, "MultiBoost was not timed.")
    ratios = [each.ratio for each in known]
    hundred = sum(ratio >= 100 for ratio in ratios)
    fewest, most = min(each.n_draws for each in known), max(each.n_draws for each in known)
    draws = f"{fewest} to {most}" if fewest < most else f"{fewest}"
    draws += " common draw" if most == 1 else " common draws"
    evidence = (
        f"{min(ratios):.0f} to {max(ratios):.0f} times faster, the median {np.median(ratios):.0f}; at "
        f"least a hundred times on {hundred} of {len(ratios)} {of}, each on {draws}."
    )
    if hundred == len(ratios):
        return Verdict(claim, HOLDS, evidence)
    return Verdict(claim, IN_PART if max(ratios) >= 10 else FAILS, evidence)
