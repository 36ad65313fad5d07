"""Compare marginboost with other libraries: `python benchmarks/peers/run.py [--help]`.

The data sets are files in the folder that MARGINBOOST_DATA names. The other libraries are the extra
`bench`: `pip install 'marginboost[bench]'`. The exit status is 0 if every claim holds, 1 if one
does not, and 2 if something is missing.
"""

import argparse
import os
import signal
import sys
from pathlib import Path

import child
import plan
import sets
import table
from libraries import FIXED, LIBRARIES, OURS, fingerprint
from records import Records
from report import machine

MISSING = 2
OUT = Path(__file__).with_name("results")


def main() -> int:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("Ended."))  # and the child with it
    options = _options()
    if lacking := _lacking(options):
        print(lacking, file=sys.stderr)
        return MISSING
    waiting = os.environ.get("OMP_WAIT_POLICY", "unset")
    here = machine() | {"omp_wait_policy": waiting, "build": fingerprint()}
    print(f"{here['cpu']}, {here['cpus']} CPUs; load {here['load']}", flush=True)
    growth = not options.no_growth
    work = plan.items(options.sets, options.libraries, growth=growth, quick=options.quick)
    _measure_all(list(work), options, here)
    claims = table.write(options.out, options.docs or options.out)
    print()
    for claim in claims:
        print(claim)
    print(f"\nJSON in {options.out}, tables and plots in {options.docs or options.out}.")
    return 0 if all(claim.holds for claim in claims) else 1


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Compare marginboost with other libraries.")
    known = [*sets.SETS, *sets.BUNDLED]
    parser.add_argument("--sets", nargs="*", metavar="SET", help=f"none, or of {', '.join(known)}")
    parser.add_argument(
        "--libraries", nargs="+", metavar="LIBRARY", help=f"of {', '.join(LIBRARIES)}"
    )
    parser.add_argument(
        "--limit", type=float, default=300.0, help="seconds that a fit may take (300)"
    )
    parser.add_argument("--quick", action="store_true", help="small sets, one split, one fit each")
    parser.add_argument("--no-growth", action="store_true", help="leave out the made-up data")
    parser.add_argument(
        "--only-missing", action="store_true", help="keep the measurements in --out"
    )
    parser.add_argument("--out", type=Path, default=OUT, help="folder for JSON files")
    parser.add_argument("--docs", type=Path, help="folder for tables and plots; --out by default")
    options = parser.parse_args()
    if options.sets is None:
        options.sets = list(sets.QUICK if options.quick else sets.SETS)
    options.libraries = options.libraries or list(LIBRARIES)
    for given, names in ((options.sets, known), (options.libraries, LIBRARIES)):
        if unknown := set(given) - set(names):
            parser.error(f"choose of {', '.join(names)}; found {', '.join(sorted(unknown))}")
    return options


def _lacking(options) -> str | None:
    """Return a sentence on what is missing for a run, or None."""
    absent = [name for name in options.libraries if not LIBRARIES[name].is_installed()]
    if absent:
        return (
            f"The comparison needs {', '.join(absent)}: install the extra with "
            "pip install 'marginboost[bench]', or choose others with --libraries."
        )
    if files := sets.missing(options.sets):
        return (
            "MARGINBOOST_DATA must name a folder with the data sets as .npz files; "
            f"these were not found there: {', '.join(files)}."
        )
    return None


def _measure_all(items, options, here) -> None:
    beyond: set[tuple[str, ...]] = set()
    records = Records(options.out)
    for item in items:
        build = here["build"] if item.library in (OURS, FIXED) else None
        if options.only_missing and records.is_settled(*item.place, options.limit, build):
            found = records[item.place]["found"]
        else:
            if item.series in beyond:  # a part of it was too slow already
                found = {"status": "limit", "limit": options.limit, "assumed": True}
            else:
                found = child.measure(item.request, options.limit)
            record = {"request": item.request, "found": found, "machine": here | _now()}
            records.write(*item.place, record)
            print(_line(item, found), flush=True)
        if found["status"] == "limit":
            beyond.add(item.series)


def _now():
    fresh = machine()
    return {"time": fresh["time"], "load": fresh["load"]}


def _line(item, found) -> str:
    start = f"{item.folder:22}{item.name:9}{item.library:16}"
    if "fit_seconds" not in found:
        return start + table.status_words(found)
    line = f"{start}{found['fit_seconds']:9.3f} s {found['peak_bytes'] / 2**20:8.1f} MiB"
    if "error" in found:
        line += f"  error {100 * found['error']:6.2f} %  log loss {found['log_loss']:.4f}"
    if found["status"] == "ok" and found.get("row_microseconds"):
        line += (
            f"  {found['batch_microseconds']:8.2f} us per row, {found['row_microseconds']:.1f} one"
        )
    return line


if __name__ == "__main__":
    sys.exit(main())
