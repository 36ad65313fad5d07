"""The first fit on a GPU in a fresh process: with no compiled kernel on disk, and with all of them.

    python benchmarks/gpu/first_fit.py OUT.json [--rows 464809] [--features 54] [--classes 7]
        [--trees 100] [--host] [--commit HASH]

Each line is a process of its own, whose CuPy keeps its cache in an empty folder, or in the one that the
process before it has filled. Rows have the shape of covtype; with --host they are NumPy's. The seconds
of a process are those of its parts, one after the other: imports, the device's first array, the first fit
and the second. What was compiled is read from CuPy's cache: the kernels of each file, and when it was
written.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from source_commit import source_commit

KERNEL = re.compile(rb"\.text\.(\w+)")  # in the table of a binary's sections


def child(arguments) -> None:
    """Fit twice, and print what took how long."""
    began = time.perf_counter()
    marks = {}

    def mark(name):
        nonlocal began
        marks[name] = time.perf_counter() - began
        began = time.perf_counter()

    import cupy as cp  # noqa: PLC0415 - timed

    mark("import_cupy_s")
    import numpy as np  # noqa: PLC0415

    from marginboost import MarginBoostClassifier  # noqa: PLC0415

    mark("import_marginboost_s")
    rng = np.random.default_rng(0)
    n, d, k = arguments.rows, arguments.features, arguments.classes
    y = rng.integers(0, k, n)
    X = rng.standard_normal((n, d), dtype=np.float32)
    X[:, :10] += rng.standard_normal((k, 10), dtype=np.float32)[y]
    X[:, 10:] = X[:, 10:] > 1
    began = time.perf_counter()
    if not arguments.host:
        X, y = cp.asarray(X), cp.asarray(y)
    cp.zeros(1)
    cp.cuda.Device().synchronize()
    mark("first_array_s")
    for name in ("first_fit_s", "second_fit_s"):
        model = MarginBoostClassifier(
            arguments.trees, random_state=0, calibrate=False, device="cuda"
        )
        model.fit(X, y)
        cp.cuda.Device().synchronize()
        mark(name)
    print(json.dumps(marks))


def compiled_files(folder: Path, began: float) -> list[dict]:
    """List what a process has written to CuPy's cache: when it was done, and which kernels it holds.

    That catches every compilation, whatever asks for it. A file is written when its kernels are
    compiled: the seconds since the file before it are how long that took at most, if nothing else was
    compiled meanwhile.
    """
    written = [
        (path.stat().st_mtime, path)
        for path in folder.rglob("*")
        if path.is_file() and not path.name.startswith("marginboost_")
    ]
    found, last = [], began
    for at, path in sorted(written):
        if at < began:  # by an earlier process
            continue
        content = path.read_bytes()
        names = sorted({name.decode() for name in KERNEL.findall(content)})
        found.append(
            {
                "kernels": names or [path.name],
                "at_s": at - began,
                "since_last_s": at - last,
                "bytes": len(content),
            }
        )
        last = at
    return found


def measured(arguments, folder) -> dict:
    """Run a process with a folder for compiled kernels."""
    given = [
        f"--{name}={getattr(arguments, name)}" for name in ("rows", "features", "classes", "trees")
    ]
    command = [sys.executable, __file__, "-", "--child", *given, *["--host"] * arguments.host]
    caches = {"CUPY_CACHE_DIR": f"{folder}/cupy", "CUDA_CACHE_PATH": f"{folder}/cuda"}
    started = time.time()
    began = time.perf_counter()
    done = subprocess.run(
        command, env=os.environ | caches, capture_output=True, text=True, check=False
    )
    took = time.perf_counter() - began
    if done.returncode:
        raise SystemExit(done.stderr)
    found = json.loads(done.stdout.splitlines()[-1])
    found["said"] = done.stderr.splitlines()
    found["compiled"] = compiled_files(Path(folder), started)
    return {"process_s": took} | found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--rows", type=int, default=464_809)
    parser.add_argument("--features", type=int, default=54)
    parser.add_argument("--classes", type=int, default=7)
    parser.add_argument("--trees", type=int, default=100)
    parser.add_argument("--host", action="store_true")
    parser.add_argument("--child", action="store_true")
    parser.add_argument("--commit", default="")
    arguments = parser.parse_args()
    if arguments.child:
        child(arguments)
        return
    arguments.commit = source_commit(arguments.commit)
    result = {
        name: value for name, value in vars(arguments).items() if name not in ("out", "child")
    }
    with tempfile.TemporaryDirectory() as folder:
        for cache in ("empty", "warm", "warm again"):
            result[cache] = measured(arguments, folder)
            shown = {name: value for name, value in result[cache].items() if name != "compiled"}
            print(cache, json.dumps(shown), flush=True)
            for one in result[cache]["compiled"]:
                names = " ".join(one["kernels"])
                print(
                    f"    at {one['at_s']:7.3f} s, +{one['since_last_s']:6.3f} s  {names}",
                    flush=True,
                )
            arguments.out.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
