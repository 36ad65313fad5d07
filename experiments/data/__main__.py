"""Print which data sets are here: `python -m experiments.data [--load] [NAME ...]`."""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence

from experiments.data import NAMES, library, load, load_scenes, scene_shelf
from experiments.data.errors import MissingData, WrongData
from experiments.data.scenes import COUNT

SCENES = "scenes"
FETCHABLE = "not here; can be fetched"
DOUBLED_ROWS = {"vowel-1452": 1452}


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a table of the sets; return 1 if one could not be loaded."""
    parser = argparse.ArgumentParser(prog="python -m experiments.data", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="sets; all of them by default")
    parser.add_argument(
        "--load", action="store_true", help="load each set, and fetch it if it is not here"
    )
    chosen = parser.parse_args(arguments)
    failures = []
    print(f"{'set':<12}{'rows':>7}{'features':>10}{'classes':>9}  where")
    for name in chosen.names or (*NAMES, SCENES):
        where = ""
        if chosen.load:
            begin = time.perf_counter()
            try:
                load_scenes() if name == SCENES else load(name)
            except (MissingData, WrongData) as error:
                failures.append(str(error))
            else:
                where = f", loaded in {time.perf_counter() - begin:.2f} s"
        print(_line(name) + where)
    for failure in failures:
        print(f"\n{failure}")
    return 1 if failures else 0


def _line(name: str) -> str:
    if name == SCENES:
        facts, where = (COUNT, "images", 15), scene_shelf().find() or FETCHABLE
    else:
        sets = library()
        entry = sets.entry(name)
        facts = (DOUBLED_ROWS.get(name, entry.rows), str(entry.features), entry.classes)
        where = sets.find(name) or (
            FETCHABLE if entry.sources else "not here, and cannot be fetched"
        )
    return f"{name:<12}{facts[0]:>7}{facts[1]:>10}{facts[2]:>9}  {where}"


if __name__ == "__main__":
    raise SystemExit(main())
