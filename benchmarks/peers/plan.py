"""The plan: the measurements, their order and their names.

Libraries take turns within a split, so that other load on the machine affects all alike.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import sets
from libraries import FIXED

# Time against one quantity while the others stay: (rows, features, classes).
AXES = {
    "classes": [(20_000, 20, k) for k in (10, 30, 100, 300, 1000)],
    "rows": [(rows, 20, 10) for rows in (5_000, 20_000, 80_000, 320_000)],
    "features": [(20_000, features, 10) for features in (20, 80, 320)],
}
PLACE = {"rows": 0, "features": 1, "classes": 2}
GROWTH_ROUNDS = 10


@dataclass(frozen=True)
class Item:
    """One measurement."""

    folder: str  # the set, or the axis
    name: str  # the split, or the place on the axis
    library: str
    request: dict
    series: tuple[str, ...]  # once one of a series exceeds the limit, the later ones would too

    @property
    def place(self) -> tuple[str, str]:
        """Return the library and the name of the record."""
        return self.library, f"{self.folder}/{self.name}"


def items(names: list[str], libraries: list[str], *, growth: bool, quick: bool) -> Iterator[Item]:
    for name in names:
        yield from of_set(name, libraries, quick)
    for axis in AXES if growth else ():
        yield from of_axis(axis, libraries, quick)


def of_set(name: str, libraries: list[str], quick: bool) -> Iterator[Item]:
    for split in range(1 if quick else sets.splits_of(name)):
        for library in libraries:
            request = {"library": library, "set": name, "split": split, "quick": quick}
            yield Item(f"sets/{name}", f"split{split}", library, request, (name, library))


def of_axis(axis: str, libraries: list[str], quick: bool) -> Iterator[Item]:
    for rows, features, classes in AXES[axis]:
        if quick and (rows * features > 1_600_000 or classes > 100):
            continue
        at = (rows, features, classes)[PLACE[axis]]
        for library in libraries:
            if library == FIXED:  # with a number of rounds it is the same as ours
                continue
            request = {
                "library": library,
                "rows": rows,
                "features": features,
                "classes": classes,
                "rounds": GROWTH_ROUNDS,
                "quick": quick,
            }
            yield Item(f"growth/{axis}", f"{at:07d}", library, request, (axis, library))
