"""How long a round would take on larger clusters: a simulation with measured costs.

Every message costs its sender and its receiver time, one after the other; workers differ in speed;
a search is over when its last answer is in. Stumps, two round trips per round: (advance, search),
(place, sum). Histograms are int64, as this many rows would need: twice the bytes, and twice the
time to add.
"""

from dataclasses import dataclass

import numpy as np

ROUNDS = 20  # simulated rounds; the result is their mean


@dataclass(frozen=True)
class Costs:
    """Seconds; of one thread and of one message.

    Attributes
    ----------
    add : float
        To add a row's direction to a feature's histogram.
    move : float
        To advance and sum one row and class.
    client_message : float
        Client time for a message to a worker and its answer.
    worker_message : float
        Worker time for sending a slice, and the same for receiving one.
    latency : float
        Delay of a message.
    bytes_per_second : float
        Speed of a worker's network.
    jitter : float
        Spread of the workers' speeds: the standard deviation of its logarithm.
    """

    add: float
    move: float
    client_message: float
    worker_message: float
    latency: float
    bytes_per_second: float = 1.25e9
    jitter: float = 0.05


@dataclass(frozen=True)
class Problem:
    """The shape of the data: rows, features, bins of each, classes."""

    rows: float
    features: int
    bins: int
    classes: int

    @property
    def histogram_bytes(self) -> float:
        return 8.0 * self.features * self.bins * self.classes


def round_seconds(costs, problem, workers, threads=1, *, levels=1, seed=0) -> dict:
    """Simulate rounds; return the time of a round and its parts, in seconds.

    `levels`: 1 is the current design, where every worker exchanges with every owner and the client
    with every worker; 2 has groups of about the square root of the workers: first within the group,
    then across, and messages of the client go through one worker per group.
    """
    rng = np.random.default_rng(seed)
    parts = np.array([
        _round(costs, problem, workers, threads, levels, rng) for _ in range(ROUNDS)
    ]).mean(axis=0)  # fmt: skip
    return dict(zip(("rows", "exchange", "client"), parts.tolist(), strict=True))


def _round(costs, problem, workers, threads, levels, rng):
    rows = problem.rows / workers / threads
    speed = np.exp(costs.jitter * rng.standard_normal((2, workers)))
    search = rows * (problem.features * 2 * costs.add + problem.classes * costs.move) * speed[0]
    sums = rows * problem.classes * costs.move * speed[1]
    spread = _spread(costs, workers, levels)
    done = spread + search
    merged = _exchange(costs, problem, done, levels)
    first = _gather(costs, merged, levels)
    second = _gather(costs, spread + sums, levels)
    computing = search.mean() + sums.mean()
    exchanging = merged.max() - done.mean()
    return computing, exchanging, first + second - computing - exchanging


def _spread(costs, workers, levels):
    """Return when each worker has the client's message."""
    if levels == 1 or workers < 4:
        return costs.latency + costs.client_message / 2 * np.arange(1, workers + 1)
    groups = _groups(workers)
    at = np.arange(workers)
    relay = costs.client_message / 2 * (1 + at % groups)
    return 2 * costs.latency + relay + costs.worker_message * (1 + at // groups)


def _gather(costs, ready, levels) -> float:
    """Return when the client has all answers."""
    if levels == 1 or len(ready) < 4:
        return costs.latency + _queue(ready, costs.client_message / 2)
    groups = _groups(len(ready))
    at = np.arange(len(ready)) % groups
    relayed = np.array([_queue(ready[at == g], costs.worker_message) for g in range(groups)])
    return 2 * costs.latency + _queue(relayed, costs.client_message / 2)


def _exchange(costs, problem, done, levels):
    """Return when each owner has added up the slices of all workers."""
    workers = len(done)
    if workers == 1:
        return done
    size = problem.histogram_bytes
    if levels == 1 or workers < 4:
        return _all_to_all(costs, done, size / workers)
    groups = _groups(workers)
    at = np.arange(workers) % groups
    merged = np.empty(workers)
    for g in range(groups):  # everybody gets a slice of the group's sum,
        here = at == g
        merged[here] = _all_to_all(costs, done[here], size / here.sum())
    place = np.arange(workers) // groups
    final = np.empty(workers)
    for p in range(place.max() + 1):  # then those with the same slice cut it up once more
        here = place == p
        final[here] = _all_to_all(costs, merged[here], size / workers)
    return final


def _all_to_all(costs, ready, slice_bytes):
    """Return when each worker has the slices of all others."""
    n = len(ready)
    if n == 1:
        return ready
    each = costs.worker_message + slice_bytes / costs.bytes_per_second
    # Each starts with its next neighbour, so that nobody is first for all.
    turn = (np.arange(n)[None] - np.arange(n)[:, None]) % n
    arrivals = ready[:, None] + turn * each + costs.latency
    np.fill_diagonal(arrivals, ready)
    return np.array([_queue(arrivals[:, owner], each) for owner in range(n)])


def _queue(arrivals, service) -> float:
    """Return when a queue that serves one after the other is done."""
    waiting = len(arrivals) - np.arange(len(arrivals))
    return float(np.max(np.sort(arrivals) + waiting * service))


def _groups(workers) -> int:
    return round(np.sqrt(workers))
