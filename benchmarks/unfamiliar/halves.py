"""Leave sets out: choose one of several rules on half of the sets, and report on the other half."""

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.unfamiliar import catalogue, results, statistic
from benchmarks.unfamiliar.comparison import METRICS, Comparison
from benchmarks.unfamiliar.libraries import PEERS

SEED = 0
LEAST_SETS = 4


@dataclass(frozen=True)
class Half:
    """What the rule chosen on one half gives on the other."""

    rule: str
    chosen_on: list[str]
    comparison: Comparison


def cross(
    out: Path,
    rules: list[str],
    groups: tuple[str, ...],
    times: int,
    peers: list[str] | None = None,
) -> list[Half]:
    """Return the halves over the sets that all rules and peers have."""
    files = results.read_all(out)
    peers = peers or [name for name in PEERS if name in files]
    names = [name for group in groups for name in catalogue.of_group(group)]
    return of_files(files, rules, peers, common(files, rules, peers, names), times)


def common(
    files: dict[str, dict], rules: list[str], peers: list[str], names: list[str]
) -> list[str]:
    """Return the sets that all rules and peers have."""
    for rule in rules:
        names = Comparison(files, rule, peers, names).sets
    return names


def of_files(
    files: dict[str, dict], rules: list[str], peers: list[str], names: list[str], times: int
) -> list[Half]:
    """Return the halves, drawn at random with a fixed seed."""
    if len(names) < LEAST_SETS:
        raise ValueError(
            f"Halves need at least {LEAST_SETS} sets that all have; found {len(names)}."
        )
    rng = np.random.default_rng(SEED)
    found = []
    for _ in range(times):
        drawn = rng.permutation(len(names))
        first = [names[j] for j in np.sort(drawn[: len(names) // 2])]
        second = [names[j] for j in np.sort(drawn[len(names) // 2 :])]
        rule = best(files, rules, peers, first)
        found.append(Half(rule, first, Comparison(files, rule, peers, second)))
    return found


def best(files: dict[str, dict], rules: list[str], peers: list[str], names: list[str]) -> str:
    """Return the rule of the lowest product of geometric means, error times log loss."""

    def score(rule):
        compared = Comparison(files, rule, peers, names)
        return sum(np.log(compared.to_best(metric)).mean() for metric in METRICS)

    return min(rules, key=score)


def text(halves: list[Half]) -> str:
    """Return a summary in words and numbers."""
    chosen = Counter(half.rule for half in halves)
    lines = ["Chosen: " + ", ".join(f"{rule} {n} times" for rule, n in chosen.most_common())]
    for metric, word in METRICS.items():
        first, share, beaten = [], [], []
        ratios: dict[str, list[float]] = {}
        for half in halves:
            compared = half.comparison
            placed = compared.mean_ranks(metric)
            first.append(placed[compared.ours].mean <= min(placed[p].mean for p in compared.peers))
            share.append(compared.share_no_worse(metric))
            beaten.append(len(compared.defeats(metric)))
            for peer, ratio in compared.ratios(metric).items():
                ratios.setdefault(peer, []).append(ratio.mean)
        lowest = [max(values) for values in zip(*ratios.values(), strict=True)]
        lines += [
            f"{word}, on the sets not chosen on:",
            f"  best mean rank in {sum(first)} of {len(halves)}",
            f"  over the lowest peer's, geometric mean: {_spread(lowest)}",
            f"  no worse than the best peer on a share of {_spread(share)}",
            f"  sets lost by more than 10 % and two standard errors: {_spread(beaten)}",
        ]
        lines += [f"  over {peer}: {_spread(values)}" for peer, values in ratios.items()]
    return "\n".join(lines)


def _spread(values):
    low, high = min(values), max(values)
    mean = statistic.mean_interval(np.array(values, float)).mean
    return f"{mean:.3f} ({low:.3f} to {high:.3f})"
