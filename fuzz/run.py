"""Load many corrupted model files: each must be rejected with one sentence, or be a valid model.

Start it with `make fuzz`, which builds the compiled module with the address and undefined-behaviour
sanitizers. A file whose checksum was not repaired must be rejected, or be the same model (a changed
space changes nothing). A file whose checksum was repaired must be rejected, or predict without a fault.
Anything else ends the run: another exception, a crash, a hang, a wrong model, or memory without limit.
"""

import argparse
import json
import multiprocessing
import os
import resource
import signal
import sys
import time
import traceback
import warnings
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from fuzz.judge import CORPUS, corrupt, outcome

HANG = 20  # seconds
MOST_MEMORY = 1 << 30  # bytes more than at the start


def work(task: tuple[int, int]) -> tuple[Counter[tuple[str, str]], list[str], int, float]:
    """Load the files of some numbers."""
    warnings.simplefilter("ignore")  # scores of a valid but absurd model overflow
    files = [path.read_bytes() for path in sorted(CORPUS.glob("*.safetensors"))]
    found: Counter[tuple[str, str]] = Counter()
    faults = []
    longest = 0.0
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    def hang(*_: Any) -> None:
        raise TimeoutError(f"a load took more than {HANG} seconds")

    signal.signal(signal.SIGALRM, hang)
    for number in range(*task):
        kind = "?"
        try:
            kind, original, corrupted, repaired = corrupt(number, files)
            signal.alarm(HANG)
            start = time.process_time()
            found[kind, outcome(original, corrupted, repaired=repaired)] += 1
            longest = max(longest, time.process_time() - start)
        except Exception:
            faults.append(f"number {number}, {kind}: {traceback.format_exc()[-2000:]}")
        finally:
            signal.alarm(0)
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
    if grown > MOST_MEMORY:
        faults.append(f"memory grew by {grown:,} bytes")
    return found, faults, grown, longest


def main() -> int:
    """Run all, and print the counts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=100_000, help="how many files to load")
    parser.add_argument(
        "--first", type=int, default=0, help="the first one's number: it is the seed"
    )
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--summary", type=Path, help="file for the counts, as JSON")
    settings = parser.parse_args()
    start = time.perf_counter()
    last = settings.first + settings.files
    tasks = [(first, min(first + 1000, last)) for first in range(settings.first, last, 1000)]
    found: Counter[tuple[str, str]] = Counter()
    faults: list[str] = []
    grown, longest = 0, 0.0
    # With this kind of pool, a process that crashes ends the run.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(settings.processes, mp_context=context) as pool:
        for counts, some, memory, seconds in pool.map(work, tasks):
            found += counts
            faults += some
            grown, longest = max(grown, memory), max(longest, seconds)
    summary = {
        "sanitized": "libasan" in os.environ.get("LD_PRELOAD", ""),
        "files": settings.files,
        "seconds": round(time.perf_counter() - start, 1),
        "longest_cpu_seconds": round(longest, 4),
        "largest_memory_growth": grown,
        "faults": len(faults),
        "outcomes": dict(sum_by(found, 1)),
        "by_mutation": {
            kind: dict(sum_by(Counter({k: n for k, n in found.items() if k[0] == kind}), 1))
            for kind in sorted({kind for kind, _ in found})
        },
    }
    print(json.dumps(summary, indent=2))
    print(*faults[:10], sep="\n", file=sys.stderr)
    if settings.summary is not None:
        settings.summary.write_text(json.dumps(summary, indent=2) + "\n")
    return 1 if faults or sum(found.values()) != settings.files else 0


def sum_by(found: Counter[tuple[str, str]], place: int) -> Counter[str]:
    """Add up counts by one part of their key."""
    sums: Counter[str] = Counter()
    for key, count in found.items():
        sums[key[place]] += count
    return sums


if __name__ == "__main__":
    sys.exit(main())
