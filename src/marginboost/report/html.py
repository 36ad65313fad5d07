"""HTML by functions: whatever is not HTML yet is escaped on its way in."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable
from typing import Any

__all__ = ["Html", "join", "name", "tag"]

_VOID = frozenset({"br", "img", "input", "meta"})
# No character of a document, whatever the labels of a data set hold.
_NOT_TEXT = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")
_LONGEST_NAME = 60


class Html(str):
    """Text that is HTML already."""

    __slots__ = ()


def escape(text: Any) -> Html:
    """Make HTML of anything; what is HTML stays as it is."""
    if isinstance(text, Html):
        return text
    return Html(html.escape(_NOT_TEXT.sub("\N{REPLACEMENT CHARACTER}", str(text))))


def join(parts: Iterable[Any], between: str = "") -> Html:
    """Put parts one after the other."""
    return Html(escape(between).join(escape(part) for part in parts))


def tag(kind: str, *children: Any, **attributes: Any) -> Html:
    """Make an element.

    Parameters
    ----------
    kind : str
        Of the element.
    *children : object
        What it holds; escaped unless it is HTML.
    **attributes : object
        In a name an underscore at the end is dropped, any other is a hyphen. None and False leave an
        attribute out, True is an attribute without a value.

    Returns
    -------
    Html
    """
    parts = [kind]
    for key, value in attributes.items():
        shown = key.rstrip("_").replace("_", "-")
        if value is True:
            parts.append(shown)
        elif value is not None and value is not False:
            parts.append(f'{shown}="{escape(value)}"')
    head = f"<{' '.join(parts)}>"
    return Html(head if kind in _VOID else f"{head}{join(children)}</{kind}>")


def name(text: Any) -> Html:
    """Show a label or the name of a column: cut where it is long, and apart from the text around it."""
    whole = str(text)
    if len(whole) <= _LONGEST_NAME:
        return tag("bdi", whole or "(empty)")
    return tag("bdi", whole[: _LONGEST_NAME - 1] + "…", title=whole[:500])
