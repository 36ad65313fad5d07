"""The functions that build HTML, which objects shown in notebooks use too."""

from marginboost.html import Html, escape, join, name, tag

__all__ = ["Html", "escape", "join", "name", "tag"]
