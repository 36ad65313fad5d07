"""How long a call takes."""

from __future__ import annotations

from collections.abc import Callable
from statistics import median
from time import perf_counter, process_time

# A median of fewer calls than this says little; so many are made however long they take.
_LEAST = 5


def median_seconds(action: Callable[[int], object], *, calls: int, at_most: float = 3.0) -> float:
    """Return the median time of a call.

    Parameters
    ----------
    action : callable
        Gets the number of the call, from 0. It is called once more before, with 0: a rehearsal.
        A call should take more than some ten microseconds, or reading the clock counts.
    calls : int
        How many are timed.
    at_most : float, default=3.0
        Seconds after which no more are made, if there have been five.

    Returns
    -------
    float
        Seconds of processor time: while others have the processor the clock stands still. So this is
        for what runs on one thread, and does not wait.
    """
    action(0)
    taken: list[float] = []
    began = perf_counter()
    for number in range(calls):
        start = process_time()
        action(number)
        taken.append(process_time() - start)
        if perf_counter() - began > at_most and len(taken) >= _LEAST:
            break
    return median(taken)
