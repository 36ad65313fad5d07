"""Check the links of the built documentation, and of the Markdown files that code hosts show.

Files, and anchors in them, must exist. Nothing is fetched: links to other sites are listed with
``--external``, for whoever is on line.

Usage: ``python tools/docs_links.py out/docs``, or ``make docs-links``.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from posixpath import normpath
from urllib.parse import unquote, urlsplit

sys.path.insert(0, str(Path(__file__).parent))

from site_pages import Page, read_site

ROOT = Path(__file__).parents[1]

FENCED = re.compile(r"^(```|~~~).*?^\1", re.DOTALL | re.MULTILINE)
COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
CODE = re.compile(r"`[^`\n]*`")
MARKDOWN_LINK = re.compile(r"\]\(([^()\s]+(?:\([^()\s]*\)[^()\s]*)*)\)")
HEADING = re.compile(r"^#{1,6} +(.+?) *#*$", re.MULTILINE)
GENERATED = ("api/", "gallery/")  # what the build writes below docs/


def external_links(site: dict[str, Page]) -> dict[str, list[str]]:
    """Return the links to other sites, each with the pages that have it."""
    found: dict[str, set[str]] = defaultdict(set)
    for name, page in site.items():
        for link in page.links:
            if urlsplit(link.target).scheme in ("http", "https"):
                found[link.target].add(name)
    return {target: sorted(pages) for target, pages in sorted(found.items())}


def broken_links(folder: Path, site: dict[str, Page]) -> Iterator[str]:
    """Yield a sentence for each link that leads nowhere within the site."""
    for name, page in site.items():
        for target in dict.fromkeys(link.target for link in page.links):
            parts = urlsplit(target)
            if parts.scheme or parts.netloc:
                continue
            where = name
            if parts.path:
                where = normpath((Path(name).parent / unquote(parts.path)).as_posix())
                if not (folder / where).is_file():
                    yield f"{name}: {target} must name a file of the site; there is none."
                    continue
            anchor = unquote(parts.fragment)
            if anchor and where in site and anchor not in site[where].anchors:
                yield f"{name}: {target} must name an anchor; {where} has no {anchor!r}."


def broken_markdown(root: Path) -> Iterator[str]:
    """Yield a sentence for each link of the Markdown files that leads nowhere in the repository."""
    pages = [*sorted(root.glob("*.md")), *sorted((root / "docs").glob("*.md"))]
    for page in pages:
        for target in dict.fromkeys(MARKDOWN_LINK.findall(_prose(page.read_text("utf-8")))):
            parts = urlsplit(target)
            if parts.scheme or parts.netloc:
                continue
            where = (page.parent / unquote(parts.path)) if parts.path else page
            short = page.relative_to(root).as_posix()
            if not where.exists():
                if page.parent != root and parts.path.startswith(GENERATED):
                    continue
                yield f"{short}: {target} must name a file of the repository; there is none."
                continue
            if not parts.fragment or where.suffix != ".md":
                continue
            if unquote(parts.fragment) not in heading_anchors(where.read_text("utf-8")):
                yield f"{short}: {target} must name a heading; there is none of that name."


def heading_anchors(markdown: str) -> set[str]:
    """Return the anchors that code hosts make of a page's headings."""
    found: dict[str, int] = {}
    anchors = set()
    for heading in HEADING.findall(COMMENT.sub("", FENCED.sub("", markdown))):
        plain = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).replace("`", "")
        slug = re.sub(r"[^\w\- ]", "", plain.lower()).replace(" ", "-")
        times = found[slug] = found.get(slug, -1) + 1
        anchors.add(f"{slug}-{times}" if times else slug)
    return anchors


def _prose(markdown: str) -> str:
    return CODE.sub("", COMMENT.sub("", FENCED.sub("", markdown)))


def main(arguments: list[str] | None = None) -> None:
    """Check the links, and exit with 1 if one is broken."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("folder", type=Path, help="the built site")
    parser.add_argument("--external", action="store_true", help="list links to other sites")
    options = parser.parse_args(arguments)
    site = read_site(options.folder)
    if not site:
        sys.exit(
            f"{options.folder} must hold the built site; it has no pages. Run `make docs` first."
        )
    broken = [*broken_links(options.folder, site), *broken_markdown(ROOT)]
    outside = external_links(site)
    if options.external:
        for target, pages in outside.items():
            print(f"{target}  ({', '.join(pages[:3])}{', ...' if len(pages) > 3 else ''})")
    print(*broken, sep="\n", end="\n" if broken else "")
    n_links = sum(len(page.links) for page in site.values())
    print(
        f"{len(site)} pages, {n_links:,} links, {len(broken)} of them broken; "
        f"{len(outside)} other addresses, not fetched"
    )
    if broken:
        sys.exit(1)


if __name__ == "__main__":
    main()
