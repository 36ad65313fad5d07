"""The claims about our library and the others.

A claim with a missing measurement does not hold.
"""

import math

from libraries import FIXED, OURS, PEER_ROUNDS, PEERS
from report import Claim
from sets import SETS
from summary import Summary, geometric_mean


def claims(found: Summary) -> list[Claim]:
    return [_measured(found), *_accuracy(found), *_time(found), *_growth(found), *_memory(found)]


def _measured(found):
    there = (
        [name for name in found.complete if name in SETS] if set(PEERS) <= {*found.peers} else []
    )
    return Claim("sets on which all libraries were measured", len(there), len(SETS), at_least=True)


def _accuracy(found):
    both = []
    for metric, word in (("error", "test error"), ("log_loss", "log loss")):
        ranks = found.mean_ranks(metric)
        best = min((ranks[peer] for peer in found.peers), default=math.nan)
        text = f"mean rank in {word}, with the best peer's as the bound"
        both.append(Claim(text, ranks.get(OURS, math.nan), best))
    share = found.share_no_higher("error")
    text = "share of the sets where the error is no higher than the best peer's"
    return [both[0], Claim(text, share, 2 / 3, at_least=True), both[1]]


def _time(found):
    deciding = found.ratios("lightgbm", "fit_seconds", OURS)
    fits = found.ratios("lightgbm", "fit_seconds", FIXED)
    fastest = found.ratios_to_best("fit_seconds", FIXED)
    batch = found.ratios_to_best("batch_microseconds", FIXED)
    rows = [found.value(name, FIXED, "row_microseconds") for name in found.sets]
    slowest = max(rows) if rows and not any(map(math.isnan, rows)) else math.nan
    return [
        Claim(
            "fit that decides, times as fast as LightGBM, geometric mean",
            _mean(deciding, found),
            4.0,
            at_least=True,
        ),
        Claim(
            f"fit of {PEER_ROUNDS} rounds, times as fast as LightGBM, geometric mean",
            _mean(fits, found),
            5.0,
            at_least=True,
        ),
        Claim(
            f"fit of {PEER_ROUNDS} rounds, times as fast as LightGBM, isolet",
            fits.get("isolet", math.nan),
            10.0,
            at_least=True,
        ),
        Claim(
            f"fit of {PEER_ROUNDS} rounds, times as fast as the fastest peer, on the set that "
            "suits us least",
            _least(fastest, found),
            1.0,
            at_least=True,
        ),
        Claim(
            f"prediction of many rows by {PEER_ROUNDS} rounds, times as fast as the fastest peer, "
            "geometric mean",
            _mean(batch, found),
            5.0,
            at_least=True,
        ),
        Claim(
            f"prediction of one row by {PEER_ROUNDS} rounds from Python, microseconds, slowest set",
            slowest,
            15.0,
        ),
    ]


def _mean(ratios, found):
    """Return the geometric mean, unless a set is missing."""
    return geometric_mean(ratios.values()) if len(ratios) == len(found.sets) else math.nan


def _least(ratios, found):
    """Return the lowest ratio, unless a set is missing."""
    return min(ratios.values()) if len(ratios) == len(found.sets) and ratios else math.nan


def _growth(found):
    ours, only_bound = found.growth("classes", OURS)
    ours = math.nan if only_bound else ours
    peers = [found.growth("classes", peer)[0] for peer in found.peers]
    points = found.curve("classes", OURS)
    ends = f"{points[0].at} to {points[-1].at}" if len(points) > 1 else "10 to 1000"
    text = f"growth of the time to fit from {ends} classes, with the least peer's as the bound"
    least = min((factor for factor in peers if not math.isnan(factor)), default=math.nan)
    return [Claim(text, ours, least)]


def _memory(found):
    return [
        Claim(
            f"peak memory of a fit {words}, LightGBM's over ours, on the set that suits us least",
            _least(found.ratios("lightgbm", "peak_bytes", ours), found),
            1.0,
            at_least=True,
        )
        for ours, words in ((OURS, "that decides"), (FIXED, f"of {PEER_ROUNDS} rounds"))
    ]
