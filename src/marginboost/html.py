"""Functions that build HTML; everything that is not yet HTML is escaped."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable
from typing import Any

__all__ = ["Html", "escape", "join", "name", "tag"]

_VOID = frozenset({"br", "img", "input", "meta"})
# Characters that no HTML document may contain; labels of a data set can.
_NOT_TEXT = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")
_LONGEST_NAME = 60


class Html(str):
    """Text that is already HTML."""

    __slots__ = ()


def escape(text: Any) -> Html:
    """Convert anything to HTML; HTML stays as it is."""
    if isinstance(text, Html):
        return text
    return Html(html.escape(_NOT_TEXT.sub("\N{REPLACEMENT CHARACTER}", str(text))))


def join(parts: Iterable[Any], between: str = "") -> Html:
    """Concatenate parts."""
    return Html(escape(between).join(escape(part) for part in parts))


def tag(kind: str, *children: Any, **attributes: Any) -> Html:
    """Make an element.

    Parameters
    ----------
    kind : str
        The name of the element.
    *children : object
        Its content; escaped unless it is HTML.
    **attributes : object
        An underscore at the end of a name is dropped; any other becomes a hyphen. None and False leave
        out an attribute; True gives an attribute without a value.

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
    """Show a label or the name of a column: shortened if long, and isolated from the text around it."""
    whole = str(text)
    if len(whole) <= _LONGEST_NAME:
        return tag("bdi", whole or "(empty)")
    return tag("bdi", whole[: _LONGEST_NAME - 1] + "…", title=whole[:500])
