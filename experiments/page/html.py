"""The page as one HTML file, in the style of the library's reports."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from markdown_it import MarkdownIt

from experiments.page import summary
from experiments.page.chapter import Chapter
from experiments.page.markdown import SIGNS, link
from experiments.page.section import (
    FAILS,
    HOLDS,
    IN_PART,
    UNTESTED,
    Judgement,
    Plot,
    Table,
    Verdict,
)
from experiments.page.shortfall import above_list, shortfalls
from experiments.page.words import ABOVE, NOT_RUN, CellWords, table_words
from marginboost.report.html import Html, tag
from marginboost.report.page import page

_KINDS: dict[Judgement, str] = {
    HOLDS: "holds",
    IN_PART: "part",
    FAILS: "fails",
    UNTESTED: "untested",
}
# HTML within Markdown is shown as text; links with odd schemes are not created.
_MARKDOWN = MarkdownIt("commonmark", {"html": False}).enable("table")


def html_page(chapters: Sequence[Chapter], out: Path, pictures: Mapping[str, bytes]) -> Html:
    """Return the whole page.

    Parameters
    ----------
    chapters : sequence of Chapter
        In the order of the page.
    out : Path
        Folder of the page.
    pictures : mapping of str to bytes
        The plots as PNG, by their names.
    """
    anchors = summary.anchors(chapters)
    style = (Path(__file__).parent / "style.css").read_text(encoding="utf-8")
    return page(
        summary.TITLE,
        tag(
            "header",
            tag("h1", summary.TITLE),
            _small() if summary.is_small(chapters) else Html(""),
            tag("p", summary.LEAD, class_="lead"),
        ),
        _contents(chapters, anchors),
        _all_verdicts(chapters, anchors),
        _again(),
        _provenance(chapters, anchors),
        *(_chapter(chapter, anchors[chapter.name], out, pictures) for chapter in chapters),
        more_style=style,
        script=False,
        images=True,
    )


def prose(text: str) -> Html:
    """Convert Markdown to HTML."""
    return Html(_MARKDOWN.render(text))


def line(text: str) -> Html:
    """Convert one line of Markdown to HTML."""
    return Html(_MARKDOWN.renderInline(" ".join(text.split())))


def _small() -> Html:
    return tag("div", prose(summary.SMALL), class_="small")


def _contents(chapters: Sequence[Chapter], anchors: Mapping[str, str]) -> Html:
    links = (_link(chapter, anchors) for chapter in chapters)
    return tag("nav", tag("ol", *(tag("li", found) for found in links)), aria_label="Contents")


def _link(chapter: Chapter, anchors: Mapping[str, str]) -> Html:
    return tag("a", chapter.section.title, href=f"#{anchors[chapter.name]}")


def _again() -> Html:
    before, commands, after = summary.AGAIN
    return tag(
        "section",
        tag("h2", "How to reproduce this page"),
        prose(before),
        tag("pre", tag("code", commands)),
        prose(after),
    )


def _all_verdicts(chapters: Sequence[Chapter], anchors: Mapping[str, str]) -> Html | None:
    found = summary.verdicts(chapters)
    if not found:
        return None
    rows = [[*_verdict(verdict), _link(chapter, anchors)] for chapter, verdict in found]
    columns = ("Claim", "Verdict", "Evidence", "See")
    return tag("section", tag("h2", "The paper's claims"), _plain_table(columns, rows, "claims"))


def _verdict(verdict: Verdict) -> list[Html]:
    kind, sign = _KINDS[verdict.judgement], SIGNS[verdict.judgement]
    pill = tag("span", f"{sign} {verdict.judgement}", class_=f"verdict {kind}")
    return [line(verdict.claim), pill, line(verdict.evidence)]


def _plain_table(columns: Sequence[str], rows: Sequence[Sequence[Any]], kind: str) -> Html:
    head = tag("thead", tag("tr", *(tag("th", column, scope="col") for column in columns)))
    body = tag("tbody", *(tag("tr", *(tag("td", cell) for cell in row)) for row in rows))
    return tag("div", tag("table", head, body, class_=kind), class_="wide")


def _provenance(chapters: Sequence[Chapter], anchors: Mapping[str, str]) -> Html:
    rows = [[_link(chapter, anchors), *cells] for chapter, cells in summary.runs(chapters)]
    odd, short = summary.oddities(chapters), shortfalls(chapters)
    return tag(
        "section",
        tag("h2", "What was run"),
        _plain_table(summary.RUN_COLUMNS, rows, "runs"),
        _list(summary.machines(chapters)),
        tag("p", above_list(chapters)) if short else Html(""),
        _list(short),
        tag("p", "Data that differ from the paper's, or are odd there:") if odd else Html(""),
        _list(odd),
    )


def _list(sentences: Sequence[str]) -> Html:
    if not sentences:
        return Html("")
    return tag("ul", *(tag("li", sentence) for sentence in sentences))


def _chapter(chapter: Chapter, anchor: str, out: Path, pictures: Mapping[str, bytes]) -> Html:
    section = chapter.section
    parts = [tag("h2", section.title, id=anchor), prose(section.protocol)]
    if chapter.missing:
        parts += [tag("p", "Not all trials could be run here:"), _list(list(chapter.missing))]
    parts += [table_html(table) for table in section.tables]
    parts += [_picture(plot, pictures[plot.name]) for plot in section.plots]
    if section.verdicts:
        rows = [_verdict(verdict) for verdict in section.verdicts]
        parts.append(_plain_table(("Claim", "Verdict", "Evidence"), rows, "claims"))
    parts += [prose(finding) for finding in section.findings]
    if chapter.source is not None:
        way = tag("a", chapter.source.name, href=link(chapter.source, out))
        parts.append(tag("p", "Every trial: ", way, class_="caption"))
    return tag("section", *parts)


def _picture(plot: Plot, picture: bytes) -> Html:
    inside = "data:image/png;base64," + base64.b64encode(picture).decode()
    image = tag("img", src=inside, alt=" ".join(plot.caption.split()))
    return tag("figure", image, tag("figcaption", line(plot.caption)), class_="picture shown")


def table_html(table: Table) -> Html:
    """Return a table with its caption above and its note below."""
    words = table_words(table)
    # A column with any number is numeric.
    numeric = [
        any(cells[place].numeric for _, cells in words.rows)
        for place in range(len(table.columns) - 1)
    ]
    kinds = [None, *(None if flag else "words" for flag in numeric)]
    headings = (
        tag("th", column, scope="col", class_=kind)
        for column, kind in zip(table.columns, kinds, strict=True)
    )
    rows = (
        tag("tr", tag("th", label, scope="row"), *map(_cell, cells, kinds[1:]))
        for label, cells in words.rows
    )
    body = tag("table", tag("thead", tag("tr", *headings)), tag("tbody", *rows), class_="numbers")
    return tag(
        "div",
        tag("p", line(table.caption), class_="caption-above"),
        tag("div", body, class_="wide", tabindex="0"),
        tag("p", words.note, class_="caption"),
        class_="shown",
    )


def _cell(words: CellWords, kind: str | None) -> Html:
    style = "best" if words.best else "none" if words.ours == NOT_RUN else None
    parts = [tag("span", words.ours, class_=style)]
    if words.mark:
        side = "above" if words.mark.startswith(ABOVE) else "below"
        title = f"{side} the paper's, by so many standard deviations of a repeat"
        parts.append(tag("abbr", f" {words.mark}", title=title, class_="differs"))
    if words.more:
        parts.append(tag("span", words.more, class_="quiet"))
    if words.paper:
        parts.append(tag("span", f"paper {words.paper}", class_="quiet"))
    return tag("td", *parts, class_=kind)
