"""How long a call takes."""

from __future__ import annotations

from collections.abc import Callable
from statistics import median
from time import perf_counter, process_time

from threadpoolctl import threadpool_limits

# A median of fewer calls is of little use; this many are made however long they take.
_LEAST = 5


def median_seconds(action: Callable[[int], object], *, calls: int, at_most: float = 3.0) -> float:
    """Return the median time of a call.

    Parameters
    ----------
    action : callable
        Takes the number of the call, from 0. It is first called once with 0 to warm up. A call
        should take more than about ten microseconds; otherwise reading the clock matters.
    calls : int
        How many calls to time.
    at_most : float, default=3.0
        Seconds after which to stop, once there have been five calls.

    Returns
    -------
    float
        Seconds of processor time, which does not pass while other programs have the processor. So
        use it for code that runs on one thread and does not wait.
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


def processor_seconds(action: Callable[[], object], *, calls: int = 3) -> float:
    """Return the median processor time of a longer call that has been made before, on one thread."""
    taken = []
    with threadpool_limits(1):
        for _ in range(calls):
            start = process_time()
            action()
            taken.append(process_time() - start)
    return round(median(taken), 6)
