"""The comparison: what the results say about one library of ours and the peers, on some sets."""

import base64
import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from benchmarks.unfamiliar import statistic
from benchmarks.unfamiliar.statistic import Interval

METRICS = {"error": "error", "log_loss": "log loss"}
MARGIN, ERRORS = 0.10, 2.0  # worse by more than both: a defeat
TIED = 1e-12  # values so near are equal


@dataclass(frozen=True)
class Cell:
    """A library on a set: all folds together. Infinite if a fold failed or was too slow."""

    error: float  # (wrong + 1/2) / (rows + 1), so that none is zero
    log_loss: float  # (sum + 1/2) / (rows + 1)
    wrong: np.ndarray
    fold_losses: np.ndarray

    @classmethod
    def of(cls, record: dict) -> "Cell":
        folds = record["folds"]
        if any(fold["status"] != "ok" for fold in folds):
            return cls(math.inf, math.inf, np.empty(0, bool), np.empty(0))
        rows = np.array([fold["rows"] for fold in folds])
        losses = np.array([fold["log_loss"] for fold in folds])
        wrong = np.concatenate([_bits(fold) for fold in folds])
        error = (wrong.sum() + 0.5) / (len(wrong) + 1)
        loss = ((rows * losses).sum() + 0.5) / (rows.sum() + 1)
        return cls(float(error), float(loss), wrong, losses)


def _bits(fold):
    raw = np.frombuffer(base64.b64decode(fold["wrong"]), np.uint8)
    return np.unpackbits(raw, count=fold["rows"]).astype(bool)


@dataclass(frozen=True)
class Worst:
    """The set on which ours is behind its best peer by the largest share."""

    name: str
    share: float
    standard_errors: float


class Comparison:
    """One library of ours against peers on the sets that all have."""

    def __init__(self, files: dict[str, dict], ours: str, peers: list[str], names: list[str]):
        self.ours, self.peers = ours, peers
        self.libraries = [ours, *peers]
        lacking = [library for library in self.libraries if library not in files]
        if lacking:
            raise ValueError(f"There must be results of {', '.join(lacking)}; found none.")
        records = {library: files[library]["sets"] for library in self.libraries}
        self.sets = [n for n in names if all(n in found for found in records.values())]
        for name in self.sets:
            digests = {found[name]["data"] for found in records.values() if "data" in found[name]}
            if len(digests) > 1:
                raise ValueError(f"All libraries must have had the same rows of {name}.")
        self.cells = {(n, x): Cell.of(records[x][n]) for n in self.sets for x in self.libraries}

    def values(self, metric: str) -> np.ndarray:
        """Return a matrix, sets by libraries, ours first."""
        table = [
            [getattr(self.cells[name, library], metric) for library in self.libraries]
            for name in self.sets
        ]
        return np.array(table).reshape(len(self.sets), len(self.libraries))

    def mean_ranks(self, metric: str) -> dict[str, Interval]:
        placed = statistic.ranks(self.values(metric))
        return {
            library: statistic.mean_interval(placed[:, j])
            for j, library in enumerate(self.libraries)
        }

    def friedman(self, metric: str) -> tuple[float, float]:
        return statistic.friedman(self.values(metric))

    def critical_difference(self) -> float:
        return statistic.critical_difference(len(self.libraries), len(self.sets))

    def ratios(self, metric: str) -> dict[str, Interval]:
        """Return ours over each peer, geometric mean over the sets that both finished."""
        values = self.values(metric)
        found = {}
        for j, peer in enumerate(self.peers, start=1):
            both = np.isfinite(values[:, 0]) & np.isfinite(values[:, j])
            found[peer] = statistic.ratio_interval(values[both, 0] / values[both, j])
        return found

    def without_largest_gain(self, metric: str, peer: str) -> tuple[str, float]:
        """Return the set on which ours gains most on a peer, and the ratio over all others."""
        ours, theirs = self.values(metric)[:, [0, 1 + self.peers.index(peer)]].T
        both = np.flatnonzero(np.isfinite(ours) & np.isfinite(theirs))
        logs = np.log(ours[both] / theirs[both])
        most = int(logs.argmin())
        rest = np.delete(logs, most)
        return self.sets[both[most]], float(np.exp(rest.mean())) if len(rest) else math.nan

    def p_values(self, metric: str) -> dict[str, float]:
        """Return Wilcoxon's p-values against each peer, adjusted by Holm."""
        values = self.values(metric)
        found = [
            statistic.wilcoxon(values[:, 0], values[:, j]) for j in range(1, len(self.libraries))
        ]
        return dict(zip(self.peers, statistic.holm(found), strict=True))

    def to_best(self, metric: str) -> np.ndarray:
        """Return ours over the lowest of all peers, by set."""
        values = self.values(metric)
        return values[:, 0] / values[:, 1:].min(axis=1)

    def share_no_worse(self, metric: str) -> float:
        """Return the share of the sets where no peer is lower."""
        return float(np.mean(self.to_best(metric) <= 1 + TIED)) if self.sets else math.nan

    def shares_no_worse(self, metric: str) -> dict[str, float]:
        """Return for each peer the share of the sets where it is not lower."""
        values = self.values(metric)
        found = np.mean(values[:, :1] <= values[:, 1:] * (1 + TIED), axis=0)
        return dict(zip(self.peers, found.tolist(), strict=True))

    @cached_property
    def _behind(self) -> dict[str, list[Worst]]:
        found: dict[str, list[Worst]] = {metric: [] for metric in METRICS}
        for metric, worst in found.items():
            values = self.values(metric)
            for i, name in enumerate(self.sets):
                best = self.peers[int(values[i, 1:].argmin())]
                ours, other = self.cells[name, self.ours], self.cells[name, best]
                gap = getattr(ours, metric) - getattr(other, metric)
                share = gap / getattr(other, metric)
                worst.append(Worst(name, share, _in_errors(metric, gap, ours, other)))
        return found

    def worst(self, metric: str) -> Worst:
        """Return the largest share behind the best peer of a set, if beyond the errors at all."""
        behind = self._behind[metric]
        beyond = [one for one in behind if one.standard_errors > ERRORS]
        return max(beyond or behind, key=lambda one: one.share)

    def defeats(self, metric: str) -> list[Worst]:
        """Return the sets where ours is behind by more than the margin and two standard errors."""
        return [
            one
            for one in self._behind[metric]
            if one.share > MARGIN and one.standard_errors > ERRORS
        ]


def _in_errors(metric, gap, ours, other):
    """Return a gap in standard errors of the difference."""
    if not math.isfinite(gap):
        return math.inf
    if metric == "error":
        scale = statistic.paired_error(ours.wrong, other.wrong)
    else:
        scale = statistic.fold_error(ours.fold_losses, other.fold_losses)
    if scale > 0:
        return gap / scale
    return math.copysign(math.inf, gap) if gap else 0.0
