"""One page of HTML that needs no other file and no network."""

from __future__ import annotations

import base64
import hashlib
from importlib.resources import files

from marginboost.report.html import Html, join, tag

__all__ = ["page"]


def page(
    title: str,
    *sections: Html | None,
    more_style: str = "",
    script: bool = True,
    images: bool = False,
) -> Html:
    """Build a page.

    Its security policy allows only its own style and script, identified by their hashes. No other
    script can run, whatever the text of the page contains, and nothing is fetched.

    Parameters
    ----------
    title : str
        The title of the page.
    *sections : Html or None
        Its content.
    more_style : str, default=""
        Style sheet to append to the common one.
    script : bool, default=True
        Whether to include the script that sorts and filters tables.
    images : bool, default=False
        Whether to allow images; they must be embedded in the page.

    Returns
    -------
    Html
    """
    here = files("marginboost.report")
    style = (here / "style.css").read_text(encoding="utf-8") + more_style
    code = (here / "script.js").read_text(encoding="utf-8") if script else ""
    policy = [
        "default-src 'none'",
        f"style-src '{_hash(style)}'",
        f"script-src '{_hash(code)}'" if script else None,
        "img-src data:" if images else None,
        "base-uri 'none'",
        "form-action 'none'",
    ]
    allowed = "; ".join(part for part in policy if part is not None)
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=allowed),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("title", title),
        tag("style", Html(style)),
    )
    body = tag(
        "body",
        *(section for section in sections if section is not None),
        tag("script", Html(code)) if script else Html(""),
    )
    return join([Html("<!doctype html>\n"), tag("html", head, body, lang="en"), "\n"])


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
