"""Warnings that point to the user's line, however deep in the library they arise."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator
from types import FrameType

__all__ = ["warn_user"]

# Libraries that may call us on behalf of the user: scikit-learn wraps methods and calls them in pipelines
# and searches, the latter through joblib.
_LIBRARIES = ("sklearn", "joblib")
_OWN = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "")


def warn_user(message: str | Warning, category: type[Warning] = UserWarning) -> None:
    """Warn, and point to the nearest line outside of this library and those that call it.

    Parameters
    ----------
    message : str or Warning
        The message, or a warning, which has its own category.
    category : type of Warning
        As in `warnings.warn`.
    """
    # Python 3.12 has skip_file_prefixes for this; 3.11 does not.
    folders = (_OWN, *_folders())
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and _is_within(folders, frame):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def _folders() -> Iterator[str]:
    """Yield the folders of those libraries that are imported: no other can have called us."""
    for name in _LIBRARIES:
        file = getattr(sys.modules.get(name), "__file__", None)
        if file is not None:
            yield os.path.join(os.path.dirname(os.path.abspath(file)), "")


def _is_within(folders: tuple[str, ...], frame: FrameType) -> bool:
    return os.path.abspath(frame.f_code.co_filename).startswith(folders)
