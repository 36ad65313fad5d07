"""The beginning of the page: the verdicts, what was run on which machine, and replaced data sets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from experiments.page.chapter import Chapter
from experiments.page.section import Verdict
from experiments.page.words import slug
from experiments.paper import ODDITIES

TITLE = "The paper's experiments, reproduced"
LEAD = (
    "Every table and figure of the paper, computed with this library, beside the paper's numbers."
)
SMALL = (
    "**This is the small version**, which `make reproduce` computes within half an hour on two cores. "
    "Some experiments have fewer rounds, rows, sets or methods than the paper's, and each has few "
    "repeats: its numbers and verdicts show that everything runs, not what holds. The full version "
    "is `docs/results.md` in the repository."
)
MARKED = (
    "▲ and ▼ mark numbers that differ from the paper's by more than chance. ‡ marks what the paper "
    "leaves open and we fitted to its numbers: the features of scenes, the word weights of news20, and "
    "150 rows per class of usps in Table V. Agreement there is no evidence; alternatives are on the "
    "pages. Methods are compared on common draws, whose number each verdict gives. Draws share rows, so "
    "all tests are approximate."
)
AGAIN = (
    "In a checkout, with `pip install '.[experiments]'`:",
    "make reproduce                                        # all of it, small\n"
    "python -m experiments                                 # lists the experiments\n"
    "python -m experiments table1 --repeats 50             # one of them in full\n"
    "python -m experiments choices --repeats 5             # the regularisation that others read\n"
    "python -m experiments all --repeats 50 --only-missing # whatever is not in experiments/results\n"
    "python -m experiments --keep out/reproduce            # add the new records to those\n"
    "python -m experiments --page-from experiments/results --docs docs",
    "`make reproduce` took 24 minutes from a clean clone, its virtual environment included, and 1,096 "
    "seconds of the processor, on two cores that had other work (`benchmarks/reproduce.py`). The full "
    "run was made over several days on two machines, one of them with a GPU, which gives the same "
    "models. Both are listed with the time of their fits, and every record holds its own commit. Data "
    "sets are read from the folder that `MARGINBOOST_DATA` names, or fetched into a cache. Run the same "
    "command again to resume an interrupted run. The tests compute every number of these pages again "
    "from the kept records.",
)


def is_small(chapters: Sequence[Chapter]) -> bool:
    """Return whether the page shows small versions of the experiments."""
    return any(chapter.small for chapter in chapters)


def verdicts(chapters: Sequence[Chapter]) -> list[tuple[Chapter, Verdict]]:
    """Return all verdicts, each with its chapter."""
    return [(chapter, verdict) for chapter in chapters for verdict in chapter.section.verdicts]


def anchors(chapters: Sequence[Chapter]) -> dict[str, str]:
    """Return the anchor of each chapter, by its name; the second of two equal ones gets a number."""
    seen: dict[str, int] = {}
    found = {}
    for chapter in chapters:
        anchor = slug(chapter.section.title)
        again = seen.get(anchor, 0)
        seen[anchor] = again + 1
        found[chapter.name] = f"{anchor}-{again}" if again else anchor
    return found


def runs(chapters: Sequence[Chapter]) -> Iterator[tuple[Chapter, list[str]]]:
    """Yield for each chapter: repeats, the paper's, trials, commits, dates, versions."""
    for chapter in chapters:
        dates = [str(date) for date in chapter.origins("date")]
        yield (
            chapter,
            [
                _span(*chapter.repeats),
                f"{chapter.paper_repeats:,}",
                f"{len(chapter.records):,}",
                dates[0] if len(dates) == 1 else f"{dates[0]} to {dates[-1]}",
                ", ".join(map(str, chapter.origins("commit"))),
            ],
        )


def _span(least: int, most: int) -> str:
    return f"{least:,}" if least == most else f"{least:,} to {most:,}"


RUN_COLUMNS = ("Experiment", "Repeats", "In the paper", "Trials", "Dates", "Commits")


# How the conditions of a record are known.
_SETTINGS = {
    "recorded": "recorded with every trial",
    "inferred": "not recorded, inferred from the code of the commit",
}


def _told(origin: Mapping[str, Any]) -> str:
    return str(origin.get("conditions", "recorded"))


def machines(chapters: Sequence[Chapter]) -> list[str]:
    """Return a sentence for each machine and set of versions."""
    told: dict[str, list[str]] = {}
    hours: dict[str, float] = {}
    for chapter in chapters:
        for record in chapter.records:
            origin = record.origin
            line = (
                f"{origin.get('cpu', 'unknown')}, {_cores(origin.get('cpus', '?'))}; "
                f"marginboost {origin.get('version', '?')}, Python {origin.get('python', '?')}, "
                f"NumPy {origin.get('numpy', '?')}, scikit-learn {origin.get('scikit-learn', '?')}; "
                f"trials at a time: {origin.get('jobs', '?')}; "
                f"fits on: {origin.get('device', 'cpu')}; settings {_SETTINGS[_told(origin)]}"
            )
            names = told.setdefault(line, [])
            hours[line] = hours.get(line, 0.0) + record.measures.get("fit_seconds", 0.0) / 3600
            if chapter.name not in names:
                names.append(chapter.name)
    return [
        f"{line} ({', '.join(names)}); fits of {_long(hours[line])} in all"
        for line, names in told.items()
    ]


def _cores(number: object) -> str:
    return "1 core" if number == 1 else f"{number} cores"


def _long(hours: float) -> str:
    if hours >= 1:
        return f"{hours:.1f} hours"
    minutes = max(1, round(60 * hours))
    return "1 minute" if minutes == 1 else f"{minutes} minutes"


def oddities(chapters: Sequence[Chapter]) -> list[str]:
    """Return a sentence for each data set that differs from the paper's."""
    used = dict.fromkeys(name for chapter in chapters for name in chapter.data)
    return [f"{name}: {ODDITIES[name]}" for name in used if name in ODDITIES]
