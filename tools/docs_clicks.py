"""Walk the built documentation from its landing page to the answers of five questions.

A person knows a page by the text of the link to it: the last link must say what is looked for, and the
section where it ends must contain the answer. The shortest way is printed.

Usage: ``python tools/docs_clicks.py out/docs``; part of ``make docs-links``.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Iterable
from pathlib import Path
from posixpath import normpath
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

sys.path.insert(0, str(Path(__file__).parent))

from site_pages import Page, read_site

MOST_CLICKS = 3
START = "index.html"


class Task(NamedTuple):
    """Something to find.

    Attributes
    ----------
    goal : str
        In the words of a person who looks for it.
    words : tuple of str
        The text of the last link must contain one of them.
    answers : tuple of str
        What the section must contain, all of it.
    """

    goal: str
    words: tuple[str, ...]
    answers: tuple[str, ...]


TASKS = (
    Task("handle missing values", ("missing",), ("NaN", "need no imputation", ".fit(")),
    Task("stop early", ("early", "stop"), ("early_stopping=True", "n_iter_no_change")),
    Task("explain one prediction", ("explain", "explanation"), ("model.explain(", "top=1")),
    Task(
        "load a model in a server",
        ("server", "serving"),
        ("marginboost.load(", ".compile()", "FastAPI"),
    ),
    Task("move from LightGBM", ("lightgbm",), ("LGBMClassifier", "num_leaves", "max_leaf_nodes")),
)


def find(site: dict[str, Page], task: Task, most: int = MOST_CLICKS) -> list[str] | None:
    """Return the texts of the links to click for a task, or None where it takes more than `most`."""
    ways: deque[tuple[str, list[str]]] = deque([(START, [])])
    seen = {START}
    while ways:
        name, clicks = ways.popleft()
        if len(clicks) == most:
            continue
        for link in site[name].links:
            parts = urlsplit(link.target)
            if parts.scheme or parts.netloc or not link.text:
                continue
            where = name
            if parts.path:
                where = normpath((Path(name).parent / unquote(parts.path)).as_posix())
            if where not in site:
                continue
            way = [*clicks, link.text]
            if _answers(site[where], unquote(parts.fragment), link.text, task):
                return way
            if where not in seen:
                seen.add(where)
                ways.append((where, way))
    return None


def _answers(page: Page, anchor: str, text: str, task: Task) -> bool:
    """Check whether a link says what is looked for, and leads to it."""
    if not any(word in text.lower() for word in task.words):
        return False
    sections: Iterable[str] = [page.sections.get(anchor, "")] if anchor else page.sections.values()
    return any(all(answer in section for answer in task.answers) for section in sections)


def main(arguments: list[str] | None = None) -> None:
    """Print the clicks of each task, and exit with 1 if one takes too many."""
    given = sys.argv[1:] if arguments is None else arguments
    site = read_site(Path(given[0] if given else "out/docs"))
    if START not in site:
        sys.exit(
            "The folder must hold the built site; it has no index.html. Run `make docs` first."
        )
    lost = 0
    for task in TASKS:
        way = find(site, task)
        lost += way is None
        print(f"{task.goal}: {' > '.join(way) if way else f'not within {MOST_CLICKS} clicks'}")
    if lost:
        sys.exit(1)


if __name__ == "__main__":
    main()
