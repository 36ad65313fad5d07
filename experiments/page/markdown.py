"""The page as Markdown that reads well on a code host."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from experiments.page import headline, summary
from experiments.page.chapter import Chapter
from experiments.page.section import FAILS, HOLDS, IN_PART, UNTESTED, Judgement, Plot, Table
from experiments.page.shortfall import above_list, rule, shortfalls
from experiments.page.words import CellWords, table_words

# A judgement is visible at a glance, and without colours.
RUNS = "runs"
BACK = "[All results](../results.md)"
SIGNS: dict[Judgement, str] = {HOLDS: "✔", IN_PART: "◐", FAILS: "✘", UNTESTED: "?"}


def markdown_page(chapters: Sequence[Chapter], out: Path, plots: str) -> str:
    """Return the whole page.

    Parameters
    ----------
    chapters : sequence of Chapter
        In the order of the page.
    out : Path
        Folder of the page.
    plots : str
        Folder of the plots in it.
    """
    anchors = summary.anchors(chapters)
    parts = [
        f"# {summary.TITLE}",
        *([summary.SMALL] if summary.is_small(chapters) else []),
        summary.LEAD,
        *_verdicts(chapters, anchors),
        "## How to reproduce this page",
        summary.AGAIN[0],
        f"```sh\n{summary.AGAIN[1]}\n```",
        summary.AGAIN[2],
        *_provenance(chapters, {name: f"#{anchor}" for name, anchor in anchors.items()}),
    ]
    for chapter in chapters:
        parts += _chapter(chapter, out, plots)
    return "\n\n".join(parts) + "\n"


def summary_page(chapters: Sequence[Chapter], plots: str, picture: Plot) -> str:
    """Return the short page that leads to one page per chapter.

    Parameters
    ----------
    chapters : sequence of Chapter
        In the order of the page.
    plots : str
        Folder of the plots and of the chapters' pages, below that of the page.
    picture : Plot
        The one figure.
    """
    ways = {chapter.name: f"{plots}/{chapter.name}.md" for chapter in chapters}
    rows = [
        [
            _in_cell(verdict.claim),
            f"{SIGNS[verdict.judgement]} {verdict.judgement}",
            f"[{plain(_short(chapter.section.title))}]({ways[chapter.name]})",
        ]
        for chapter, verdict in summary.verdicts(chapters)
    ]
    parts = [
        f"# {summary.TITLE}",
        summary.LEAD,
        headline.counts(chapters),
        _picture(picture, plots),
        "## What we found",
        "\n".join(f"- {prose(line)}" for line in headline.found(chapters)),
        "## What is marked",
        summary.MARKED,
        "## The claims",
        grid(["Claim", "Verdict", "Evidence"], rows),
        "## All numbers",
        "\n".join(
            [
                *(f"- [{plain(c.section.title)}]({ways[c.name]})" for c in chapters),
                f"- [What was run, when and where]({plots}/{RUNS}.md)",
            ]
        ),
        "## How to reproduce this page",
        summary.AGAIN[0],
        f"```sh\n{summary.AGAIN[1]}\n```",
        f"Times and machines: [what was run]({plots}/{RUNS}.md). {rule(chapters)}",
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def chapter_page(chapter: Chapter, out: Path) -> str:
    """Return the page of one chapter, in the folder of the plots."""
    first, *rest = _chapter(chapter, out, "")
    return "\n\n".join([first[1:], BACK, *rest]) + "\n"


def runs_page(chapters: Sequence[Chapter]) -> str:
    """Return the page of what was run."""
    ways = {chapter.name: f"{chapter.name}.md" for chapter in chapters}
    first, *rest = _provenance(chapters, ways)
    return "\n\n".join([first[1:], BACK, summary.AGAIN[2], *rest]) + "\n"


def _short(title: str) -> str:
    return title.split(":", maxsplit=1)[0]


def plain(text: str) -> str:
    """Escape plain text for Markdown."""
    return re.sub(r"([\\`*_\[\]<>|~]|&(?=#?\w+;))", r"\\\1", _one_line(text))


def prose(text: str) -> str:
    """Keep Markdown, but escape HTML."""
    # Between backticks nothing is HTML, and a backslash would be visible.
    parts = re.split(r"(`+[^`]*`+)", text)
    return "".join(
        part if place % 2 else re.sub(r"<(?=[A-Za-z/!?])", r"\\<", part)
        for place, part in enumerate(parts)
    )


def _in_cell(text: str) -> str:
    """Format a line of prose for a cell of a table."""
    return re.sub(r"(?<!\\)\|", r"\\|", _one_line(prose(text)))


def _one_line(text: str) -> str:
    return " ".join(text.split())


def grid(columns: Sequence[str], rows: Iterable[Sequence[str]], align: str = "") -> str:
    """Return a table of cells that are already Markdown.

    Parameters
    ----------
    columns : sequence of str
        Headings.
    rows : iterable of sequences of str
        Cells.
    align : str
        A letter for each column, "l" or "r"; all left if empty.
    """
    letters = align or "l" * len(columns)
    line = "|" + "".join("---:|" if letter == "r" else "---|" for letter in letters)
    return "\n".join([_row(columns), line, *map(_row, rows)])


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def table_markdown(table: Table) -> str:
    """Return a table with its caption above and its note below."""
    words = table_words(table)
    rows = [[plain(label), *map(_cell, cells)] for label, cells in words.rows]
    columns = [plain(column) for column in table.columns]
    numeric = [
        any(cells[place].numeric for _, cells in words.rows) for place in range(len(columns) - 1)
    ]
    align = "l" + "".join("r" if flag else "l" for flag in numeric)
    body = grid(columns, rows, align)
    return f"**{_one_line(prose(table.caption))}**\n\n{body}\n\n<sub>{words.note}</sub>"


def _cell(words: CellWords) -> str:
    ours = plain(words.ours)
    if words.best:
        ours = f"**{ours}**"
    if words.mark:
        ours += f" {words.mark}"
    below = [plain(words.more)] if words.more else []
    if words.paper:
        below.append(f"paper {words.paper}")
    return ours + (f"<br><sub>{'; '.join(below)}</sub>" if below else "")


def _verdicts(chapters: Sequence[Chapter], anchors: dict[str, str]) -> list[str]:
    found = summary.verdicts(chapters)
    if not found:
        return []
    rows = [
        [
            _in_cell(verdict.claim),
            f"{SIGNS[verdict.judgement]} **{verdict.judgement}**",
            _in_cell(verdict.evidence),
            f"[{plain(chapter.section.title)}](#{anchors[chapter.name]})",
        ]
        for chapter, verdict in found
    ]
    return ["## The paper's claims", grid(["Claim", "Verdict", "Evidence", "See"], rows)]


def _provenance(chapters: Sequence[Chapter], ways: Mapping[str, str]) -> list[str]:
    rows = [
        [f"[{plain(chapter.section.title)}]({ways[chapter.name]})", *map(plain, cells)]
        for chapter, cells in summary.runs(chapters)
    ]
    parts = ["## What was run", grid(summary.RUN_COLUMNS, rows, "lrrrll")]
    parts.append("\n".join(f"- {plain(line)}" for line in summary.machines(chapters)))
    if short := shortfalls(chapters):
        parts += [above_list(chapters), "\n".join(f"- {plain(line)}" for line in short)]
    odd = summary.oddities(chapters)
    if odd:
        parts.append("Data that differ from the paper's, or are odd there:")
        parts.append("\n".join(f"- {plain(line)}" for line in odd))
    return parts


def _chapter(chapter: Chapter, out: Path, plots: str) -> list[str]:
    section = chapter.section
    parts = [f"## {plain(section.title)}", prose(section.protocol.strip())]
    if chapter.missing:
        parts.append("Not all trials could be run here:")
        parts.append("\n".join(f"- {plain(reason)}" for reason in chapter.missing))
    parts += [table_markdown(table) for table in section.tables]
    parts += [_picture(plot, plots) for plot in section.plots]
    if section.verdicts:
        rows = [
            [
                _in_cell(verdict.claim),
                f"{SIGNS[verdict.judgement]} **{verdict.judgement}**",
                _in_cell(verdict.evidence),
            ]
            for verdict in section.verdicts
        ]
        parts.append(grid(["Claim", "Verdict", "Evidence"], rows))
    parts += [prose(finding.strip()) for finding in section.findings]
    if chapter.source is not None:
        parts.append(
            f"<sub>Every trial: [{chapter.source.name}]({link(chapter.source, out)})</sub>"
        )
    return [part for part in parts if part]


def _picture(plot: Plot, plots: str) -> str:
    caption = _one_line(prose(plot.caption))
    way = f"{plots}/{plot.name}.png" if plots else f"{plot.name}.png"
    return f"![{plain(plot.caption)}]({way})\n\n<sub>{caption}</sub>"


def link(path: Path, out: Path) -> str:
    """Return the path from the page to a file."""
    try:
        return Path(os.path.relpath(path, out)).as_posix()
    except ValueError:  # another drive
        return path.absolute().as_posix()
