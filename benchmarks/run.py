"""Run the benchmarks: `python benchmarks/run.py [names] [--quick] [--out FOLDER]`."""

import argparse
import sys
from importlib import import_module
from pathlib import Path
from time import perf_counter

from report import machine

NAMES = (
    "histogram",
    "steps",
    "overhead",
    "scaling",
    "memory",
    "peer",
    "exact",
    "methods",
    "coefficients",
    "serving",
)


def main() -> int:
    parser = argparse.ArgumentParser(description="Measure speed and memory, and check the claims.")
    parser.add_argument("names", nargs="*", metavar="name", help=f"of {', '.join(NAMES)}; or all")
    parser.add_argument("--quick", action="store_true", help="fewer repeats, smaller problems")
    parser.add_argument("--out", type=Path, default=Path("out/bench"), help="folder for JSON files")
    options = parser.parse_args()
    if unknown := set(options.names) - set(NAMES):
        parser.error(f"no benchmark named {', '.join(sorted(unknown))}")
    here = machine()
    print(f"{here['cpu']}, {here['cpus']} CPUs, {here['kernels']}; load {here['load']}")
    failed = []
    for name in options.names or NAMES:
        start = perf_counter()
        report = import_module(name).run(options.quick)
        report.show()
        report.write(options.out / f"{name}.json", perf_counter() - start, options.quick)
        failed += [claim for claim in report.claims if not claim.holds]
    print(f"\nJSON in {options.out}. {len(failed)} claims failed.")
    for claim in failed:
        print(claim)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
