"""The summary of the records: means over splits, ranks, ratios and growth factors.

A library whose fit exceeded the limit or failed has an infinite error and log loss, so that it
ranks last. If it was stopped at the limit, its time counts as the limit, which is in its favour; if
it failed, it has none.
"""

import math
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

import numpy as np
import plan
from libraries import FIXED, LIBRARIES, OURS, PEERS
from records import Records
from scipy.stats import rankdata
from sets import BUNDLED, SETS

METRICS = (
    "error",
    "log_loss",
    "fit_seconds",
    "batch_microseconds",
    "row_microseconds",
    "peak_bytes",
    "model_bytes",
)
COMPARED = ("error", "log_loss")  # infinite if there is none


@dataclass(frozen=True)
class Cell:
    """A library on a set: means over the splits."""

    status: str
    limit: float | None
    means: dict[str, float]

    @classmethod
    def of(cls, found: list[dict]) -> "Cell":
        bad = next((one for one in found if one["status"] in ("limit", "failed")), None)
        means = {}
        for metric in METRICS:
            values = [one.get(metric) for one in found]
            if None not in values and not (metric == "fit_seconds" and bad):
                means[metric] = fmean(values)
        if bad is None:
            return cls("ok", None, means)
        return cls(bad["status"], bad.get("limit"), means)

    def value(self, metric: str) -> float:
        """Return the mean, or its replacement."""
        if metric == "fit_seconds" and self.status == "limit":
            return self.limit
        return self.means.get(metric, math.inf if metric in COMPARED else math.nan)


@dataclass(frozen=True)
class Point:
    """A library at one place of an axis."""

    at: int
    seconds: float  # the limit if it was stopped, nan if it failed
    cut: bool
    peak_bytes: float


class Summary:
    """The summary of a folder of records."""

    def __init__(self, out: Path) -> None:
        records = Records(out)
        self.records = list(records.of("sets"))
        self.axes = {axis: list(records.of(f"growth/{axis}")) for axis in plan.AXES}
        together = defaultdict(list)
        for record in self.records:
            request = record["request"]
            together[request["set"], request["library"]].append(record["found"])
        self.cells = {key: Cell.of(found) for key, found in together.items()}
        self.splits = {key: len(found) for key, found in together.items()}
        here = {library for _, library in self.cells}
        here |= {r["request"]["library"] for points in self.axes.values() for r in points}
        self.libraries = [name for name in LIBRARIES if name in here]
        self.peers = [name for name in self.libraries if name in PEERS]
        self.sets = [s for s in (*SETS, *BUNDLED) if any(s == name for name, _ in self.cells)]
        self.complete = [s for s in self.sets if all((s, x) in self.cells for x in self.libraries)]

    def value(self, name: str, library: str, metric: str) -> float:
        cell = self.cells.get((name, library))
        return math.nan if cell is None else cell.value(metric)

    def _own(self, ours: str, name: str, metric: str) -> float:
        """Return our value without any replacement, so that a claim fails if it is missing."""
        cell = self.cells.get((name, ours))
        return math.nan if cell is None or cell.status != "ok" else cell.value(metric)

    def is_cut(self, name: str, library: str) -> bool:
        cell = self.cells.get((name, library))
        return cell is not None and cell.status == "limit"

    def best_peer(self, name: str, metric: str) -> float:
        """Return the lowest value of any peer."""
        values = [self.value(name, peer, metric) for peer in self.peers]
        return min((v for v in values if not math.isnan(v)), default=math.nan)

    def mean_ranks(self, metric: str) -> dict[str, float]:
        """Return the mean rank of each library over the sets that all have; 1 is best.

        Peers are ranked beside ours with its defaults. Ours with a fixed number of rounds has the rank
        that it would have in the place of these, so that nobody loses a place to both.
        """
        ranks: dict[str, float] = {}
        for ours in (FIXED, OURS):
            ranked = [name for name in (ours, *self.peers) if name in self.libraries]
            places = [
                rankdata([self.value(name, library, metric) for library in ranked])
                for name in self.complete
            ]
            means = np.mean(places, axis=0) if places else np.full(len(ranked), math.nan)
            ranks |= dict(zip(ranked, map(float, means), strict=True))
        return ranks

    def share_no_higher(self, metric: str) -> float:
        """Return the share of the sets where ours is no higher than that of any peer."""
        if OURS not in self.libraries or not self.peers or not self.complete:
            return math.nan
        won = [
            self._own(OURS, name, metric) <= self.best_peer(name, metric) + 1e-12
            for name in self.complete
        ]
        return fmean(won)

    def ratios(self, library: str, metric: str, ours: str) -> dict[str, float]:
        """Return a library's value over one of ours, by set, if both have one."""
        found = {}
        for name in self.sets:
            ratio = self.value(name, library, metric) / self._own(ours, name, metric)
            if math.isfinite(ratio):
                found[name] = ratio
        return found

    def ratios_to_best(self, metric: str, ours: str) -> dict[str, float]:
        """Return the lowest value of any peer over one of ours, by set."""
        found = {
            name: self.best_peer(name, metric) / self._own(ours, name, metric) for name in self.sets
        }
        return {name: ratio for name, ratio in found.items() if math.isfinite(ratio)}

    def curve(self, axis: str, library: str) -> list[Point]:
        """Return a library's points along an axis, in order."""
        points = []
        for record in self.axes[axis]:
            request, found = record["request"], record["found"]
            if request["library"] != library:
                continue
            cut = found["status"] == "limit"
            seconds = found["limit"] if cut else found.get("fit_seconds", math.nan)
            peak = found.get("peak_bytes", math.nan)
            points.append(Point(request[axis], seconds, cut, peak))
        return sorted(points, key=lambda point: point.at)

    def growth(self, axis: str, library: str) -> tuple[float, bool]:
        """Return last time over first along an axis, and whether that is only a lower bound."""
        points = self.curve(axis, library)
        if len(points) < 2 or points[0].cut:
            return math.nan, False
        return points[-1].seconds / points[0].seconds, points[-1].cut


def geometric_mean(values) -> float:
    values = list(values)
    return float(np.exp(np.mean(np.log(values)))) if values else math.nan
