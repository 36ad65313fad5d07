"""A fit of rows in Parquet files: peak memory of the whole process, and seconds per pass.

`python benchmarks/out_of_core.py --rows 50000000` makes the files in a temporary folder, fits them in a
new process, and deletes them. Half of the columns are float64, the others float32, nearly all values
distinct: rows in memory would take 120 bytes each with 20 columns.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter

import numpy as np
from peak import peak
from report import machine

ROWS_A_GROUP = 1_000_000
GROUPS_A_FILE = 5
MOST_BYTES = 8e9


def main() -> int:
    parser = argparse.ArgumentParser(description="Fit rows in files, and measure memory and time.")
    parser.add_argument("--rows", type=int, default=5_000_000)
    parser.add_argument("--columns", type=int, default=20)
    parser.add_argument("--classes", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--calibrate", action="store_true", help="with the second fit")
    parser.add_argument("--folder", type=Path, help="where to make the temporary folder")
    parser.add_argument("--out", type=Path, help="a JSON file to write")
    parser.add_argument("--measure", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure is not None:
        print(json.dumps(_measure(options)))
        return 0
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        began = perf_counter()
        n_bytes = _make_files(Path(folder), options)
        print(f"files: {n_bytes / 1e9:.2f} GB, made in {perf_counter() - began:.0f} s")
        command = [sys.executable, __file__, *sys.argv[1:], "--measure", folder]
        child = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    found = json.loads(child.stdout)
    shape = {name: getattr(options, name) for name in ("rows", "columns", "classes", "rounds")}
    found = {"machine": machine(), **shape, "calibrate": options.calibrate} | found
    found |= {"file_bytes": n_bytes, "claim_bytes": MOST_BYTES}
    print(json.dumps(found, indent=2))
    if options.out is not None:
        options.out.write_text(json.dumps(found, indent=2) + "\n")
    return int(found["peak_bytes"] > MOST_BYTES)


def _make_files(folder: Path, options: argparse.Namespace) -> int:
    """Write clouds of points, a group of rows at a time; return the size of the files."""
    import pyarrow as pa  # noqa: PLC0415 - the child need not hold it twice
    import pyarrow.parquet as pq  # noqa: PLC0415

    rng = np.random.default_rng(0)
    centres = rng.normal(size=(options.classes, options.columns))
    writer = None
    for number, first in enumerate(range(0, options.rows, ROWS_A_GROUP)):
        n = min(ROWS_A_GROUP, options.rows - first)
        y = rng.integers(0, options.classes, n)
        columns = {
            f"x{c}": (rng.normal(size=n) + centres[y, c]).astype("f8" if c % 2 else "f4")
            for c in range(options.columns)
        }
        table = pa.table(columns | {"y": y.astype(np.int8)})
        if number % GROUPS_A_FILE == 0:
            if writer is not None:
                writer.close()
            path = folder / f"part-{number // GROUPS_A_FILE:04}.parquet"
            # Random numbers do not shrink.
            writer = pq.ParquetWriter(path, table.schema, compression="none", use_dictionary=False)
        writer.write_table(table)
    if writer is not None:
        writer.close()
    return sum(file.stat().st_size for file in folder.iterdir())


def _measure(options: argparse.Namespace) -> dict[str, object]:
    """Fit the files; return seconds per pass, and the peak of this process after each."""
    from marginboost import MarginBoostClassifier  # noqa: PLC0415
    from marginboost.backends import stored  # noqa: PLC0415

    passes = {}

    def timed(name, function):
        def run(*args, **named):
            began = perf_counter()
            found = function(*args, **named)
            passes[name] = {"seconds": perf_counter() - began, "peak_bytes": peak()}
            return found

        return run

    stored.read_labels = timed("labels", stored.read_labels)
    stored.bin_stored = timed("features", stored.bin_stored)
    model = MarginBoostClassifier(
        options.rounds, calibrate=options.calibrate, random_state=0, n_jobs=2, verbose=1
    )
    before, began = peak(), perf_counter()
    model.fit(options.measure, "y")
    whole = perf_counter() - began
    passes["rounds"] = {
        "seconds": whole - sum(one["seconds"] for one in passes.values()),
        "peak_bytes": peak(),
    }
    return {
        "passes": passes,
        "fit_seconds": whole,
        "bytes_before": before,
        "peak_bytes": peak(),
        "training_error": float(model.train_errors_[-1]),
    }


if __name__ == "__main__":
    sys.exit(main())
