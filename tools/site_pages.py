"""Read the pages of a built site: their links, their anchors, and the text of their sections."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path

__all__ = ["Link", "Page", "read_site"]

VOID = frozenset(
    {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "wbr"}
)
UNSEEN = frozenset({"script", "style", "svg", "title"})


@dataclass
class Link:
    """A link, or another reference such as a picture's.

    Attributes
    ----------
    target : str
        What it refers to, as it is written.
    text : str
        What a reader sees; empty for pictures and the like.
    """

    target: str
    text: str = ""


@dataclass
class Page:
    """A page.

    Attributes
    ----------
    links : list of Link
        In the order of the page.
    anchors : set of str
        All that a link's fragment may name.
    sections : dict of str to str
        The text of each element that has an anchor, with that of the elements in it.
    """

    links: list[Link] = field(default_factory=list)
    anchors: set[str] = field(default_factory=set)
    sections: dict[str, str] = field(default_factory=dict)


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.page = Page()
        self._open: list[tuple[str, str | None, Link | None]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        anchor = given.get("id") or (given.get("name") if tag == "a" else None)
        if anchor:
            self.page.anchors.add(anchor)
            self.page.sections.setdefault(anchor, "")
        link = None
        target = given.get("href", given.get("src"))
        if target is not None:
            link = Link(target)
            self.page.links.append(link)
        if tag not in VOID:
            self._open.append((tag, anchor, link if tag == "a" else None))

    def handle_endtag(self, tag: str) -> None:
        # What an author forgot to close ends with what is around it.
        while any(name == tag for name, _, _ in self._open):
            if self._open.pop()[0] == tag:
                break

    def handle_data(self, data: str) -> None:
        if any(tag in UNSEEN for tag, _, _ in self._open):
            return
        for _, anchor, link in self._open:
            if anchor:
                self.page.sections[anchor] += data
            if link is not None:
                link.text += data


def read_page(text: str) -> Page:
    """Read a page."""
    reader = _Reader()
    reader.feed(text)
    reader.close()
    for link in reader.page.links:
        link.text = " ".join(link.text.split())
    return reader.page


def read_site(folder: Path) -> dict[str, Page]:
    """Read all pages below a folder, by their paths in it."""
    return {
        path.relative_to(folder).as_posix(): read_page(path.read_text("utf-8"))
        for path in sorted(folder.rglob("*.html"))
    }
