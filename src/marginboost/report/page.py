"""One page of HTML that asks nobody for anything."""

from __future__ import annotations

import base64
import hashlib
from importlib.resources import files

from marginboost.report.html import Html, join, tag

__all__ = ["page"]


def page(title: str, *sections: Html | None) -> Html:
    """Put a page together.

    Its policy lets it use its own style and script, known by their hashes, and nothing else: no other
    script can run, whatever the text of the page holds, and nothing is fetched from anywhere.

    Parameters
    ----------
    title : str
        Of the page.
    *sections : Html or None
        What it shows.

    Returns
    -------
    Html
    """
    here = files("marginboost.report")
    style = (here / "style.css").read_text(encoding="utf-8")
    script = (here / "script.js").read_text(encoding="utf-8")
    policy = (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=policy),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("title", title),
        tag("style", Html(style)),
    )
    body = tag(
        "body",
        *(section for section in sections if section is not None),
        tag("script", Html(script)),
    )
    return join([Html("<!doctype html>\n"), tag("html", head, body, lang="en"), "\n"])


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
