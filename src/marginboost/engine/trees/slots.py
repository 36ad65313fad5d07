"""The positions of the classes in the direction that a search of vector-leaf trees sees."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Slots:
    """Tiles of lanes, each with classes in all lanes but two.

    A search sees one tile, the sum of all. If there are more classes than lanes, some classes share a
    lane. The last two lanes hold a row's mass and its count.

    Parameters
    ----------
    n_classes : int
        Number of classes.

    Attributes
    ----------
    lanes : int
        Lanes of a tile.
    tiles : int
        Tiles that hold all classes.
    stored : int
        Floats of a row in the engines' memory on the host.
    shares_lanes : bool
        Whether some classes share a lane.
    """

    n_classes: int
    lanes: int = field(init=False)
    tiles: int = field(init=False)
    stored: int = field(init=False)
    shares_lanes: bool = field(init=False)

    def __post_init__(self) -> None:
        lanes = 8 if self.n_classes <= 7 else 16
        tiles = -(-self.n_classes // (lanes - 2))
        object.__setattr__(self, "lanes", lanes)
        object.__setattr__(self, "tiles", tiles)
        stored = -(-self.n_classes // 4) * 4 if tiles == 1 else lanes * tiles
        if tiles == 2 and self.n_classes <= lanes:
            stored = lanes  # the spare lanes hold the rest
        object.__setattr__(self, "stored", stored)
        object.__setattr__(self, "shares_lanes", tiles > 1)

    def lane_of_class(self) -> NDArray[np.int64]:
        """Return the lane of each class."""
        return np.arange(self.n_classes) % (self.lanes - 2)
