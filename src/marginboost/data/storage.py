"""Where arrays as long as the data are stored: on the host, or on a device."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

__all__ = ["HOST", "HostStorage", "Storage"]


class Storage(Protocol):
    """An array module, and copies between the host and its arrays.

    Attributes
    ----------
    xp : module
        The array module, with NumPy's interface.
    """

    xp: Any

    @property
    def hash_rows(self) -> Callable[..., Any] | None:
        """Hashes rows by dense bins, offsets of classes and `HashTables`; None if `xp` does it."""
        ...

    @property
    def rows_below(self) -> Callable[..., Any] | None:
        """Finds the rows whose hash is below the bound of their class; None if `xp` does it."""
        ...

    @property
    def has_repeats(self) -> Callable[[Any], bool] | None:
        """Returns whether a sorted array holds a hash twice; None if `xp` does it."""
        ...

    def put(self, array: NDArray[Any]) -> Any:
        """Return an array of the host as one of `xp`."""
        ...

    def fetch(self, array: Any) -> NDArray[Any]:
        """Return an array of `xp` as one of the host."""
        ...


class HostStorage:
    """NumPy's arrays; nothing is copied."""

    xp: Any = np
    hash_rows: Any = None
    rows_below: Any = None
    has_repeats: Any = None
    put: Any = staticmethod(np.asarray)
    fetch: Any = staticmethod(np.asarray)


HOST = HostStorage()
