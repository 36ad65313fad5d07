"""The command line: `python -m benchmarks.unfamiliar run|report|halves|sets [--help]`.

The study sets are files in the folder that MARGINBOOST_DATA names, the fresh ones are in the wheels
in the folder that MARGINBOOST_PACKAGES names (see packages.py), and the other libraries are the
extra `bench`.
"""

import argparse
import signal
import sys
from pathlib import Path

from benchmarks.unfamiliar import catalogue, contest, packages, problems, results
from benchmarks.unfamiliar.libraries import LIBRARIES, OURS, PEERS, variant


def main(arguments: list[str] | None = None) -> int:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("Ended."))  # and the children with it
    options = _options(arguments)
    return options.do(options)


def _options(arguments):
    parser = argparse.ArgumentParser(prog="python -m benchmarks.unfamiliar", description=__doc__)
    parts = parser.add_subparsers(required=True)
    run = parts.add_parser("run", help="measure libraries on sets")
    run.set_defaults(do=_run)
    run.add_argument("--groups", nargs="+", default=catalogue.GROUPS, choices=catalogue.GROUPS)
    run.add_argument("--sets", nargs="+", metavar="SET", help="instead of groups")
    run.add_argument("--libraries", nargs="*", metavar="LIBRARY", choices=LIBRARIES)
    run.add_argument(
        "--ours", nargs="+", default=[], metavar="NAME[=JSON]", help="marginboost with settings"
    )
    run.add_argument("--limit", type=float, default=120.0, help="seconds of two threads per fit")
    run.add_argument("--jobs", type=int, default=1, help="libraries at a time")
    run.add_argument("--threads", type=int, default=2, help="threads of each")
    run.add_argument("--only-missing", action="store_true", help="keep what was measured")
    run.add_argument("--alone", action="store_true", help="nothing else runs: seconds count")
    for name, do, words in (
        ("report", _report, "write the page and the picture, check the claims"),
        ("halves", _halves, "choose a rule on half of the sets, report on the other half"),
    ):
        part = parts.add_parser(name, help=words)
        part.set_defaults(do=do)
        part.add_argument("--peers", nargs="+", choices=PEERS, help="default: all with results")
    parts.choices["report"].add_argument("--docs", type=Path, default=Path("docs"))
    parts.choices["report"].add_argument("--ours", default=OURS, help="the variant that is claimed")
    parts.choices["halves"].add_argument("--rules", nargs="+", required=True, metavar="LIBRARY")
    parts.choices["halves"].add_argument("--groups", nargs="+", default=["study"])
    parts.choices["halves"].add_argument("--times", type=int, default=20)
    for part in ("run", "report", "halves"):
        parts.choices[part].add_argument("--out", type=Path, default=results.FOLDER)
    parts.add_parser("sets", help="list the sets").set_defaults(do=_sets)
    return parser.parse_args(arguments)


def _run(options) -> int:
    names = options.sets or [n for group in options.groups for n in catalogue.of_group(group)]
    for name in names:
        catalogue.group_of(name)  # raises if it is none
    if any(catalogue.group_of(name) == "fresh" for name in names) and packages.missing():
        print(f"MARGINBOOST_PACKAGES must name a folder with {', '.join(packages.missing())}.")
        return 2
    chosen = options.libraries
    if chosen is None:
        chosen = [] if options.ours else list(LIBRARIES)
    libraries = [LIBRARIES[name] for name in chosen] + [variant(text) for text in options.ours]
    plan = contest.Plan(
        libraries,
        names,
        options.out,
        options.limit,
        options.jobs,
        options.threads,
        options.only_missing,
        options.alone,
    )
    contest.hold(plan, lambda line: print(line, flush=True))
    return 0


def _sets(options) -> int:
    shapes: dict[tuple, str] = {}
    for group in catalogue.GROUPS:
        for name in catalogue.of_group(group):
            problem = problems.load(name)
            shape = problem.shape()
            key = (shape["rows"], shape["classes"])
            same = f"  as many rows and classes as {shapes[key]}" if key in shapes else ""
            shapes.setdefault(key, name)
            words = "  ".join(f"{shape[what]:>6}" for what in shape)
            print(f"{group:9}{name:20}{words}  {problem.folds} folds  {problem.digest()}{same}")
    return 0


def _report(options) -> int:
    from benchmarks.unfamiliar import page  # noqa: PLC0415 (needs matplotlib)

    claims = page.write(options.out, options.docs, options.ours, options.peers)
    for claim in claims:
        print(claim)
    return 0 if all(claim.holds for claim in claims) else 1


def _halves(options) -> int:
    from benchmarks.unfamiliar import halves  # noqa: PLC0415

    print(
        halves.text(
            halves.cross(
                options.out, options.rules, tuple(options.groups), options.times, options.peers
            )
        )
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
