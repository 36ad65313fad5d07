"""Which rows of each data set the experiments draw."""

from __future__ import annotations

from typing import NamedTuple

from experiments.conditions import rows_drawn
from experiments.draws import Split, draw


class Protocol(NamedTuple):
    """How rows are drawn.

    Attributes
    ----------
    per_class : int or None
        At most this many rows per class; None for all.
    largest : int or None
        Only this many classes, those with the most rows.
    """

    per_class: int | None = None
    largest: int | None = None


# Of Table V. The paper does not say how many rows it drew; the standard deviations of its errors do, by
# the binomial law, and `experiments.depth` tries several.
PROTOCOLS = {
    "dna": Protocol(),
    "svmguide2": Protocol(),
    "wine": Protocol(),
    "vehicle": Protocol(),
    "glass": Protocol(),
    "satimage": Protocol(),
    "svmguide4": Protocol(),
    "segment": Protocol(),
    "usps": Protocol(150),
    "pendigits": Protocol(100),
    "vowel": Protocol(),
    "vowel-1452": Protocol(),
    "news20": Protocol(50),
    "letter": Protocol(50),
    "isolet": Protocol(100),
    # Of Table IV only.
    "iris": Protocol(50),
    "reuters52": Protocol(50, largest=38),
    "leaves100": Protocol(50),
}


def rows_of(data: str, per_class: int | None = None) -> str:
    """Return the rule by which `drawn` draws the rows of a set, in words."""
    protocol = PROTOCOLS.get(data, Protocol())
    return rows_drawn(
        protocol.per_class if per_class is None else per_class, largest=protocol.largest
    )


def drawn(data: str, repeat: int, per_class: int | None = None) -> Split:
    """Draw rows of a set by its protocol, with `per_class` instead of the protocol's if given."""
    protocol = PROTOCOLS.get(data, Protocol())
    return draw(
        data,
        repeat,
        protocol.per_class if per_class is None else per_class,
        largest=protocol.largest,
    )
