"""Write the page: results.md and results.html, with the plots in results/ beside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from experiments.page import headline
from experiments.page.chapter import Chapter
from experiments.page.html import html_page
from experiments.page.markdown import RUNS, chapter_page, markdown_page, runs_page, summary_page
from experiments.page.plots import png
from marginboost.model.file import write_bytes

PAGE = "results"
PLOTS = PAGE


def write_page(chapters: Sequence[Chapter], out: Path) -> Path:
    """Write the page into a folder.

    Parameters
    ----------
    chapters : sequence of Chapter
        In the order of the page.
    out : Path
        The folder, created if necessary. Existing files are replaced.

    Returns
    -------
    Path
        The Markdown page.
    """
    pictures = _pictures(chapters)
    page = _write(chapters, out, pictures)
    write_bytes(out / f"{PAGE}.html", html_page(chapters, out, pictures).encode())
    return page


def write_markdown(chapters: Sequence[Chapter], out: Path) -> Path:
    """Write the documentation's pages: a short one, and one per chapter in a folder beside it."""
    texts, pictures = markdown_files(chapters, out)
    (out / PLOTS).mkdir(parents=True, exist_ok=True)
    for path in (out / PLOTS).iterdir():  # none is left from an earlier page
        if path.suffix in (".md", ".png"):
            path.unlink()
    for name, picture in pictures.items():
        write_bytes(out / PLOTS / f"{name}.png", picture)
    for name, text in texts.items():
        write_bytes(out / name, text.encode())
    return out / f"{PAGE}.md"


def markdown_files(
    chapters: Sequence[Chapter], out: Path, *, draw: bool = True
) -> tuple[dict[str, str], dict[str, bytes]]:
    """Return the documentation's pages by their paths, and the plots by their names.

    Parameters
    ----------
    chapters : sequence of Chapter
        In the order of the page.
    out : Path
        Folder of the documentation.
    draw : bool, default=True
        Whether to draw the plots, which takes long.
    """
    picture = headline.picture(chapters)
    texts = {f"{PAGE}.md": summary_page(chapters, PLOTS, picture)}
    for chapter in chapters:
        texts[f"{PLOTS}/{chapter.name}.md"] = chapter_page(chapter, out / PLOTS)
    texts[f"{PLOTS}/{RUNS}.md"] = runs_page(chapters)
    if not draw:
        return texts, {}
    return texts, _pictures(chapters) | {picture.name: png(picture)}


def _pictures(chapters: Sequence[Chapter]) -> dict[str, bytes]:
    """Draw all plots."""
    plots = [plot for chapter in chapters for plot in chapter.section.plots]
    pictures = {plot.name: png(plot) for plot in plots}
    if len(pictures) < len(plots):
        names = [plot.name for plot in plots]
        raise ValueError(f"Each plot must have a name of its own; got {names}.")
    return pictures


def _write(chapters: Sequence[Chapter], out: Path, pictures: Mapping[str, bytes]) -> Path:
    out.mkdir(parents=True, exist_ok=True)
    if pictures:
        (out / PLOTS).mkdir(exist_ok=True)
    for name, picture in pictures.items():
        write_bytes(out / PLOTS / f"{name}.png", picture)
    page = out / f"{PAGE}.md"
    write_bytes(page, markdown_page(chapters, out, PLOTS).encode())
    return page
