"""Fits that decide for themselves: on a GPU, and on that host's cores by number of threads.

    python benchmarks/gpu/deciding.py OUT.json [--threads 1 2 4 8 16] [--sets SET ...] [--commit HASH]

The first split of sets of benchmarks/peers: the faster of two fits. All models of a set must be equal,
bit for bit. MARGINBOOST_DATA names the folder of the sets. About a minute on 16 cores.
"""

import argparse
import json
import os
import sys
from hashlib import sha256
from pathlib import Path
from time import perf_counter

sys.path.append(str(Path(__file__).parents[1]))  # for the modules that all benchmarks share
sys.path.append(str(Path(__file__).parents[1] / "peers"))
import sets
from report import machine
from source_commit import source_commit

from marginboost import MarginBoostClassifier
from marginboost.engine.gpu.device import cuda_device

SETS = ("vehicle", "vowel", "dna", "satimage", "pendigits", "letter", "covtype")
FITS = 2


def measure(problem, **settings) -> tuple[float, str]:
    """Return seconds, and a digest of the probabilities of the test rows."""
    seconds = []
    for _ in range(FITS):
        start = perf_counter()
        model = MarginBoostClassifier(random_state=0, **settings).fit(problem.X, problem.y)
        seconds.append(perf_counter() - start)
    shares = model.set_params(device="cpu").predict_proba(problem.X_test)
    return round(min(seconds), 4), sha256(shares.tobytes()).hexdigest()[:16]


def has_gpu() -> bool:
    try:
        cuda_device()
    except (ImportError, RuntimeError) as missing:
        print(missing)
        return False
    return True


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2, 4, 8, 16])
    parser.add_argument("--sets", nargs="+", default=SETS)
    parser.add_argument("--commit", default="", help="of the package, where there is no checkout")
    options = parser.parse_args()
    head = {"machine": machine() | {"commit": source_commit(options.commit)}}
    head["cpus"] = len(os.sched_getaffinity(0))
    found: dict[str, dict] = {}
    differ = []
    ways = {f"{threads} threads": {"n_jobs": threads} for threads in options.threads}
    if has_gpu():
        ways["gpu"] = {"device": "cuda"}
    for name in options.sets:
        problem = sets.load(name, 0)
        measured = {way: measure(problem, **settings) for way, settings in ways.items()}
        found[name] = {way: seconds for way, (seconds, _) in measured.items()}
        if len({digest for _, digest in measured.values()}) > 1:
            differ.append(name)
        print(name, found[name], flush=True)
        options.out.parent.mkdir(parents=True, exist_ok=True)
        options.out.write_text(json.dumps({**head, "seconds": found, "differ": differ}, indent=1))
    print("models differ on", differ or "no set")
    return len(differ)


if __name__ == "__main__":
    sys.exit(main())
