"""Where Python runs: in a notebook, in an interactive session, or in a program."""

from __future__ import annotations

import sys
from typing import Any

__all__ = ["ipython_shell", "is_interactive", "is_notebook"]


def ipython_shell() -> Any:
    """Return the running IPython shell, or None; IPython is never imported for this."""
    loaded = sys.modules.get("IPython")
    get_shell = getattr(loaded, "get_ipython", None)
    return None if get_shell is None else get_shell()


def is_notebook() -> bool:
    """Check whether a Jupyter kernel runs this, so that HTML can be shown."""
    return getattr(ipython_shell(), "kernel", None) is not None


def is_interactive() -> bool:
    """Check whether somebody types the commands: in a notebook, in IPython or in Python's own shell."""
    return ipython_shell() is not None or hasattr(sys, "ps1")
